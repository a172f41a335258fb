//! Input files made by this program: frames in the form of a WRF file, written one by one.

use std::path::Path;

use netcdf::FileMut;

use crate::error::Result;
use crate::io::atomic_file::AtomicFile;
use crate::io::fields::{define_variable, existing, put};
use crate::io::geometry;
use crate::io::layout::{COMPUTED, GIVEN, GRID};
use crate::io::nc_char::NcChar;
use crate::io::output::{DATE_LENGTH, Header, define_place, moment};
use crate::io::storage::Compression;
use crate::io::wrf::Frame;
use crate::state::memory;

/// Number of computed output fields that are input too: the state, U and V.
const PRESCRIBED: usize = 8;

/// A WRF input file being written, under a temporary name until [`IdealInput::commit`].
#[derive(Debug)]
pub struct IdealInput {
    file: FileMut,
    pending: AtomicFile,
    header: Header,
    frames: usize,
}

impl IdealInput {
    /// Starts a file.
    ///
    /// # Errors
    ///
    /// Those of [`AtomicFile::new`], and [`crate::error::Error::Io`] when the library refuses, as in
    /// the functions below.
    pub fn create(target: &Path, force: bool, header: Header) -> Result<Self> {
        let pending = AtomicFile::new(target, force)?;
        let mut file = netcdf::create(pending.path()).map_err(|e| pending.failed(e))?;
        define(&mut file, &header).map_err(|e| pending.failed(e))?;
        Ok(Self { file, pending, header, frames: 0 })
    }

    /// Adds a frame, `seconds` after the start.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Io`].
    pub fn put(&mut self, frame: &Frame, seconds: f64) -> Result<()> {
        let Self { file, pending, header, frames } = self;
        put_frame(file, header, *frames, (frame, seconds)).map_err(|e| pending.failed(e))?;
        *frames += 1;
        Ok(())
    }

    /// Closes the file and renames it to its final name.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Io`], and those of [`AtomicFile::commit`].
    pub fn commit(self) -> Result<()> {
        let Self { file, pending, .. } = self;
        file.close().map_err(|e| pending.failed(e))?;
        pending.commit()
    }
}

fn define(file: &mut FileMut, header: &Header) -> netcdf::Result<()> {
    let (mapping, chunks) = (define_place(file, header)?, (header.shape(), Compression::Fast));
    for variable in COMPUTED[..PRESCRIBED].iter().chain(&GIVEN).chain(&GRID) {
        define_variable::<f32>(file, variable, mapping.is_some(), chunks)?;
    }
    Ok(())
}

fn put_frame(
    file: &mut FileMut,
    header: &Header,
    number: usize,
    (frame, seconds): (&Frame, f64),
) -> netcdf::Result<()> {
    put_time(file, header, number, seconds)?;
    let Frame { state, u, v, pressure, geopotential, column_mass, .. } = frame;
    let fields = state.fields().iter().chain([u, v]);
    let given = pressure.iter().chain(geopotential).map(memory);
    let given = given.chain(column_mass.iter().map(memory));
    for (variable, values) in COMPUTED[..PRESCRIBED].iter().zip(fields.map(memory)) {
        put(file, header.shape(), number, variable, values)?;
    }
    for (variable, values) in GIVEN.iter().zip(given) {
        put(file, header.shape(), number, variable, values)?;
    }
    put_grid(file, header, number)
}

/// Writes the time of a frame with the NetCDF library.
pub(super) fn put_time(
    file: &mut FileMut,
    header: &Header,
    frame: usize,
    seconds: f64,
) -> netcdf::Result<()> {
    let (now, minutes) = moment(header, seconds);
    let place = [frame..frame + 1, 0..DATE_LENGTH];
    existing(file, "Times")?.put_values(&NcChar::of(&now), place)?;
    existing(file, "XTIME")?.put_value(minutes, [frame])
}

/// Writes the description of the grid with the NetCDF library.
pub(super) fn put_grid(file: &mut FileMut, header: &Header, frame: usize) -> netcdf::Result<()> {
    for (variable, values) in GRID.iter().zip(geometry::values(&header.domain)) {
        put(file, header.shape(), frame, variable, &values)?;
    }
    Ok(())
}
