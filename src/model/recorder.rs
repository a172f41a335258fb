//! Frames of output and samples on their way from the backend to who takes them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ndarray::Array3;

use super::sink::PendingSamples;
use super::time_loop::Recording;
use super::{Frames, OutputSink, RunInput, RunPrecision};
use crate::backend::{Backend, CapturedFrame, CollectedOutput, FRAMES_IN_FLIGHT, Output};
use crate::diagnostics::frame::FrameFigures;
use crate::error::Result;
use crate::forcing::TimeInterpolant;
use crate::grid::Shape;
use crate::io::output::{PassThrough, Snapshot};
use crate::io::output_statistics::OutputStatistics;
use crate::io::restart::Saved;
use crate::time_steps::Plan;

/// Outputs on their way from the backend to the sink.
pub(super) struct Recorder<'a, R> {
    /// Fields of the input for the frames that the backend works at.
    pending: VecDeque<Shown<R>>,
    samples: PendingSamples<R>,
    sink: &'a mut dyn OutputSink<R>,
    /// `false` once the sink takes no more.
    is_wanted: bool,
    pub(super) spent: Duration,
    statistics: OutputStatistics,
    /// Requested steps.
    steps: usize,
    plan: &'a Plan,
    frames: Frames,
    shape: Shape,
    /// Water at the start of the first run, kg.
    start: Option<f64>,
    /// Amount of each passive tracer then, kg of dry air times its units.
    passive_start: Vec<f64>,
    /// When it is kept where the run stands, and the step at which it was last.
    restarts: Option<Frames>,
    saved: usize,
    /// Figures of the frames that the run is to tell of.
    pub(super) figures: Vec<FrameFigures>,
}

struct Shown<R> {
    step: usize,
    prescribed: Shows<R>,
}

/// Fields of the input that a frame of output shows.
pub(super) struct Shows<R> {
    /// Time since the start, s.
    seconds: f64,
    winds: Arc<[Array3<R>; 3]>,
    given: Arc<PassThrough>,
    /// `true` where all frames show the same.
    lasts: bool,
}

impl<R: RunPrecision> Shows<R> {
    /// Those of a case that was set to this time.
    pub(super) fn at(case: &RunInput<R>, seconds: f64) -> Self {
        let (winds, given) = (Arc::clone(&case.winds), Arc::clone(&case.given));
        Self { seconds, winds, given, lasts: !case.has_sequence() }
    }
}

/// A frame of output and its figures, out of what a backend makes and what it shows of the input; `dt` is the time
/// step, s, and `start` the water at the start, kg.
pub(super) fn snapshot<R: RunPrecision>(
    captured: CapturedFrame<R>,
    shows: Shows<R>,
    shape: Shape,
    dt: f64,
    start: f64,
) -> (FrameFigures, Snapshot<R>) {
    let CapturedFrame { state, diagnostics, surface, summary } = captured;
    let Shows { seconds, winds, given, lasts } = shows;
    let figures = FrameFigures::new(&summary, state.set(), shape, seconds, dt, start);
    let frame = Snapshot {
        seconds,
        state,
        winds,
        diagnostics,
        surface,
        contents: summary.contents,
        profiles: figures.profiles(),
        max_courant: figures.courant.value,
        given,
        lasts,
    };
    (figures, frame)
}

impl<'a, R: RunPrecision> Recorder<'a, R> {
    pub(super) fn new(
        sink: &'a mut dyn OutputSink<R>,
        samples: PendingSamples<R>,
        case: &RunInput<R>,
        (plan, frames): (&'a Plan, Frames),
        passive_start: Vec<f64>,
    ) -> Self {
        let pending = VecDeque::with_capacity(FRAMES_IN_FLIGHT);
        let (restarts, statistics) = (sink.restarts(), sink.statistics());
        Self {
            pending,
            samples,
            sink,
            is_wanted: true,
            spent: Duration::ZERO,
            statistics,
            steps: 0,
            plan,
            frames,
            shape: case.domain.grid.shape,
            start: case.history.as_ref().map(|history| history.water_start),
            passive_start,
            restarts,
            saved: 0,
            figures: Vec::new(),
        }
    }

    /// Hands over where the run stands after a step, which may be its last one, where that is wanted and
    /// was not done yet.
    pub(super) fn save(
        &mut self,
        case: &RunInput<R>,
        backend: &mut dyn Backend<R>,
        step: usize,
        is_last: bool,
    ) -> Result<()> {
        if self.restarts.is_none() || step == self.saved {
            return Ok(());
        }
        self.collect(backend, true)?;
        let (start, _busy) = (Instant::now(), self.statistics.busy());
        if let Some(water_start) = self.start.filter(|_| self.is_wanted) {
            // A checkpoint does not depend on a moment.
            backend.capture(Output::Checkpoint(step), &TimeInterpolant::lasting(&case.forcing))?;
            let checkpoint = backend.collect(Output::Checkpoint(step), true)?;
            let Some(checkpoint) = checkpoint.and_then(CollectedOutput::checkpoint) else {
                return Ok(());
            };
            let (number, reports) = case.passed();
            let past = self.plan.past_after(step);
            let seconds = self.plan.time_after(step);
            let passive_start = self.passive_start.clone();
            let saved = Saved {
                checkpoint,
                past,
                seconds,
                number,
                reports,
                water_start,
                passive_start,
                is_last,
            };
            self.is_wanted &= self.sink.take_restart(saved);
            self.saved = step;
        }
        self.spent += start.elapsed();
        Ok(())
    }

    fn begin(
        &mut self,
        case: &mut RunInput<R>,
        backend: &mut dyn Backend<R>,
        step: usize,
    ) -> Result<()> {
        let (plan, frames) = (self.plan, self.frames);
        let is_frame = frames.due(plan, step) || (frames.after_first && step == 1);
        let probes: Vec<usize> = (0..self.samples.len())
            .filter(|probe| self.samples.frames(*probe).due(plan, step))
            .collect();
        let are_columns = self.samples.columns().is_some_and(|frames| frames.due(plan, step));
        if !is_frame && probes.is_empty() && !are_columns {
            return Ok(());
        }
        if is_frame && self.pending.len() == FRAMES_IN_FLIGHT {
            self.collect_frame(backend, true)?;
        }
        for &probe in &probes {
            if self.samples.is_full(probe) {
                self.collect_sample(backend, probe, true)?;
            }
        }
        if are_columns && self.samples.are_columns_full() {
            self.collect_columns(backend, true)?;
        }
        let (start, _busy) = (Instant::now(), self.statistics.busy());
        let seconds = plan.time_after(step);
        let moment = case.show(seconds)?;
        for probe in probes {
            self.samples.begin(probe, case, &moment, backend, seconds)?;
        }
        if are_columns {
            self.samples.begin_columns(case, &moment, backend, seconds)?;
        }
        if is_frame {
            backend.capture(Output::Frame(0), &moment)?;
            self.pending.push_back(Shown { step, prescribed: Shows::at(case, seconds) });
        }
        self.spent += start.elapsed();
        Ok(())
    }

    /// Sends on what is ready; with `wait`, all that is under way.
    pub(super) fn collect(&mut self, backend: &mut dyn Backend<R>, wait: bool) -> Result<()> {
        while self.collect_frame(backend, wait)? && wait {}
        while self.collect_columns(backend, wait)? && wait {}
        for probe in 0..self.samples.len() {
            while self.collect_sample(backend, probe, wait)? && wait {}
        }
        Ok(())
    }

    /// Sends the oldest frame on, if it is ready and is taken at once; returns whether it was. Until then it stays
    /// with the backend: a frame of a large grid takes memory wherever it is.
    fn collect_frame(&mut self, backend: &mut dyn Backend<R>, wait: bool) -> Result<bool> {
        if self.pending.is_empty() || !(wait || self.sink.is_free()) {
            return Ok(false);
        }
        let (start, _busy) = (Instant::now(), self.statistics.busy());
        self.sink.wait();
        let captured = backend.collect(Output::Frame(0), wait)?.and_then(CollectedOutput::frame);
        let Some(captured) = captured else { return Ok(false) };
        if let Some(Shown { step, prescribed }) = self.pending.pop_front() {
            let start = *self.start.get_or_insert(captured.summary.water);
            let (figures, frame) = snapshot(captured, prescribed, self.shape, self.plan.dt, start);
            if self.frames.due(self.plan, step) {
                self.figures.push(figures);
            }
            self.is_wanted &= self.sink.frame(step, frame);
        }
        self.spent += start.elapsed();
        Ok(true)
    }

    /// Sends the oldest columns on, if they are ready; returns whether they were.
    fn collect_columns(&mut self, backend: &mut dyn Backend<R>, wait: bool) -> Result<bool> {
        let (start, _busy) = (Instant::now(), self.statistics.busy());
        let columns = self.samples.collect_columns(backend, wait)?;
        let are_complete = columns.is_some();
        if let Some(columns) = columns {
            if !columns.is_finite() {
                backend.check(self.steps, true)?;
            }
            self.is_wanted &= self.sink.take_columns(columns);
        }
        self.spent += start.elapsed();
        Ok(are_complete)
    }

    /// Sends the oldest sample of a probe on, if it is ready; returns whether it was.
    fn collect_sample(
        &mut self,
        backend: &mut dyn Backend<R>,
        probe: usize,
        wait: bool,
    ) -> Result<bool> {
        let (start, _busy) = (Instant::now(), self.statistics.busy());
        let sample = self.samples.collect(probe, backend, wait)?;
        let is_complete = sample.is_some();
        if let Some(sample) = sample {
            if !sample.is_finite() {
                backend.check(self.steps, true)?;
            }
            self.is_wanted &= self.sink.sample(probe, sample);
        }
        self.spent += start.elapsed();
        Ok(is_complete)
    }
}

impl<R: RunPrecision> Recording<R> for Recorder<'_, R> {
    /// Begins the outputs that are due; waits for the oldest in flight where there are too many, and for all of them
    /// where a checkpoint is due.
    fn record(
        &mut self,
        case: &mut RunInput<R>,
        backend: &mut dyn Backend<R>,
        step: usize,
    ) -> Result<bool> {
        self.steps = step;
        self.begin(case, backend, step)?;
        if self.restarts.is_some_and(|restarts| restarts.due(self.plan, step)) {
            self.save(case, backend, step, step == self.plan.steps)?;
        }
        if step > 0 {
            self.collect(backend, false)?;
        }
        Ok(self.is_wanted)
    }
}
