//! Frames of output and samples on their way from the backend to who takes them.

use std::time::{Duration, Instant};

use tracing::debug;

use super::streams::{Prescribed, Stream, snapshot, with_products, with_profiles};
use super::time_loop::{Recording, Run};
use super::{Frames, OutputSink, RunInput, RunPrecision};
use crate::backend::{CollectedOutput, FRAMES_IN_FLIGHT, Output};
use crate::diagnostics::frame::FrameFigures;
use crate::error::Result;
use crate::forcing::TimeInterpolant;
use crate::frame::{Saved, output_statistics::OutputStatistics};

/// Outputs on their way from the backend to the sink.
pub(super) struct Recorder<'a, R> {
    streams: Vec<Stream<R>>,
    sink: &'a mut dyn OutputSink<R>,
    /// `false` once the sink takes no more.
    is_wanted: bool,
    pub(super) spent: Duration,
    statistics: OutputStatistics,
    /// Requested steps.
    steps: usize,
    frames: Frames,
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

impl<'a, R: RunPrecision> Recorder<'a, R> {
    pub(super) fn new(
        sink: &'a mut dyn OutputSink<R>,
        streams: Vec<Stream<R>>,
        case: &RunInput<R>,
        frames: Frames,
        passive_start: Vec<f64>,
    ) -> Self {
        let (restarts, statistics) = (sink.restarts(), sink.statistics());
        Self {
            streams,
            sink,
            is_wanted: true,
            spent: Duration::ZERO,
            statistics,
            steps: 0,
            frames,
            start: case.history.as_ref().map(|history| history.water_start),
            passive_start,
            restarts,
            saved: 0,
            figures: Vec::new(),
        }
    }

    /// Hands over where the run stands after a step, which may be its last one, where that is wanted and
    /// was not done yet.
    pub(super) fn save(&mut self, run: &mut Run<'_, R>, step: usize, is_last: bool) -> Result<()> {
        if self.restarts.is_none() || step == self.saved {
            return Ok(());
        }
        self.collect(run, true)?;
        let (start, _busy) = (Instant::now(), self.statistics.busy());
        if let Some(water_start) = self.start.filter(|_| self.is_wanted) {
            // A checkpoint does not depend on a moment.
            let Run { case, plan, backend } = run;
            backend.capture(Output::Checkpoint(step), &TimeInterpolant::lasting(&case.forcing))?;
            let checkpoint = backend.collect(Output::Checkpoint(step), true)?;
            let Some(checkpoint) = checkpoint.and_then(CollectedOutput::checkpoint) else {
                return Ok(());
            };
            let (number, reports) = case.passed();
            self.is_wanted &= self.sink.take_restart(Saved {
                checkpoint,
                past: plan.past_after(step),
                seconds: plan.time_after(step),
                number,
                reports,
                water_start,
                passive_start: self.passive_start.clone(),
                is_last,
            });
            self.saved = step;
        }
        self.spent += start.elapsed();
        Ok(())
    }

    fn begin(&mut self, run: &mut Run<'_, R>, step: usize) -> Result<()> {
        let all = 0..self.streams.len();
        let due: Vec<usize> = all.filter(|n| self.streams[*n].is_due(run.plan, step)).collect();
        if due.is_empty() {
            return Ok(());
        }
        for &number in &due {
            if self.streams[number].in_flight.len() == FRAMES_IN_FLIGHT {
                self.collect_one(run, number, true)?;
            }
        }
        let (start, _busy) = (Instant::now(), self.statistics.busy());
        let seconds = run.plan.time_after(step);
        let moment = run.case.show(seconds)?;
        for number in due {
            let stream = &mut self.streams[number];
            run.backend.capture(stream.output, &moment)?;
            let prescribed = stream.prescribed(run.case, step, seconds);
            stream.in_flight.push_back(prescribed);
        }
        self.spent += start.elapsed();
        Ok(())
    }

    /// Sends on what is ready; with `wait`, all that is under way. Frames are the first.
    pub(super) fn collect(&mut self, run: &mut Run<'_, R>, wait: bool) -> Result<()> {
        for number in (0..self.streams.len()).rev() {
            while self.collect_one(run, number, wait)? && wait {}
        }
        Ok(())
    }

    /// Sends the oldest output of a stream on, if it is ready; returns whether it was. A frame stays with the backend
    /// until the sink takes it at once: a frame of a large grid takes memory wherever it is.
    fn collect_one(&mut self, run: &mut Run<'_, R>, number: usize, wait: bool) -> Result<bool> {
        let Run { case, plan, backend } = run;
        let Stream { output, in_flight, .. } = &mut self.streams[number];
        let is_frame = matches!(output, Output::Frame(_));
        if in_flight.is_empty() || (is_frame && !wait && !self.sink.is_free()) {
            return Ok(false);
        }
        let (start, _busy) = (Instant::now(), self.statistics.busy());
        if is_frame {
            self.sink.wait();
        }
        let Some(collected) = backend.collect(*output, wait)? else { return Ok(false) };
        self.is_wanted &= match (in_flight.pop_front(), collected) {
            (Some(Prescribed::Frame(step, shows)), CollectedOutput::Frame(captured)) => {
                debug!("the frame after step {step} is on the host");
                let start = *self.start.get_or_insert(captured.summary.water);
                let (figures, frame) = snapshot(*captured, shows, case, plan.dt, start);
                if self.frames.due(plan, step) {
                    self.figures.push(figures);
                }
                self.sink.frame(step, frame)
            }
            (Some(Prescribed::Columns(columns)), CollectedOutput::Profiles(profiles)) => {
                let columns = with_profiles(columns, profiles);
                if !columns.is_finite() {
                    backend.check(self.steps, true)?;
                }
                self.sink.take_columns(columns)
            }
            (Some(Prescribed::Sample(probe, sample)), CollectedOutput::Products(products)) => {
                let sample = with_products(*sample, products);
                if !sample.is_finite() {
                    backend.check(self.steps, true)?;
                }
                self.sink.sample(probe, sample)
            }
            _ => unreachable!("a backend returns the output that was begun"),
        };
        self.spent += start.elapsed();
        Ok(true)
    }
}

impl<R: RunPrecision> Recording<R> for Recorder<'_, R> {
    /// Begins the outputs that are due; waits for the oldest in flight where there are too many, and for all of them
    /// where a checkpoint is due.
    fn record(&mut self, run: &mut Run<'_, R>, step: usize) -> Result<bool> {
        self.steps = step;
        self.begin(run, step)?;
        if self.restarts.is_some_and(|restarts| restarts.due(run.plan, step)) {
            self.save(run, step, step == run.plan.steps)?;
        }
        if step > 0 {
            self.collect(run, false)?;
        }
        Ok(self.is_wanted)
    }
}
