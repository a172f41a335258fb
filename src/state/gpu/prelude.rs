//! Constants and structs of all weather kernels. A subject adds its own.

use super::{kernel_id, status_word};
use crate::device::{Prelude, structs};
use crate::dry_mass::gpu::LayeredPointers;
use crate::real::Precision;

/// Prelude of all weather kernels: the number of levels, and the layout of the mass of a cell.
pub(crate) fn grid(precision: Precision, nz: usize) -> Prelude {
    Prelude::new(precision)
        .with(&format!("constexpr int NZ = {nz};\n"))
        .with(&structs!(precision; LayeredPointers))
}

/// Names and notes of the kernels of a step.
pub(crate) fn notes() -> String {
    kernel_id::constants() + &status_word::constants()
}
