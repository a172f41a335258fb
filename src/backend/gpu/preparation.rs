//! Kernels of a run on the device, compiled by threads of their own while the input is read and projected.

use std::thread::{self, JoinHandle};

use super::GpuPrecision;
use super::gpu_config::{GpuConfig, sources_of};
use crate::device::Gpu;
use crate::error::{Error, Result};

/// Kernels that are being compiled: the first time that takes seconds.
#[derive(Debug)]
pub struct GpuPreparation(Option<JoinHandle<Result<()>>>);

impl GpuPreparation {
    /// Begins, for a run of this setting; neither its coordinate nor its chemistry matters.
    pub fn begin<R: GpuPrecision>(gpu: &Gpu, setting: &GpuConfig<'_>) -> Self {
        let sources = sources_of::<R>(gpu, setting);
        let gpu = gpu.clone();
        Self(Some(thread::spawn(move || {
            // Threads of their own: a thread of the projection must not take up a compilation while it waits.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(sources.len()).build();
            let pool = pool.map_err(|error| Error::Gpu(format!("start a compilation: {error}")))?;
            pool.install(|| gpu.compile_ahead(sources))
        })))
    }

    /// Waits for the end.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] with the compiler's log.
    pub(super) fn finish(mut self) -> Result<()> {
        let kernels = self.0.take().map_or(Ok(Ok(())), JoinHandle::join);
        kernels.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for GpuPreparation {
    /// Waits for the thread: libraries must not be active when the program ends.
    fn drop(&mut self) {
        let _ = self.0.take().map(JoinHandle::join);
    }
}
