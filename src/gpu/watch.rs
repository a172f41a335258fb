//! What the host can know of the steps without waiting for them: how many are done, and whether
//! a value has become infinite or not a number.

use super::arguments::WatchArgs;
use super::budget::Budget;
use super::buffer::{Buffer, Element, Pinned};
use super::clouds::Clouds;
use super::compile::Source;
use super::device::Gpu;
use super::kernel::{Kernel, Launch};
use super::mark;
use super::transport::Transport;
use crate::error::Result;
use crate::grid::Shape;
use crate::real::{Precision, Real};
use crate::shared::DevicePointer;
use crate::wsm5::params::SchemeConstants;
use crate::wsm5::reflectivity::RadarConstants;

/// Threads of a block.
const THREADS: u32 = 256;
/// Blocks of a multiprocessor that look through the state.
const BLOCKS: u32 = 8;
/// Bits of a note that the cell takes, as many as kernels can count, and from which on the field and
/// the step stand.
const FIELD_SHIFT: u32 = 31;
const STEP_SHIFT: u32 = 43;
/// Numbers of the notes.
const FLAW: usize = 0;
const STEPS: usize = 1;
/// Blocks of the look at a step that are done, which the device sees alone, and the kernel that has
/// begun last, which the host sees alone.
const BLOCKS_DONE: usize = 2;
const MARK: usize = 2;
const NOTES: usize = 3;
/// The note of a state without flaw.
const NONE: u64 = u64::MAX;

/// The kernels for a precision and a number of levels.
///
/// `fields` are those that are looked through.
pub fn source(precision: Precision, nz: usize, fields: usize) -> Source {
    let settings = [
        ("WATCH_THREADS", THREADS as i32),
        ("WATCH_FIELDS", fields as i32),
        ("WATCH_FIELD_SHIFT", FIELD_SHIFT as i32),
        ("WATCH_STEP_SHIFT", STEP_SHIFT as i32),
        ("WATCH_FLAW", FLAW as i32),
        ("WATCH_STEPS", STEPS as i32),
        ("WATCH_BLOCKS", BLOCKS_DONE as i32),
    ];
    Source::new("flaw.cu", precision, nz, &settings)
}

/// The first value that was found to be infinite or not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Step after which it was found, from 1.
    pub step: usize,
    /// Number of the field.
    pub field: usize,
    /// Cell as a number, (k, j, i).
    pub cell: usize,
}

impl Flaw {
    fn of(note: u64) -> Option<Self> {
        let below = |bits: u32| (1_u64 << bits) - 1;
        (note != NONE).then(|| Self {
            step: (note >> STEP_SHIFT) as usize,
            field: (note >> FIELD_SHIFT & below(STEP_SHIFT - FIELD_SHIFT)) as usize,
            cell: (note & below(FIELD_SHIFT)) as usize,
        })
    }
}

/// Keeps an eye on the steps.
#[derive(Debug)]
pub struct Watch<R> {
    scan: Kernel,
    notes: Buffer<u64>,
    shown: Pinned<u64>,
    fields: usize,
    cells: usize,
    blocks: u32,
    values: std::marker::PhantomData<R>,
}

impl<R: Real + Element> Watch<R> {
    /// Compiles the kernels for a number of fields; nothing is noted yet.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    ///
    /// # Panics
    ///
    /// When there are more fields or cells than a note can tell.
    pub fn new(gpu: &Gpu, shape: Shape, fields: usize) -> Result<Self> {
        assert!(fields <= 1 << (STEP_SHIFT - FIELD_SHIFT), "{fields} fields");
        assert!(shape.cells() <= 1 << FIELD_SHIFT, "{shape} cells");
        let module = gpu.module(&source(R::PRECISION, shape.nz, fields))?;
        let watch = Self {
            scan: module.kernel("watch_scan")?,
            notes: gpu.zeros(NOTES)?,
            shown: Pinned::zeros(gpu, NOTES)?,
            fields,
            cells: shape.cells(),
            blocks: BLOCKS * gpu.device().multiprocessors,
            values: std::marker::PhantomData,
        };
        watch.reset()?;
        Ok(watch)
    }

    /// Lets the kernels of a step note that they have begun, for as long as this is kept.
    pub fn listen(
        &self,
        transport: &mut Transport<R>,
        clouds: &mut Clouds<R>,
        budget: &mut Budget<R>,
    ) where
        R: SchemeConstants + RadarConstants,
    {
        let marks = self.marks();
        transport.note(marks);
        clouds.note(marks);
        budget.note(marks);
    }

    /// Forgets all notes. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Watch::new`].
    pub fn reset(&self) -> Result<()> {
        let mut notes = [0; NOTES];
        notes[FLAW] = NONE;
        self.notes.upload(&notes)?;
        notes.into_iter().enumerate().for_each(|(at, note)| self.shown.set(at, note));
        Ok(())
    }

    /// Looks through the fields of a step that ends.
    ///
    /// # Errors
    ///
    /// As [`Watch::new`].
    ///
    /// # Panics
    ///
    /// When there are fewer fields.
    pub fn end_step(&self, fields: &Buffer<R>) -> Result<()> {
        assert_eq!(fields.len(), self.fields * self.cells, "the fields of the state");
        let args = WatchArgs {
            fields: fields.pointer().read(),
            notes: self.notes.pointer(),
            shown: self.shown.pointer(),
            marks: self.marks(),
            cells: self.cells as i64,
        };
        // A thread has sixteen bytes at a time.
        let threads = Launch::flat((fields.len() * size_of::<R>()).div_ceil(16), THREADS);
        let blocks = threads.grid[0].min(self.blocks);
        // SAFETY: the fields have been counted; the notes are kept here, and memory is freed only
        // when the device is done with it.
        unsafe { self.scan.launch(Launch { grid: [blocks, 1, 1], ..threads }, &args) }
    }

    /// Steps that are done, as far as the host knows already; known also when the device has
    /// failed.
    pub fn steps(&self) -> usize {
        self.shown.get(STEPS) as usize
    }

    /// Where kernels note that they have begun.
    fn marks(&self) -> DevicePointer<u64> {
        self.shown.pointer().offset(MARK)
    }

    /// The kernel that has begun last, known also when the device has failed.
    pub fn kernel(&self) -> &'static str {
        mark::name(self.shown.get(MARK))
    }

    /// The first flaw, as far as the host knows already.
    pub fn flaw(&self) -> Option<Flaw> {
        Flaw::of(self.shown.get(FLAW))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_flaws_are_smaller_words() {
        let word =
            |step: u64, field: u64, cell: u64| step << STEP_SHIFT | field << FIELD_SHIFT | cell;
        let flaw = Flaw { step: 1_000_000, field: 5, cell: (1 << 31) - 1 };
        assert_eq!(Flaw::of(word(1_000_000, 5, (1 << 31) - 1)), Some(flaw));
        assert_eq!(Flaw::of(NONE), None);
        assert!(word(1, 5, 99) < word(2, 0, 0) && word(2, 0, 99) < word(2, 1, 0));
    }
}
