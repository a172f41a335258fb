//! All schemes of this module.

use super::kessler;
#[cfg(feature = "gpu")]
use super::{device::DevicePhysics, kessler::Kessler};
#[cfg(feature = "gpu")]
use crate::device::KernelSource;
#[cfg(feature = "gpu")]
use crate::real::Precision;

/// A precision that all schemes can be run in.
pub trait Vectorised: kessler::Vectorised {}

impl<R: kessler::Vectorised> Vectorised for R {}

/// Constants and structs of the kernels of all schemes.
#[cfg(feature = "gpu")]
pub(crate) fn declarations(precision: Precision) -> String {
    kessler::gpu::declarations(precision)
}

/// Texts of the kernels of all schemes, as [`DevicePhysics::sources`].
#[cfg(feature = "gpu")]
pub(crate) fn sources(precision: Precision, nz: usize) -> Vec<(KernelSource, &'static str)> {
    <Kessler<f32> as DevicePhysics<f32>>::sources(precision, nz)
}
