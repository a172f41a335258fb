//! All that is compiled for the device, for looking at without one.

use super::compile::Source;
use super::{budget, forcing};
use crate::real::Precision;

/// Kernels that the speed of a run hangs on may neither spill nor calculate in double precision
/// by accident; the names of those that sum in double precision on purpose end like this.
pub const DOUBLE_SUMS: &str = "_acc64";

/// One compilation of the product.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What is compiled.
    pub source: Source,
    /// The working precision.
    pub precision: Precision,
    /// Number of levels.
    pub nz: usize,
    /// What tells it from others of the same file, as "8 columns"; may be empty.
    pub variant: String,
    /// Whether the speed of a run hangs on it.
    pub hot: bool,
}

/// Everything that a run of `nz` levels in this precision can ask for.
pub fn catalogue(precision: Precision, nz: usize) -> Vec<Entry> {
    let entry = |source, hot| Entry { source, precision, nz, variant: String::new(), hot };
    vec![entry(forcing::source(precision, nz), false), entry(budget::source(precision, nz), false)]
}
