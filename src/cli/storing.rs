//! Options of `run` about the form of its output.

use clap::{Args, ValueEnum};

use crate::error::Result;
use crate::io::output::Storage;
use crate::io::selection::Selection;
use crate::io::storage::Compression;

/// The form of the output.
#[derive(Args, Clone, Debug)]
pub(super) struct Storing {
    /// How the volumes of the output are compressed; the values have the same bits
    #[arg(long, value_name = "HOW", default_value = "fast")]
    compression: CompressionChoice,
    /// Variables to write: names with commas between them, to which times and positions are added, or
    /// minimal (state and precipitation), wrf (those that WRF writes too) or all
    #[arg(long, value_name = "LIST", default_value = "all")]
    output_vars: String,
}

/// How volumes are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompressionChoice {
    /// Not at all
    None,
    /// In little time: bytes shuffled, deflate of level 1
    Fast,
    /// To little room: bytes shuffled, deflate of level 6
    Small,
}

impl From<CompressionChoice> for Compression {
    fn from(choice: CompressionChoice) -> Self {
        match choice {
            CompressionChoice::None => Self::None,
            CompressionChoice::Fast => Self::Fast,
            CompressionChoice::Small => Self::Small,
        }
    }
}

impl Storing {
    /// What is asked for.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Usage`] where there is no variable of a name.
    pub(super) fn storage(&self) -> Result<Storage> {
        let variables: Selection = self.output_vars.parse()?;
        Ok(Storage { compression: self.compression.into(), variables })
    }

    /// Options that are given and hold for single runs, by their names.
    pub(super) fn of_single_runs(&self) -> [(&'static str, bool); 2] {
        [
            ("--compression", self.compression != CompressionChoice::Fast),
            ("--output-vars", self.output_vars != "all"),
        ]
    }
}
