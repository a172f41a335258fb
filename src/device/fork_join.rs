//! Streams besides those of a run, and their fork and join: branches of work that the device may run concurrently.

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

/// A branch: one of several concurrent streams, or the default stream.
#[derive(Clone, Copy, Debug)]
pub struct Branch<'a> {
    stream: Option<&'a Stream>,
}

impl<'a> Branch<'a> {
    /// The default stream, for work without a branch.
    pub const TRUNK: Branch<'static> = Branch { stream: None };

    /// Work in a stream.
    pub(crate) fn of(stream: &'a Stream) -> Self {
        Self { stream: Some(stream) }
    }

    /// Stream of the branch; `None` for the default stream.
    pub(super) fn stream(self) -> Option<&'a Stream> {
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
