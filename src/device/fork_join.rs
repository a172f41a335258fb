//! Streams besides those of a run, and their fork and join: branches of work that the device may run concurrently.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use super::gpu::{Gpu, failed};
use super::graph::Event;
use crate::error::Result;

/// Most branches: a device hardly ever runs more kernels at a time.
const MOST: usize = 32;

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
        gpu.context().new_stream().map(Self).map_err(failed("make a stream"))
    }

    /// Waits until all work queued on it is done.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.0.synchronize().map_err(failed("finish the work of a stream"))
    }
}

/// Streams beside that of the kernels.
#[derive(Debug)]
pub(crate) struct ForkJoin {
    gpu: Gpu,
    streams: Vec<Stream>,
    begun: Event,
    ended: Vec<Event>,
}

/// A branch: one of several concurrent streams, or the default stream.
#[derive(Clone, Copy, Debug)]
pub struct Branch<'a> {
    stream: Option<&'a CudaStream>,
}

impl<'a> Branch<'a> {
    /// The default stream, for work without a branch.
    pub const TRUNK: Branch<'static> = Branch { stream: None };

    /// Work in a stream.
    pub(crate) fn of(stream: &'a Stream) -> Self {
        Self { stream: Some(&stream.0) }
    }

    /// Stream of the branch; `None` for the default stream.
    pub(super) fn stream(self) -> Option<&'a CudaStream> {
        self.stream
    }
}

impl ForkJoin {
    /// Creates a branch for each of `count` pieces of work, up to a limit.
    pub(crate) fn new(gpu: &Gpu, count: usize) -> Result<Self> {
        let count = count.clamp(1, MOST);
        Ok(Self {
            gpu: gpu.clone(),
            streams: (0..count).map(|_| Stream::new(gpu)).collect::<Result<_>>()?,
            begun: Event::new(gpu)?,
            ended: (0..count).map(|_| Event::new(gpu)).collect::<Result<_>>()?,
        })
    }

    /// Queues pieces of work, each with its index and its branch: after all work queued before, and before all work
    /// queued later. It may be recorded in a graph.
    pub(crate) fn fork_join(
        &self,
        count: usize,
        work: impl Fn(usize, Branch<'_>) -> Result<()>,
    ) -> Result<()> {
        self.begun.record(&self.gpu)?;
        self.streams.iter().try_for_each(|stream| self.begun.hold(&stream.0))?;
        for number in 0..count {
            work(number, Branch::of(&self.streams[number % self.streams.len()]))?;
        }
        for (stream, ended) in self.streams.iter().zip(&self.ended) {
            ended.record_in(&stream.0)?;
            ended.hold(self.gpu.compute())?;
        }
        Ok(())
    }
}
