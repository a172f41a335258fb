//! Times of the steps on the device.

use crate::backend::PhaseTime;
use crate::device::{Event, Gpu};
use crate::error::Result;

/// Times of the steps.
#[derive(Debug)]
pub(super) struct Clock {
    /// Before, between and after the two phases of a timed step.
    marks: [Event; 3],
    /// A timed step is under way, whose times have not been read.
    pub(super) is_running: bool,
    /// Sums over the timed steps, s, and their number.
    advection: f64,
    microphysics: f64,
    timed: usize,
    together: BatchTimes,
}

/// Times of graphs of several steps, in which a step takes less than one by itself whose phases are timed.
#[derive(Debug)]
struct BatchTimes {
    /// Before and after the graph that is being timed, and its steps; 0 where none is.
    marks: [Event; 2],
    running: usize,
    /// Time of those that have been timed, s, and their steps.
    seconds: f64,
    timed: usize,
    /// Steps of all.
    all: usize,
}

impl Clock {
    pub(super) fn new(gpu: &Gpu) -> Result<Self> {
        let event = || Event::for_timing(gpu);
        let marks = [event()?, event()?];
        Ok(Self {
            marks: [event()?, event()?, event()?],
            is_running: false,
            advection: 0.0,
            microphysics: 0.0,
            timed: 0,
            together: BatchTimes { marks, running: 0, seconds: 0.0, timed: 0, all: 0 },
        })
    }

    /// Lets `launch` launch a graph of several steps, which is timed unless another one is.
    pub(super) fn time(
        &mut self,
        gpu: &Gpu,
        steps: usize,
        launch: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let BatchTimes { marks: [start, end], running, all, .. } = &mut self.together;
        *all += steps;
        if *running > 0 {
            return launch();
        }
        start.record(gpu)?;
        launch()?;
        *running = steps;
        end.record(gpu)
    }

    /// Counts steps anew.
    pub(super) fn restart(&mut self) {
        self.together.all = 0;
    }

    /// Records one of the marks between the phases of a timed step; nothing in other steps.
    pub(super) fn mark(&self, number: usize, is_timed: bool) -> Result<()> {
        if is_timed { self.marks[number].record_in_graph() } else { Ok(()) }
    }

    /// Times of transport and microphysics in so many steps. The timed steps stand for all, but that those of graphs of
    /// several take as long as the timed ones of these.
    pub(super) fn times(&self, steps: usize) -> [PhaseTime; 2] {
        let mean = |sum: f64, count: usize| if count == 0 { 0.0 } else { sum / count as f64 };
        let phases = [self.advection, self.microphysics].map(|sum| mean(sum, self.timed));
        let BatchTimes { seconds, timed, all, .. } = self.together;
        let single: f64 = phases.iter().sum();
        let in_graph = if timed == 0 { single } else { mean(seconds, timed) };
        let whole = (steps - all) as f64 * single + all as f64 * in_graph;
        let of_phase = |part: f64| if single > 0.0 { whole * part / single } else { 0.0 };
        phases.map(|part| PhaseTime::on_device(of_phase(part), 0.0))
    }

    /// Takes the times of a timed step, and of a timed graph of several, when it is done.
    pub(super) fn read(&mut self) -> Result<()> {
        let [start, between, end] = &self.marks;
        if self.is_running && end.is_reached()? {
            self.advection += between.since(start)?;
            self.microphysics += end.since(between)?;
            self.timed += 1;
            self.is_running = false;
        }
        let BatchTimes { marks: [start, end], running, seconds, timed, .. } = &mut self.together;
        if *running > 0 && end.is_reached()? {
            *seconds += end.since(start)?;
            *timed += *running;
            *running = 0;
        }
        Ok(())
    }
}
