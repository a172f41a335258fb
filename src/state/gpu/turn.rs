//! A step's position in a batch of steps launched as one graph.

/// A step's position in a batch of steps that end together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its number, counted from 1.
    pub number: usize,
    /// Number of steps in the batch.
    pub of: usize,
}

impl Turn {
    /// A step that ends by itself.
    pub const ALONE: Self = Self { number: 1, of: 1 };

    /// Slot in which the step keeps its terms until the end: the last one has the first.
    pub(crate) fn place(self) -> usize {
        self.of - self.number
    }
}
