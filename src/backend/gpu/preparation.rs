//! Kernels of a run on the device and memory of the host for its frames, made by threads of their own while the input is
//! read and projected.

use std::thread::{self, JoinHandle};

use super::GpuPrecision;
use super::frame_layout::FrameLayout;
use super::gpu_config::{GpuConfig, sources_of};
use crate::device::{AsyncDownload, Gpu, Pinned};
use crate::error::{Error, Result};

/// Kernels that are being compiled, and memory of the host for frames that is being pinned: on a large grid either takes
/// seconds.
#[derive(Debug)]
pub struct GpuPreparation<R> {
    kernels: Option<JoinHandle<Result<()>>>,
    frames: Option<JoinHandle<Result<[Pinned<R>; 2]>>>,
}

impl<R: GpuPrecision> GpuPreparation<R> {
    /// Begins, for a run of this setting; neither its coordinate nor its chemistry matters.
    pub fn begin(gpu: &Gpu, setting: &GpuConfig<'_>) -> Self {
        let sources = sources_of::<R>(gpu, setting);
        let of_kernels = gpu.clone();
        let kernels = thread::spawn(move || {
            // Threads of their own: a thread of the projection must not take up a compilation while it waits.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(sources.len()).build();
            let pool = pool.map_err(|error| Error::Gpu(format!("start a compilation: {error}")))?;
            pool.install(|| of_kernels.compile_ahead(sources))
        });
        let (of_frames, len) =
            (gpu.clone(), FrameLayout::new(setting.grid.shape, setting.tracers.len()).frame());
        // Without work on the device, which could become a part of a graph that is being recorded.
        let frames = thread::spawn(move || AsyncDownload::pinned(&of_frames, len));
        Self { kernels: Some(kernels), frames: Some(frames) }
    }

    /// Waits for the end; returns the memory for frames of so many elements, if the host has it.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] with the compiler's log.
    pub(super) fn finish(mut self, elements: usize) -> Result<Option<[Pinned<R>; 2]>> {
        if let Some(kernels) = self.kernels.take() {
            kernels.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        let frames = self.frames.take().and_then(|frames| frames.join().ok());
        // If it fails, it is tried again, and the error told, when the rest of the memory is there.
        Ok(frames.and_then(Result::ok).filter(|frames| frames[0].len() == elements))
    }
}

impl<R> Drop for GpuPreparation<R> {
    /// Waits for the threads: libraries must not be active when the program ends.
    fn drop(&mut self) {
        let _ = self.kernels.take().map(JoinHandle::join);
        let _ = self.frames.take().map(JoinHandle::join);
    }
}
