//! Form of the output: compression, precision and selection of variables.

use crate::io::layout::Variable;
use crate::io::selection::Selection;
use crate::io::storage::{Compression, Keep};

/// Form of the output.
#[derive(Clone, Debug, Default)]
pub struct Storage {
    /// Compression of volumes.
    pub compression: Compression,
    /// Bits of their values that are kept.
    pub keep: Keep,
    /// Selection of the variables.
    pub variables: Selection,
    /// Names of species that are never written, with any selection.
    pub hidden: Vec<&'static str>,
}

impl Storage {
    /// True if a variable is written.
    pub(super) fn writes(&self, variable: &Variable) -> bool {
        self.variables.has(variable) && !self.hidden.contains(&variable.name)
    }
}
