//! In which form a run is written, and which of its variables.

use crate::io::layout::Variable;
use crate::io::selection::Selection;
use crate::io::storage::{Compression, Keep};

/// In which form a run is written.
#[derive(Clone, Debug, Default)]
pub struct Storage {
    /// Compression of volumes.
    pub compression: Compression,
    /// How many bits of their values are kept.
    pub keep: Keep,
    /// Which variables are written.
    pub variables: Selection,
    /// Names of species that are not written whatever is selected.
    pub hidden: Vec<&'static str>,
}

impl Storage {
    /// True of a variable that is written.
    pub(super) fn writes(&self, variable: &Variable) -> bool {
        self.variables.has(variable) && !self.hidden.contains(&variable.name)
    }
}
