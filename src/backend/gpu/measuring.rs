//! What only those ask for who measure.

use super::{OnDevice, OnGpu};
use crate::error::Result;
use crate::gpu::{Graph, Resources};

impl<R: OnDevice> OnGpu<R> {
    /// Asks for the next step, of `dt` seconds, `times` times, always from the present state, which stays. What has
    /// fallen and the sums of the budget grow; [`restore`](crate::backend::Backend::restore) ends
    /// that.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device has failed.
    pub fn repeat_step(&mut self, dt: f64, times: usize) -> Result<()> {
        let graph: &mut Graph = self.graph(dt, false)?;
        (0..times).try_for_each(|_| graph.launch())
    }

    /// What the kernels of transport and microphysics take of the device.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the driver does not tell.
    pub fn resources(&self) -> Result<Vec<Resources>> {
        let [call, _] = self.alone().clouds.resources()?;
        Ok(self.transport.resources()?.into_iter().chain([call]).collect())
    }
}
