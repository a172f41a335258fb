//! CUDA graphs (sequences of launches, recorded once and replayed) and events (marks in the order of work).

use cudarc::driver::sys::{CUevent, CUevent_flags, CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaGraph, CudaStream, DriverError, result, sys};

use super::gpu::{Gpu, failed};
use crate::error::{Error, Result};

/// Launches and copies on the device, replayed as one.
pub struct Graph {
    graph: CudaGraph,
}

// SAFETY: a graph may be used from any thread, one at a time, which `&mut self` guarantees.
unsafe impl Send for Graph {}

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
        const MODE: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.bind()?;
        let stream = self.compute();
        stream.begin_capture(MODE).map_err(failed("record a graph"))?;
        let outcome = work();
        let graph = stream.end_capture(CUgraphInstantiate_flags(0));
        outcome?;
        let graph = graph
            .map_err(failed("record a graph"))?
            .ok_or_else(|| Error::Gpu("a recorded graph is empty".to_owned()))?;
        graph.upload().map_err(failed("send a graph to the device"))?;
        Ok(Graph { graph })
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
        self.graph.launch().map_err(failed("launch a graph"))
    }
}

/// An event: a mark in the order of the device's work.
#[derive(Debug)]
pub struct Event {
    gpu: Gpu,
    event: CUevent,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Event {}

impl Event {
    /// An event without timing.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`], as all below, when the device has failed.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Self::create(gpu, CUevent_flags::CU_EVENT_DISABLE_TIMING)
    }

    /// An event with timing.
    pub(crate) fn for_timing(gpu: &Gpu) -> Result<Self> {
        Self::create(gpu, CUevent_flags::CU_EVENT_DEFAULT)
    }

    fn create(gpu: &Gpu, flags: CUevent_flags) -> Result<Self> {
        gpu.bind()?;
        let event = result::event::create(flags).map_err(failed("make an event"))?;
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

    /// Records the event after all kernels queued so far. In a graph that is being recorded, the event is recorded at
    /// every replay.
    pub(crate) fn record_in_graph(&self) -> Result<()> {
        const OUTSIDE: u32 = sys::CUevent_record_flags_enum::CU_EVENT_RECORD_EXTERNAL as u32;
        self.gpu.bind()?;
        // SAFETY: event and stream belong to the same device and live.
        unsafe { sys::cuEventRecordWithFlags(self.event, self.gpu.compute().cu_stream(), OUTSIDE) }
            .result()
            .map_err(failed("record an event in a graph"))
    }

    /// Records the event after all work queued on a stream so far.
    pub(crate) fn record_in(&self, stream: &CudaStream) -> Result<()> {
        self.gpu.bind()?;
        // SAFETY: event and stream belong to the same device and live.
        unsafe { result::event::record(self.event, stream.cu_stream()) }
            .map_err(failed("record an event"))
    }

    /// Makes the work queued on a stream from now on wait for the event.
    pub(crate) fn hold(&self, stream: &CudaStream) -> Result<()> {
        self.gpu.bind()?;
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: event and stream belong to the same device and live.
        unsafe { result::stream::wait_event(stream.cu_stream(), self.event, flags) }
            .map_err(failed("wait for an event"))
    }

    /// Waits on the host until the device has reached the event.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when work before the event has failed.
    pub fn wait(&self) -> Result<()> {
        self.gpu.bind()?;
        // SAFETY: the event lives.
        unsafe { result::event::synchronize(self.event) }
            .map_err(failed("finish the work on the device"))
    }

    /// Returns `true` if the device has reached the event.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when work before the event has failed.
    pub fn is_reached(&self) -> Result<bool> {
        self.gpu.bind()?;
        // SAFETY: the event lives.
        match unsafe { result::event::query(self.event) } {
            Ok(()) => Ok(true),
            Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_READY)) => Ok(false),
            Err(error) => Err(failed("finish the work on the device")(error)),
        }
    }

    /// Time from an earlier event to this one, s. Both must be events with timing.
    pub(crate) fn since(&self, start: &Self) -> Result<f64> {
        self.gpu.bind()?;
        // SAFETY: both events live.
        unsafe { result::event::elapsed(start.event, self.event) }
            .map(|milliseconds| 1e-3 * f64::from(milliseconds))
            .map_err(failed("read the time between two events"))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.gpu.bind().is_ok() {
            // SAFETY: the event was made once and is destroyed once.
            let _ = unsafe { result::event::destroy(self.event) };
        }
    }
}
