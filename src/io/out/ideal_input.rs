//! Input files made by this program: frames in the form of a WRF file, written one by one.

use std::path::Path;

use crate::constituents::Constituents;
use crate::error::Result;
use crate::frame::Frame;
use crate::io::layout::{self, GIVEN, GRID, Variable};
use crate::io::out::frame_values::{Content, prescribed};
use crate::io::out::output::{DATE_LENGTH, Header, define_place, moment};
use crate::io::store::atomic_file::AtomicFile;
use crate::io::store::blocks;
use crate::io::store::fields::{StoredVariable, define, put};
use crate::io::store::format::{BlockStore, Done, Schema, Values};
use crate::io::store::storage::Compression;

/// The computed output fields that are input too: the state, U and V.
fn prescribed_fields(set: &Constituents) -> Vec<Variable> {
    let mut fields = layout::fields(set);
    fields.truncate(set.carried() + 2);
    fields
}

/// A WRF input file being written, under a temporary name until [`IdealInput::commit`].
#[derive(Debug)]
pub(crate) struct IdealInput {
    file: Box<dyn BlockStore>,
    header: Header,
    frames: usize,
}

impl IdealInput {
    /// Starts a file.
    pub(crate) fn create(target: &Path, force: bool, header: Header) -> Result<Self> {
        let mut file = blocks(AtomicFile::new(target, force)?);
        let defined = file.create().and_then(|()| define_all(&mut *file, &header));
        defined.map_err(|e| file.failed(e))?;
        Ok(Self { file, header, frames: 0 })
    }

    /// Adds a frame, `seconds` after the start.
    pub(crate) fn put(&mut self, frame: &Frame, seconds: f64) -> Result<()> {
        let Self { file, header, frames } = self;
        put_frame(&mut **file, header, *frames, (frame, seconds)).map_err(|e| file.failed(e))?;
        *frames += 1;
        Ok(())
    }

    /// Closes the file and renames it to its final name.
    pub(crate) fn commit(self) -> Result<()> {
        self.file.commit()
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
    file: &mut dyn BlockStore,
    header: &Header,
    number: usize,
    (frame, seconds): (&Frame, f64),
) -> Done {
    put_time(file, header, number, seconds)?;
    let Frame { state, u, v, pressure, geopotential, column_mass, .. } = frame;
    let fields = state.fields().iter().chain([u, v]).map(|field| Content::Field(field.view()));
    let given = prescribed(&header.domain, [pressure, geopotential], column_mass);
    let computed = prescribed_fields(&header.tracers).into_iter().zip(fields);
    for (variable, values) in computed.chain(given) {
        put(file, header.shape(), &StoredVariable::plain(&variable), &[number], values.values())?;
    }
    Ok(())
}

/// Writes the time of a frame.
pub(in crate::io) fn put_time(
    file: &mut dyn BlockStore,
    header: &Header,
    frame: usize,
    seconds: f64,
) -> Done {
    let (now, minutes) = moment(header, seconds);
    let at = frame..frame + 1;
    file.put("Times", &[at.clone(), 0..DATE_LENGTH], Values::Text(&now))?;
    file.put("XTIME", std::slice::from_ref(&at), Values::Double(&[minutes]))
}
