//! The constants and structs that kernels of the transport are given.

use super::TransportArgs;
use crate::advection::flux::FluxConstants;
use crate::device::{Prelude, constants, structs};
use crate::real::Precision;
use crate::state::gpu::prelude::{grid, notes};

/// The text of all of them, without settings.
pub(crate) fn transport(precision: Precision, nz: usize) -> Prelude {
    grid(precision, nz)
        .with(&notes())
        .with(&constants!(precision; FluxConstants))
        .with(&structs!(precision; TransportArgs))
}
