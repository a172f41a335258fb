//! What the host can know of the steps without waiting for them: how many are done, and whether
//! a value has become infinite or not a number.

use super::buffer::{Buffer, Element};
use super::clouds::Clouds;
use super::device::Gpu;
use super::layout::Layout;
use super::mark;
use super::pinned::Pinned;
use super::transport::Transport;
use crate::error::Result;
use crate::shared::DevicePointer;
use crate::wsm5::params::SchemeConstants;
use crate::wsm5::reflectivity::RadarConstants;

/// Bits of a note that the cell takes, as many as kernels can count, and from which on the field and
/// the step stand.
const FIELD_SHIFT: u32 = 31;
const STEP_SHIFT: u32 = 43;
/// Numbers of the notes.
const FLAW: usize = 0;
const STEPS: usize = 1;
/// Blocks of the kernel that ends a step that are done, which the device sees alone, and the kernel that has
/// begun last, which the host sees alone.
const BLOCKS_DONE: usize = 2;
const MARK: usize = 2;
const NOTES: usize = 3;
/// The note of a state without flaw.
const NONE: u64 = u64::MAX;

/// How the notes are written, as kernels see it.
pub(super) fn constants() -> String {
    let numbers = [
        ("FIELD_SHIFT", FIELD_SHIFT as usize),
        ("STEP_SHIFT", STEP_SHIFT as usize),
        ("FLAW", FLAW),
        ("STEPS", STEPS),
        ("BLOCKS", BLOCKS_DONE),
    ];
    numbers.map(|(name, number)| format!("constexpr int WATCH_{name} = {number};\n")).concat()
}

/// The first value that was found to be infinite or not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Step after which it was found, from 1.
    pub step: usize,
    /// Number of the field.
    pub field: usize,
    /// Number of the place in the field.
    pub place: usize,
}

impl Flaw {
    /// What a note says; `None` where there is none yet.
    pub fn of(note: u64) -> Option<Self> {
        let below = |bits: u32| (1_u64 << bits) - 1;
        (note != NONE).then(|| Self {
            step: (note >> STEP_SHIFT) as usize,
            field: (note >> FIELD_SHIFT & below(STEP_SHIFT - FIELD_SHIFT)) as usize,
            place: (note & below(FIELD_SHIFT)) as usize,
        })
    }
}

/// Keeps an eye on the steps.
#[derive(Debug)]
pub struct Watch {
    notes: Buffer<u64>,
    shown: Pinned<u64>,
}

impl Watch {
    /// Makes room for the notes of a number of fields; nothing is noted yet.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    ///
    /// # Panics
    ///
    /// When there are more fields or cells than a note can tell.
    pub fn new(gpu: &Gpu, layout: Layout, fields: usize) -> Result<Self> {
        assert!(fields <= 1 << (STEP_SHIFT - FIELD_SHIFT), "{fields} fields");
        assert!(layout.cells() <= 1 << FIELD_SHIFT, "{} cells", layout.cells());
        let watch = Self { notes: gpu.zeros(NOTES)?, shown: Pinned::zeros(gpu, NOTES)? };
        watch.reset()?;
        Ok(watch)
    }

    /// Lets the kernels of a step note that they have begun, and those of the microphysics what is not finite of what
    /// they find and leave: for as long as this is kept.
    pub fn listen<R>(&self, transport: &mut Transport<R>, clouds: &mut Clouds<R>)
    where
        R: SchemeConstants + RadarConstants + Element,
    {
        let marks = self.marks();
        transport.note(marks);
        clouds.note(marks, self.notes.pointer());
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

    /// Where the notes are on the device, and where the host sees them.
    pub(super) fn notes(&self) -> [DevicePointer<u64>; 2] {
        [self.notes.pointer(), self.shown.pointer()]
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
        let flaw = Flaw { step: 1_000_000, field: 5, place: (1 << 31) - 1 };
        assert_eq!(Flaw::of(word(1_000_000, 5, (1 << 31) - 1)), Some(flaw));
        assert_eq!(Flaw::of(NONE), None);
        assert!(word(1, 5, 99) < word(2, 0, 0) && word(2, 0, 99) < word(2, 1, 0));
    }
}
