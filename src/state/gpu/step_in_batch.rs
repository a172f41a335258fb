//! A step's position in a batch of steps launched as one graph.

/// A step's position in a batch of steps that end together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepInBatch {
    /// Number of the step in the batch, from 1.
    pub number: usize,
    /// Number of steps in the batch.
    pub of: usize,
}

impl StepInBatch {
    /// A step that is a batch by itself.
    pub const ALONE: Self = Self { number: 1, of: 1 };

    /// Slot in which the step stores its terms until the end of the batch: the last step has the first slot.
    pub(crate) fn place(self) -> usize {
        self.of - self.number
    }
}
