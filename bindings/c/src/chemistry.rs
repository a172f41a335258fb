//! Gas-phase chemistry: a handle of a mechanism, and calls on cells of the host.

use std::ffi::c_char;

use ndarray::{ArrayViewMut2, ShapeBuilder};
use nwp_mini::embedded::chemistry::{CellChemistry, HostCells};
use nwp_mini::error::{Error, Result};

use crate::call::{call, refused};
use crate::texts::{Texts, from_caller};

/// Description of the mechanism of a handle; texts live as long as the handle.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ChemistryAbout {
    /// Its name.
    pub name: *const c_char,
    /// Names of the species: those that reactions change, then the fixed ones.
    pub species: *const *const c_char,
    /// Number of all species.
    pub species_count: usize,
    /// Number of species that reactions change.
    pub variable_count: usize,
    /// Number of reactions.
    pub reaction_count: usize,
    /// Names of the photolysis frequencies.
    pub photolysis: *const *const c_char,
    /// Number of photolysis frequencies.
    pub photolysis_count: usize,
    /// Names of the quantities that rates use beside temperature and air.
    pub quantities: *const *const c_char,
    /// Number of these quantities.
    pub quantity_count: usize,
}

/// Cells of a host, in double precision.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    /// Number of cells.
    pub count: usize,
    /// Concentrations in molecules cm-3; those of the species that reactions change are replaced.
    pub species: *mut f64,
    /// Elements from species to species.
    pub stride_species: usize,
    /// Elements from cell to cell.
    pub stride_cell: usize,
    /// Temperature of the cells, K.
    pub temperature: *const f64,
    /// Number density of air, molecules cm-3.
    pub air_density: *const f64,
    /// Hydrolysis of N2O5, s-1; NULL if no rate depends on it.
    pub hydrolysis: *const f64,
    /// Local solar time at the start, s; NULL if no rate depends on it.
    pub solar_time: *const f64,
    /// Photolysis frequencies, s-1, those of a cell side by side; NULL if there are none.
    pub photolysis: *const f64,
    /// Quantities that rates use, those of a cell side by side; NULL if there are none.
    pub quantities: *const f64,
}

/// A mechanism with the settings of its integration. Threads share it.
#[derive(Debug)]
pub struct Chemistry {
    chemistry: CellChemistry,
    about: ChemistryAbout,
    _names: [Vec<*const c_char>; 3],
    _texts: Texts,
}

impl Chemistry {
    fn new(chemistry: CellChemistry) -> Self {
        let mut texts = Texts::default();
        let species: Vec<_> = chemistry.species().map(|name| texts.keep(name)).collect();
        let photolysis: Vec<_> = chemistry.photolysis().map(|name| texts.keep(name)).collect();
        let quantities: Vec<_> = chemistry.quantities().map(|name| texts.keep(name)).collect();
        let about = ChemistryAbout {
            name: texts.keep(chemistry.name()),
            species: species.as_ptr(),
            species_count: species.len(),
            variable_count: chemistry.variable(),
            reaction_count: chemistry.reactions(),
            photolysis: photolysis.as_ptr(),
            photolysis_count: photolysis.len(),
            quantities: quantities.as_ptr(),
            quantity_count: quantities.len(),
        };
        Self { chemistry, about, _names: [species, photolysis, quantities], _texts: texts }
    }
}

/// Reads a mechanism of KPP and makes its tables, from a text of options, as "mechanism=radm2.kpp,method=rodas3": mechanism
/// (a file), rate-functions (a file with code for its rates), method, rtol, atol, hstart, rates (frozen or updated) and
/// threads (1 without it: the calling thread).
///
/// @param options the text; names and values as in the program
/// @param handle gets the handle; NULL after a failure
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_chemistry_create(
    options: *const c_char,
    handle: *mut *mut Chemistry,
) -> i32 {
    call(|| {
        if handle.is_null() {
            return Err(refused("handle is NULL; a place for it is needed"));
        }
        // SAFETY: a place of the caller's.
        unsafe { handle.write(std::ptr::null_mut()) };
        // SAFETY: a text of C, as the header asks for.
        let options = unsafe { from_caller(options, "options") }?;
        let made = Box::new(Chemistry::new(options.parse()?));
        // SAFETY: as above.
        unsafe { handle.write(Box::into_raw(made)) };
        Ok(())
    })
}

/// Ends a handle; NULL is ignored. No other thread may use it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_chemistry_destroy(handle: *mut Chemistry) {
    call(|| {
        if !handle.is_null() {
            // SAFETY: the handle was made by `nwp_mini_chemistry_create`, and is ended once.
            drop(unsafe { Box::from_raw(handle) });
        }
        Ok(())
    });
}

/// Describes the mechanism of a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_chemistry_describe(
    handle: *const Chemistry,
    about: *mut ChemistryAbout,
) -> i32 {
    call(|| {
        // SAFETY: a handle of the caller's.
        let handle = unsafe { shared(handle) }?;
        if about.is_null() {
            return Err(refused("about is NULL; a place for the description is needed"));
        }
        // SAFETY: a place of the caller's.
        unsafe { about.write(handle.about) };
        Ok(())
    })
}

/// Number of the species of this name, from 0 in the order of the description; upper and lower case do not matter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_chemistry_species(
    handle: *const Chemistry,
    name: *const c_char,
    number: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: a handle and a text of the caller's.
        let (handle, name) = unsafe { (shared(handle)?, from_caller(name, "name")?) };
        if number.is_null() {
            return Err(refused("number is NULL; a place for it is needed"));
        }
        let found = handle.chemistry.species().position(|known| known.eq_ignore_ascii_case(name));
        let found = found.ok_or_else(|| {
            refused(format!("no species {name} reacts in {}", handle.chemistry.name()))
        })?;
        // SAFETY: a place of the caller's.
        unsafe { number.write(found) };
        Ok(())
    })
}

/// Integrates cells over dt seconds. A cell that fails keeps its concentrations; the status is 5 then, and the text says
/// how many failed, and why the first.
///
/// @param dt length of the call, s
/// @param outcomes gets 1 for every cell that was integrated, or a negative number; NULL if nobody wants it
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_chemistry_step(
    handle: *const Chemistry,
    cells: *const Cells,
    dt: f64,
    outcomes: *mut i32,
) -> i32 {
    call(|| {
        // SAFETY: a handle and cells of the caller's.
        let handle = unsafe { shared(handle) }?;
        // SAFETY: as above.
        let mut cells = unsafe { of_host(handle, cells) }?;
        let found = handle.chemistry.step(dt, &mut cells)?;
        if !outcomes.is_null() {
            for (cell, outcome) in found.iter().enumerate() {
                // SAFETY: the caller's array has a place for every cell.
                unsafe { outcomes.add(cell).write(outcome.status.0) };
            }
        }
        let failed = found.iter().filter(|outcome| !outcome.status.is_success()).count();
        match found.iter().position(|outcome| !outcome.status.is_success()) {
            None => Ok(()),
            Some(first) => Err(Error::Unsolved(format!(
                "{failed} of {} cells failed and keep their concentrations; the first is {first}: {}",
                found.len(),
                found[first].status.reason()
            ))),
        }
    })
}

/// Rate constants of all reactions in the units of molecules, cm3 and s, those of a cell side by side. Concentrations are
/// not used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nwp_mini_chemistry_rates(
    handle: *const Chemistry,
    cells: *const Cells,
    rates: *mut f64,
) -> i32 {
    call(|| {
        // SAFETY: a handle and cells of the caller's.
        let handle = unsafe { shared(handle) }?;
        // SAFETY: as above.
        let cells = unsafe { of_host(handle, cells) }?;
        if rates.is_null() {
            return Err(refused("rates is NULL; a place for the rate constants is needed"));
        }
        let found = handle.chemistry.rates(&cells)?;
        // SAFETY: the caller's array has a place for every reaction of every cell.
        unsafe { rates.copy_from_nonoverlapping(found.as_ptr(), found.len()) };
        Ok(())
    })
}

/// # Safety
///
/// The handle was made by `nwp_mini_chemistry_create`, and lives as long as the result.
unsafe fn shared<'a>(handle: *const Chemistry) -> Result<&'a Chemistry> {
    // SAFETY: promised by the caller.
    unsafe { handle.as_ref() }.ok_or_else(|| refused("handle is NULL; make one"))
}

/// # Safety
///
/// Cells or NULL; all arrays stay as long as the result, and have a place for every cell.
unsafe fn of_host<'a>(handle: &Chemistry, cells: *const Cells) -> Result<HostCells<'a>> {
    // SAFETY: promised by the caller.
    let cells = unsafe { cells.as_ref() };
    let cells = cells.ok_or_else(|| refused("cells is NULL; numbers and arrays are needed"))?;
    let ChemistryAbout { species_count, photolysis_count, quantity_count, .. } = handle.about;
    let Cells { count, species, stride_species, stride_cell, .. } = *cells;
    let is_by_species = stride_cell >= 1 && stride_species / stride_cell.max(1) >= count;
    let is_by_cell = stride_species >= 1 && stride_cell / stride_species.max(1) >= species_count;
    if count > 1 && !is_by_species && !is_by_cell {
        return Err(refused(format!(
            "stride_species is {stride_species} and stride_cell {stride_cell}; {species_count} species of {count} \
             cells would share memory"
        )));
    }
    if species.is_null() && count > 0 {
        return Err(refused("species is NULL; concentrations are needed"));
    }
    let array = |values: *const f64, each: usize| -> &'a [f64] {
        if values.is_null() || each * count == 0 {
            return &[];
        }
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts(values, each * count) }
    };
    let place = if count == 0 { std::ptr::NonNull::dangling().as_ptr() } else { species };
    let strides = (species_count, count).strides((stride_species.max(1), stride_cell.max(1)));
    Ok(HostCells {
        // SAFETY: promised by the caller; species and cells are different elements.
        species: unsafe { ArrayViewMut2::from_shape_ptr(strides, place) },
        temperature: array(cells.temperature, 1),
        air_density: array(cells.air_density, 1),
        hydrolysis: array(cells.hydrolysis, 1),
        start: array(cells.solar_time, 1),
        photolysis: array(cells.photolysis, photolysis_count),
        quantities: array(cells.quantities, quantity_count),
    })
}
