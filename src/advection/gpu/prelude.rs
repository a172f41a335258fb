//! Constants and structs of the kernels of the transport.

use super::TransportArgs;
use crate::advection::flux::FluxConstants;
use crate::device::{Prelude, constants, structs};
use crate::real::Precision;
use crate::state::gpu::prelude::{grid, notes};

/// Prelude text with all of them, without settings.
pub(crate) fn transport(precision: Precision, nz: usize) -> Prelude {
    grid(precision, nz)
        .with(&notes())
        .with(&constants!(precision; FluxConstants))
        .with(&structs!(precision; TransportArgs))
}
