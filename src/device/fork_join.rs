//! Streams besides those of a run, and their fork and join: branches of work that the device may run concurrently.

use super::branch::Branch;
use super::gpu::Gpu;
use super::graph::Event;
use super::stream::Stream;
use crate::error::Result;

/// Most branches: a device hardly ever runs more kernels at a time.
const MOST: usize = 32;

/// Streams beside that of the kernels.
#[derive(Debug)]
pub(crate) struct ForkJoin {
    gpu: Gpu,
    streams: Vec<Stream>,
    begun: Event,
    ended: Vec<Event>,
}

/// A stream beside that of the kernels, whose work the device begins first where both could go on.
#[derive(Debug)]
pub(crate) struct SideStream {
    gpu: Gpu,
    stream: Stream,
    begun: Event,
    ended: Event,
}

impl SideStream {
    /// Creates the stream.
    pub(crate) fn new(gpu: &Gpu) -> Result<Self> {
        let stream = Stream::preferred(gpu.driver())?;
        Ok(Self { gpu: gpu.clone(), stream, begun: Event::new(gpu)?, ended: Event::new(gpu)? })
    }

    /// Queues work on the side and, with it, work of the trunk: both after all work queued before, and before all work
    /// queued later. It may be recorded in a graph.
    pub(crate) fn beside(
        &self,
        aside: impl FnOnce(Branch<'_>) -> Result<()>,
        meanwhile: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        self.begun.record(&self.gpu)?;
        self.begun.hold(&self.stream)?;
        aside(Branch::of(&self.stream))?;
        meanwhile()?;
        self.ended.record_in(&self.stream)?;
        self.ended.hold(self.gpu.compute())
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
        self.streams.iter().try_for_each(|stream| self.begun.hold(stream))?;
        for number in 0..count {
            work(number, Branch::of(&self.streams[number % self.streams.len()]))?;
        }
        for (stream, ended) in self.streams.iter().zip(&self.ended) {
            ended.record_in(stream)?;
            ended.hold(self.gpu.compute())?;
        }
        Ok(())
    }
}
