//! Fork and join of streams: branches of work that the device may run concurrently, which meet again.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use super::gpu::Gpu;
use super::graph::Event;
use crate::error::Result;

/// Most branches: more kernels than that a device hardly runs at a time.
const MOST: usize = 32;

/// Streams beside that of the kernels.
#[derive(Debug)]
pub struct Branches {
    gpu: Gpu,
    streams: Vec<Arc<CudaStream>>,
    begun: Event,
    ended: Vec<Event>,
}

/// One of several branches, or their common trunk.
#[derive(Clone, Copy, Debug)]
pub struct Branch<'a> {
    stream: Option<&'a CudaStream>,
}

impl<'a> Branch<'a> {
    /// The default stream, for work without a branch.
    pub const TRUNK: Branch<'static> = Branch { stream: None };

    /// Its stream, where it is not that of the kernels.
    pub(crate) fn stream(self) -> Option<&'a CudaStream> {
        self.stream
    }
}

impl Branches {
    /// Makes as many branches as there is work to do side by side, if that is not too much.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as below, when the device has failed.
    pub fn new(gpu: &Gpu, count: usize) -> Result<Self> {
        let count = count.clamp(1, MOST);
        Ok(Self {
            gpu: gpu.clone(),
            streams: (0..count).map(|_| gpu.new_stream()).collect::<Result<_>>()?,
            begun: Event::new(gpu)?,
            ended: (0..count).map(|_| Event::new(gpu)).collect::<Result<_>>()?,
        })
    }

    /// Queues several pieces of work, each by its number and in the branch that it is given: after all work queued
    /// before, and before all work queued later. It may be part of a graph.
    ///
    /// # Errors
    ///
    /// As [`Branches::new`], and those of `work`.
    pub fn share(
        &self,
        count: usize,
        work: impl Fn(usize, Branch<'_>) -> Result<()>,
    ) -> Result<()> {
        self.begun.record(&self.gpu)?;
        self.streams.iter().try_for_each(|stream| self.begun.hold(stream))?;
        for number in 0..count {
            let stream = &self.streams[number % self.streams.len()];
            work(number, Branch { stream: Some(stream) })?;
        }
        for (stream, ended) in self.streams.iter().zip(&self.ended) {
            ended.record_in(stream)?;
            ended.hold_kernels()?;
        }
        Ok(())
    }
}
