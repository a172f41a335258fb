//! Times of what the device does.

use crate::backend::{PhaseTime, PhaseTimes};
use crate::device::{Event, Gpu};
use crate::error::Result;

/// Times of what the device does.
#[derive(Debug)]
pub(super) struct Clock {
    /// Before, between and after the two phases of a timed step.
    pub(super) marks: [Event; 3],
    /// A timed step is under way, whose times have not been read.
    pub(super) is_running: bool,
    /// Sums over the timed steps, s, and their number.
    advection: f64,
    microphysics: f64,
    timed: usize,
    together: BatchTimes,
    /// Copies of input to the device, as the host had to wait for them, s.
    pub(super) upload: f64,
    /// Gathering and diagnosing frames.
    pub(super) gathering: [Event; 2],
    pub(super) gathered: f64,
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
            upload: 0.0,
            gathering: [event()?, event()?],
            gathered: 0.0,
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

    /// The times of all phases. The timed steps stand for all, but that those of graphs of several take as long as
    /// the timed ones of these. `transfer` is what the copies of frames took.
    pub(super) fn times(&self, steps: usize, transfer: f64) -> PhaseTimes {
        let mean = |sum: f64, count: usize| if count == 0 { 0.0 } else { sum / count as f64 };
        let phases = [self.advection, self.microphysics].map(|sum| mean(sum, self.timed));
        let BatchTimes { seconds, timed, all, .. } = self.together;
        let single: f64 = phases.iter().sum();
        let in_graph = if timed == 0 { single } else { mean(seconds, timed) };
        let whole = (steps - all) as f64 * single + all as f64 * in_graph;
        let phase = |kernel_s: f64, transfer_s: f64| PhaseTime {
            kernel_s,
            transfer_s: Some(transfer_s),
            total_s: kernel_s + transfer_s,
        };
        let [advection, microphysics] =
            phases.map(|part| if single > 0.0 { whole * part / single } else { 0.0 });
        PhaseTimes {
            advection: phase(advection, 0.0),
            microphysics: phase(microphysics, 0.0),
            chemistry: PhaseTime::default(),
            input: phase(0.0, self.upload),
            output: phase(self.gathered, transfer),
        }
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
