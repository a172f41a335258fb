//! CUDA graphs (sequences of launches, recorded once and replayed) and events (marks in the order of work).

use super::branch::Branch;
use super::driver::{Handle, failed};
use super::gpu::Gpu;
use super::stream::Stream;
use crate::error::{Error, Result};

/// Launches and copies on the device, replayed as one.
pub struct Graph {
    gpu: Gpu,
    graph: Handle,
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Graph")
    }
}

impl Gpu {
    /// Records the launches and copies that `work` queues, without running them.
    ///
    /// # Errors
    ///
    /// Those of `work`, and [`Error::Gpu`] when it queues an operation that cannot be recorded.
    pub fn capture(&self, work: impl FnOnce() -> Result<()>) -> Result<Graph> {
        let (driver, stream) = (self.driver(), self.compute().handle());
        driver.begin_capture(stream).map_err(failed("record a graph"))?;
        let outcome = work();
        let graph = driver.end_capture(stream);
        outcome?;
        let graph = graph
            .map_err(failed("record a graph"))?
            .ok_or_else(|| Error::Gpu("a recorded graph is empty".to_owned()))?;
        Ok(Graph { gpu: self.clone(), graph })
    }

    /// Time that the device takes for the work that `work` queues, s.
    ///
    /// # Errors
    ///
    /// Those of `work`, and [`Error::Gpu`].
    pub fn elapsed(&self, work: impl FnOnce() -> Result<()>) -> Result<f64> {
        let start = Event::for_timing(self)?;
        let end = Event::for_timing(self)?;
        start.record(self)?;
        work()?;
        end.record(self)?;
        end.wait()?;
        end.since(&start)
    }
}

impl Graph {
    /// Queues the recorded work.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the launch is refused; a failure while it runs shows up later.
    pub fn launch(&mut self) -> Result<()> {
        let stream = self.gpu.compute().handle();
        self.gpu.driver().replay(stream, self.graph).map_err(failed("launch a graph"))
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        self.gpu.driver().end_graph(self.graph);
    }
}

/// An event: a mark in the order of the device's work.
#[derive(Debug)]
pub struct Event {
    gpu: Gpu,
    event: Handle,
}

impl Event {
    /// An event without timing.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`], as all below, when the device has failed.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Self::create(gpu, false)
    }

    /// An event with timing.
    pub(crate) fn for_timing(gpu: &Gpu) -> Result<Self> {
        Self::create(gpu, true)
    }

    fn create(gpu: &Gpu, has_timing: bool) -> Result<Self> {
        let event = gpu.driver().event(has_timing).map_err(failed("make an event"))?;
        Ok(Self { gpu: gpu.clone(), event })
    }

    /// Records the event after all kernels queued so far.
    ///
    /// # Errors
    ///
    /// As [`Event::new`].
    pub fn record(&self, gpu: &Gpu) -> Result<()> {
        self.record_in(gpu.compute())
    }

    /// Records the event after all work queued in a branch so far. In a graph that is being recorded, the event is recorded at
    /// every replay.
    pub(crate) fn record_in_graph(&self, branch: Branch<'_>) -> Result<()> {
        let stream = branch.stream_of(&self.gpu).handle();
        let recorded = self.gpu.driver().record(self.event, stream, true);
        recorded.map_err(failed("record an event in a graph"))
    }

    /// Records the event after all work queued on a stream so far.
    pub(crate) fn record_in(&self, stream: &Stream) -> Result<()> {
        let recorded = self.gpu.driver().record(self.event, stream.handle(), false);
        recorded.map_err(failed("record an event"))
    }

    /// Makes the work queued on a stream from now on wait for the event.
    pub(crate) fn hold(&self, stream: &Stream) -> Result<()> {
        self.gpu.driver().hold(stream.handle(), self.event).map_err(failed("wait for an event"))
    }

    /// Waits on the host until the device has reached the event.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when work before the event has failed.
    pub fn wait(&self) -> Result<()> {
        self.gpu.driver().wait(self.event).map_err(failed("finish the work on the device"))
    }

    /// Returns `true` if the device has reached the event.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when work before the event has failed.
    pub fn is_reached(&self) -> Result<bool> {
        let reached = self.gpu.driver().is_reached(self.event);
        reached.map_err(failed("finish the work on the device"))
    }

    /// Time from an earlier event to this one, s. Both must be events with timing.
    pub(crate) fn since(&self, start: &Self) -> Result<f64> {
        let seconds = self.gpu.driver().seconds(start.event, self.event);
        seconds.map_err(failed("read the time between two events"))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        self.gpu.driver().end_event(self.event);
    }
}
