//! Options of `run` about the form of its output.

use clap::Args;

use crate::constituents::Constituents;
use crate::error::Result;
use crate::io::out::output::Storage;
use crate::io::out::selection::Selection;
use crate::io::store::storage::{Compression, Keep};

/// The form of the output.
#[derive(Args, Clone, Debug)]
pub(in crate::cli) struct StorageOptions {
    /// Compression of the fields of the output; lossless
    #[arg(long, value_name = "HOW", default_value = "fast")]
    compression: Compression,
    /// Bits of the significand to keep of the values of volumes, which are rounded to the nearest, 1 to 52, a
    /// relative error of 2^-(N+1) at most; or auto: for every variable the bits that hold 99 % of the information
    /// that neighbouring cells share, at least 7; cells with the most common value, and bits below one without
    /// information, are not counted. Attributes state the largest error. P, PB, PH, PHB, MU, MUB and coordinates,
    /// of which differences are taken, and restart files are not rounded [default: all]
    #[arg(long, value_name = "N|auto", value_parser = keep)]
    keepbits: Option<Keep>,
    /// Variables to write: names separated by commas, to which times and positions are added, or minimal (state and
    /// precipitation), wrf (those that WRF writes too) or all
    #[arg(long, value_name = "LIST", default_value = "all")]
    output_vars: String,
}

/// Most bits of a significand.
const MOST_BITS: u32 = 52;

/// The value of `--keepbits`.
fn keep(text: &str) -> Result<Keep, String> {
    match text.parse() {
        _ if text == "auto" => Ok(Keep::Auto),
        Ok(bits) if (1..=MOST_BITS).contains(&bits) => Ok(Keep::Bits(bits)),
        _ => Err(format!("expected auto or a whole number from 1 to {MOST_BITS}")),
    }
}

impl StorageOptions {
    /// Form of the output that the options request, in a run with this set.
    pub(in crate::cli) fn storage(&self, set: &Constituents) -> Result<Storage> {
        let variables = Selection::of(&self.output_vars, set)?;
        let keep = self.keepbits.unwrap_or_default();
        Ok(Storage { compression: self.compression, keep, variables, hidden: Vec::new() })
    }

    /// Given options that are for single runs only, by their names.
    pub(in crate::cli) fn of_single_runs(&self) -> [(&'static str, bool); 3] {
        [
            ("--compression", self.compression != Compression::Fast),
            ("--keepbits", self.keepbits.is_some()),
            ("--output-vars", self.output_vars != "all"),
        ]
    }
}
