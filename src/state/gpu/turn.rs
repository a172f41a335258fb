//! Steps that end together, and what each of them is among them.

/// Which of several steps a step is that end together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its number, counted from 1.
    pub number: usize,
    /// How many they are.
    pub of: usize,
}

impl Turn {
    /// A step that ends by itself.
    pub const ALONE: Self = Self { number: 1, of: 1 };

    /// Where the step keeps what is added up at the end: the last one in the first place.
    pub(crate) fn place(self) -> usize {
        self.of - self.number
    }
}
