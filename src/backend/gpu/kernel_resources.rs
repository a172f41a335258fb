//! Resources of the kernels, for measurements.

use super::{GpuBackend, GpuPrecision};
use crate::device::Resources;
use crate::error::Result;

impl<R: GpuPrecision> GpuBackend<R> {
    /// Registers, spills and shared memory of the kernels of transport and microphysics in steps of `dt` seconds.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the driver does not tell.
    pub fn resources(&self, dt: f64) -> Result<Vec<Resources>> {
        let [call, _] = self.sole_member().clouds.resources(dt)?;
        Ok(self.transport.resources()?.into_iter().chain([call]).collect())
    }
}
