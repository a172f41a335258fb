//! The prognostic fields of a run, the planes at the ground, and the checkpoint that a run continues from.

mod diagnostics;
#[cfg(feature = "gpu")]
pub mod gpu;
mod part;
pub mod surface;

use std::sync::Arc;

use ndarray::{Array, Array2, Array3, Dimension};

use crate::grid::Shape;
use crate::real::Real;

use crate::constituents::{Constituent, Constituents, known};
pub use diagnostics::CloudDiagnostics;
pub use surface::Surface;

/// The transported fields: one for each constituent of a set, in its order. Shape of each: (nz, ny, nx), i fastest.
///
/// Each field is an array of its own, so that a step can swap it for its new values.
#[derive(Clone, Debug)]
pub struct State<R> {
    set: Arc<Constituents>,
    fields: Vec<Array3<R>>,
}

/// Indices of the two fields of every state.
const THETA: usize = 0;
const VAPOUR: usize = 1;

impl<R> State<R> {
    /// Fields of the constituents of a set, in its order.
    ///
    /// # Panics
    ///
    /// When the number of fields is not that of constituents, or their shapes differ.
    pub fn new(set: Arc<Constituents>, fields: Vec<Array3<R>>) -> Self {
        assert_eq!(fields.len(), set.len(), "a field for each constituent");
        assert!(fields.iter().all(|field| field.dim() == fields[0].dim()), "fields of one shape");
        Self { set, fields }
    }

    /// Potential temperature less 300 K (WRF `T`), K.
    pub fn theta(&self) -> &Array3<R> {
        &self.fields[THETA]
    }

    /// The same for writing.
    pub fn theta_mut(&mut self) -> &mut Array3<R> {
        &mut self.fields[THETA]
    }

    /// Water vapour mixing ratio (WRF `QVAPOR`), kg per kg of dry air.
    pub fn qv(&self) -> &Array3<R> {
        &self.fields[VAPOUR]
    }

    /// The same for writing.
    pub fn qv_mut(&mut self) -> &mut Array3<R> {
        &mut self.fields[VAPOUR]
    }

    /// The field of a name or variable name.
    pub fn get(&self, name: &str) -> Option<&Array3<R>> {
        self.set.position(name).map(|at| &self.fields[at])
    }

    /// The same of a set that has it.
    ///
    /// # Panics
    ///
    /// When it has not.
    pub fn named(&self, name: &str) -> &Array3<R> {
        self.get(name).unwrap_or_else(|| panic!("no {name} among the constituents"))
    }

    /// The same for writing.
    ///
    /// # Panics
    ///
    /// As [`State::named`].
    pub fn named_mut(&mut self, name: &str) -> &mut Array3<R> {
        let at = self.set.position(name);
        &mut self.fields[at.unwrap_or_else(|| panic!("no {name} among the constituents"))]
    }

    /// The constituents of the fields.
    pub fn set(&self) -> &Arc<Constituents> {
        &self.set
    }

    /// The fields, in the order of the set.
    pub fn fields(&self) -> &[Array3<R>] {
        &self.fields
    }

    /// The fields for writing, in the order of the set.
    pub fn fields_mut(&mut self) -> &mut [Array3<R>] {
        &mut self.fields
    }

    /// The fields of the scheme.
    pub fn of_scheme(&self) -> &[Array3<R>] {
        &self.fields[..self.set.carried()]
    }

    /// The fields of the scheme for writing.
    pub fn of_scheme_mut(&mut self) -> &mut [Array3<R>] {
        let carried = self.set.carried();
        &mut self.fields[..carried]
    }

    /// The species of water.
    pub fn water(&self) -> &[Array3<R>] {
        &self.fields[self.set.water()]
    }

    /// The fields of passive tracers and of chemistry.
    pub fn passive(&self) -> &[Array3<R>] {
        &self.fields[self.set.carried()..]
    }

    /// The constituents with their fields.
    pub fn tracers(&self) -> impl Iterator<Item = (&Constituent, &Array3<R>)> {
        self.set.iter().zip(&self.fields)
    }

    /// A state with a function applied to each field.
    pub fn map<S>(&self, make: impl FnMut(&Array3<R>) -> Array3<S>) -> State<S> {
        State::new(Arc::clone(&self.set), self.fields.iter().map(make).collect())
    }

    /// A state with a function applied to each field, which is consumed.
    pub fn into_map<S>(self, make: impl FnMut(Array3<R>) -> Array3<S>) -> State<S> {
        State::new(self.set, self.fields.into_iter().map(make).collect())
    }

    /// The same fields with further tracers: those of `passive` follow.
    ///
    /// # Panics
    ///
    /// When the set does not fit.
    #[must_use]
    pub fn followed_by(mut self, set: Arc<Constituents>, passive: Vec<Array3<R>>) -> Self {
        self.fields.extend(passive);
        Self::new(set, self.fields)
    }
}

impl<R: Real> State<R> {
    /// The fields of a set, all zero.
    pub fn zeros(set: &Arc<Constituents>, shape: Shape) -> Self {
        let fields = set.iter().map(|_| Array3::zeros(shape.centre())).collect();
        Self::new(Arc::clone(set), fields)
    }

    /// The fields of another set by their names; zero where this one lacks them.
    #[must_use]
    pub fn of_set(&self, set: &Arc<Constituents>) -> Self {
        let field = |one: &Constituent| {
            let own = self.get(one.name).cloned();
            own.unwrap_or_else(|| Array3::zeros(self.theta().dim()))
        };
        Self::new(Arc::clone(set), set.iter().map(field).collect())
    }

    /// The same in double precision, with exact values.
    pub fn widened(&self) -> State<f64> {
        self.map(|field| field.map(|x| x.f64()))
    }
}

/// The values of a field, which is in standard layout, in the order of memory.
pub(crate) fn memory<R, D: Dimension>(field: &Array<R, D>) -> &[R] {
    field.as_slice().expect("fields are in standard layout")
}

/// Air that the microphysics reads. Shape of each: (nz, ny, nx).
#[derive(Clone, Debug)]
pub struct Environment<R> {
    /// Density of dry air (WRF `den`), kg m⁻³.
    pub rho: Array3<R>,
    /// Exner function (WRF `pii`), 1.
    pub exner: Array3<R>,
    /// Pressure (WRF `P + PB`), Pa.
    pub p: Array3<R>,
    /// Depth of the layers (WRF `delz`), m.
    pub dz: Array3<R>,
    /// Vertical wind in the middle of the layers, m s⁻¹, if the scheme reads it.
    pub w: Option<Array3<R>>,
}

impl<R> Environment<R> {
    /// Names of the fields in files of columns, in their order.
    pub const NAMES: [&'static str; 5] = ["den", "pii", "p", "delz", known::VERTICAL_WIND];

    /// The fields, in their order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &Array3<R>> {
        let Self { rho, exner, p, dz, w } = self;
        [rho, exner, p, dz].into_iter().chain(w)
    }

    /// The fields for writing, in their order.
    pub(crate) fn fields_mut(&mut self) -> impl Iterator<Item = &mut Array3<R>> {
        let Self { rho, exner, p, dz, w } = self;
        [rho, exner, p, dz].into_iter().chain(w)
    }

    /// The field of a name in files of columns.
    pub fn get(&self, name: &str) -> Option<&Array3<R>> {
        Self::NAMES.into_iter().zip(self.fields()).find(|(own, _)| *own == name).map(|(_, x)| x)
    }

    /// Air with a function applied to each field.
    pub(crate) fn map<S>(&self, mut make: impl FnMut(&Array3<R>) -> Array3<S>) -> Environment<S> {
        let [rho, exner, p, dz] = [&self.rho, &self.exner, &self.p, &self.dz].map(&mut make);
        Environment { rho, exner, p, dz, w: self.w.as_ref().map(make) }
    }
}

/// Changes of the water inside the specified and open rows, kg.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaterChange {
    /// Precipitation that has reached the ground.
    pub fallen: f64,
    /// Net inflow through the sides.
    pub sides: f64,
    /// Water that sedimentation has created.
    pub fallout_residual: f64,
    /// Water that clipping at zero has added.
    pub clipped: f64,
    /// Mass mismatch: water that the microphysics has created by moving it between layers whose rho dz is not their dry
    /// mass.
    pub mass_mismatch: f64,
}

impl WaterChange {
    /// Adds the changes of a step.
    pub fn add(&mut self, change: &Self) {
        self.fallen += change.fallen;
        self.sides += change.sides;
        self.fallout_residual += change.fallout_residual;
        self.clipped += change.clipped;
        self.mass_mismatch += change.mass_mismatch;
    }
}

/// Changes of a passive tracer inside the specified and open rows since the start, kg of dry air times its units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TracerChange {
    /// Net inflow through the sides.
    pub sides: f64,
    /// Lost by decay, a negative number.
    pub decayed: f64,
    /// Change by chemical reactions.
    pub reacted: f64,
    /// Added by clipping at zero around the chemistry.
    pub clipped: f64,
}

/// Counters of the chemistry of a run since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChemistryTally {
    /// Time since the last call, s.
    pub waited: f64,
    /// Calls for all cells.
    pub calls: u64,
    /// Cells of all calls.
    pub cells: u64,
    /// Steps of all cells, including rejected ones.
    pub steps: u64,
    /// Most steps of a cell in a call.
    pub most: u64,
    /// Cells that failed and kept their values.
    pub failed: u64,
    /// Error code of the first of them, and its position `[i, j, k]`.
    pub first_failed: (i32, [usize; 3]),
}

impl ChemistryTally {
    /// Number of counters.
    pub const NUMBERS: usize = 10;

    /// All counters as numbers, for files.
    pub fn numbers(&self) -> [f64; Self::NUMBERS] {
        let Self { waited, calls, cells, steps, most, failed, first_failed: (code, [i, j, k]) } =
            *self;
        let [calls, cells, steps, most, failed] =
            [calls, cells, steps, most, failed].map(|count| count as f64);
        let [i, j, k] = [i, j, k].map(|place| place as f64);
        [waited, calls, cells, steps, most, failed, f64::from(code), i, j, k]
    }

    /// The counters from such numbers.
    pub fn of_numbers(numbers: [f64; Self::NUMBERS]) -> Self {
        let [waited, calls, cells, steps, most, failed, code, i, j, k] = numbers;
        let [calls, cells, steps, most, failed] =
            [calls, cells, steps, most, failed].map(|count| count as u64);
        let place = [i, j, k].map(|place| place as usize);
        Self { waited, calls, cells, steps, most, failed, first_failed: (code as i32, place) }
    }
}

/// Accumulated results since the start of a run.
#[derive(Clone, Debug)]
pub struct Accumulators<R> {
    /// Precipitation.
    pub surface: Surface<R>,
    /// Changes of the water inside the specified and open rows.
    pub changes: WaterChange,
    /// Changes of the passive tracers, in the order of the set.
    pub passive: Vec<TracerChange>,
    /// Counters of the chemistry.
    pub chemistry: ChemistryTally,
    /// First steps of the chemistry's next call in the cells that have chemistry, s, by level, row and column; empty
    /// if they are the same in every call, and before the first one.
    pub first_steps: Vec<f64>,
    /// Partial sums of these changes, kg, if a backend has more than one for each: it continues with them to get the
    /// same bits. Another backend uses the changes.
    pub parts: Vec<f64>,
}

impl<R> Accumulators<R> {
    /// First of the parts where they are numbers that make the exact sums of the CPU.
    pub(crate) const EXACT: f64 = f64::MAX;
}

impl<R: Real> Accumulators<R> {
    /// The same in double precision, with exact values.
    pub fn widened(&self) -> Accumulators<f64> {
        let Self { changes, passive, chemistry, first_steps, parts, .. } = self.clone();
        let surface = self.surface.map(|plane| plane.map(|x| x.f64()));
        Accumulators { surface, changes, passive, chemistry, first_steps, parts }
    }
}

/// Checkpoint of a run between two steps, from which it continues as if it had not been stopped.
#[derive(Clone, Debug)]
pub struct Checkpoint<R> {
    /// Transported fields.
    pub state: State<R>,
    /// Accumulated results.
    pub gathered: Accumulators<R>,
}

/// Values of one tracer along the outermost rows, in its units, used at inflow.
#[derive(Clone, Debug)]
pub struct BoundaryValues<R> {
    /// At i = 0. Shape: (nz, ny).
    pub west: Array2<R>,
    /// At i = nx - 1. Shape: (nz, ny).
    pub east: Array2<R>,
    /// At j = 0. Shape: (nz, nx).
    pub south: Array2<R>,
    /// At j = ny - 1. Shape: (nz, nx).
    pub north: Array2<R>,
}

impl<R> BoundaryValues<R> {
    /// West, east, south and north.
    pub(crate) fn sides(&self) -> [&Array2<R>; 4] {
        let Self { west, east, south, north } = self;
        [west, east, south, north]
    }

    /// The same for writing.
    pub(crate) fn sides_mut(&mut self) -> [&mut Array2<R>; 4] {
        let Self { west, east, south, north } = self;
        [west, east, south, north]
    }

    /// Values with a function applied to each side.
    pub(crate) fn map<S>(&self, make: impl FnMut(&Array2<R>) -> Array2<S>) -> BoundaryValues<S> {
        let [west, east, south, north] = self.sides().map(make);
        BoundaryValues { west, east, south, north }
    }
}

impl<R: Real> BoundaryValues<R> {
    /// The outermost rows of `field`, with subnormal traces set to zero. Shape: (nz, ny, nx).
    pub fn of(field: &Array3<R>) -> Self {
        use ndarray::s;
        Self {
            west: field.slice(s![.., .., 0]).mapv(R::normal),
            east: field.slice(s![.., .., -1]).mapv(R::normal),
            south: field.slice(s![.., 0, ..]).mapv(R::normal),
            north: field.slice(s![.., -1, ..]).mapv(R::normal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_trace_comes_in_through_a_side() {
        let least = f32::MIN_POSITIVE;
        let field =
            Array3::from_shape_fn((1, 2, 2), |(_, j, i)| least * [0.5, 1.0, -0.5, -2.0][2 * j + i]);
        let BoundaryValues { west, east, south, north } = BoundaryValues::of(&field);
        assert_eq!(
            (west.as_slice(), east.as_slice()),
            (Some(&[0.0, 0.0][..]), Some(&[least, -2.0 * least][..]))
        );
        assert_eq!(
            (south.as_slice(), north.as_slice()),
            (Some(&[0.0, least][..]), Some(&[0.0, -2.0 * least][..]))
        );
    }
}
