//! Streams besides those of a run.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use super::gpu::{Gpu, failed};
use crate::error::Result;

/// A stream: a queue of kernels and copies of its own, concurrent with all others.
#[derive(Clone, Debug)]
pub struct Stream(pub(crate) Arc<CudaStream>);

impl Stream {
    /// An empty stream.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as below, when the device has failed.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        gpu.new_stream().map(Self)
    }

    /// Waits until all work queued on it is done.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.0.synchronize().map_err(failed("finish the work of a stream"))
    }
}
