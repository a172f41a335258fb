//! What only those ask for who measure.

use super::{OnDevice, OnGpu};
use crate::device::Resources;
use crate::error::Result;

impl<R: OnDevice> OnGpu<R> {
    /// What the kernels of transport and microphysics take of the device in steps of `dt` seconds.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the driver does not tell.
    pub fn resources(&self, dt: f64) -> Result<Vec<Resources>> {
        let [call, _] = self.alone().clouds.resources(dt)?;
        Ok(self.transport.resources()?.into_iter().chain([call]).collect())
    }
}
