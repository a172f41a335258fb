//! The reference file of the scheme: its cases, input and output.

use crate::column_reference::{self, ColumnScheme};

/// The cases of the reference file.
pub const CASES: [&str; 6] = ["warm", "mixed", "cold", "dry", "edge", "storm"];

/// Input of a case, in the order of [`Columns::fields`].
pub const INPUTS: [&str; 10] = ["th", "q", "qc", "qr", "qi", "qs", "den", "pii", "p", "delz"];

/// Compared output, in the order of the fields of an outcome: fields on levels, then fields at the ground.
pub const OUTPUTS: [&str; 15] = [
    "th",
    "q",
    "qc",
    "qr",
    "qi",
    "qs",
    "refl_10cm",
    "re_cloud",
    "re_ice",
    "re_snow",
    "rain",
    "rainncv",
    "snow",
    "snowncv",
    "sr",
];

/// Number of [`OUTPUTS`] on levels.
pub const ON_LEVELS: usize = 10;

/// The reference file of the scheme.
#[derive(Clone, Debug)]
pub struct Wsm5Columns;

impl ColumnScheme for Wsm5Columns {
    type Number = f32;
    const NAME: &'static str = "wsm5";
    const INPUTS: &'static [&'static str] = &INPUTS;
    const OUTPUTS: &'static [&'static str] = &OUTPUTS;
    const ON_LEVELS: usize = ON_LEVELS;
}

/// Input of the scheme.
pub type Columns = column_reference::Columns<Wsm5Columns>;

/// Cases of the scheme.
pub type Reference = column_reference::Reference<Wsm5Columns>;
