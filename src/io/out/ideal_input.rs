//! Input files made by this program: frames in the form of a WRF file, written one by one.

use std::borrow::Cow;
use std::path::Path;

use netcdf::FileMut;

use crate::constituents::Constituents;
use crate::error::Result;
use crate::frame::Frame;
use crate::io::layout::{self, GIVEN, GRID, Variable};
use crate::io::out::output::{DATE_LENGTH, Header, define_place, moment, prescribed};
use crate::io::store::atomic_file::AtomicFile;
use crate::io::store::fields::{StoredVariable, define, existing, put};
use crate::io::store::format::{Done, Schema};
use crate::io::store::nc_char::NcChar;
use crate::io::store::storage::Compression;
use crate::state::memory;

/// The computed output fields that are input too: the state, U and V.
fn prescribed_fields(set: &Constituents) -> Vec<Variable> {
    let mut fields = layout::fields(set);
    fields.truncate(set.carried() + 2);
    fields
}

/// A WRF input file being written, under a temporary name until [`IdealInput::commit`].
#[derive(Debug)]
pub(crate) struct IdealInput {
    file: FileMut,
    pending: AtomicFile,
    header: Header,
    frames: usize,
}

impl IdealInput {
    /// Starts a file.
    pub(crate) fn create(target: &Path, force: bool, header: Header) -> Result<Self> {
        let pending = AtomicFile::new(target, force)?;
        let mut file = netcdf::create(pending.path()).map_err(|e| pending.failed(e))?;
        define_all(&mut file, &header).map_err(|e| pending.failed(e))?;
        Ok(Self { file, pending, header, frames: 0 })
    }

    /// Adds a frame, `seconds` after the start.
    pub(crate) fn put(&mut self, frame: &Frame, seconds: f64) -> Result<()> {
        let Self { file, pending, header, frames } = self;
        put_frame(file, header, *frames, (frame, seconds)).map_err(|e| pending.failed(e))?;
        *frames += 1;
        Ok(())
    }

    /// Closes the file and renames it to its final name.
    pub(crate) fn commit(self) -> Result<()> {
        let Self { file, pending, .. } = self;
        file.close().map_err(|e| pending.failed(e))?;
        pending.commit()
    }
}

fn define_all(file: &mut dyn Schema, header: &Header) -> Done {
    define_place(file, header)?;
    for variable in prescribed_fields(&header.tracers).iter().chain(&GIVEN).chain(&GRID) {
        let form = StoredVariable::in_blocks::<f32>(variable, header.shape());
        define::<f32>(file, &form, Compression::Fast)?;
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
    let fields = state.fields().iter().chain([u, v]).map(memory).map(Cow::Borrowed);
    let given = prescribed(&header.domain, [pressure, geopotential], column_mass);
    let computed = prescribed_fields(&header.tracers).into_iter().zip(fields);
    for (variable, values) in computed.chain(given) {
        put(file, header.shape(), &StoredVariable::plain(&variable), &[number], &values)?;
    }
    Ok(())
}

/// Writes the time of a frame with the NetCDF library.
pub(in crate::io) fn put_time(
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
