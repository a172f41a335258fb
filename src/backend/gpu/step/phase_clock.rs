//! Times of the steps on the device.

use crate::backend::PhaseTime;
use crate::device::{Branch, Event, Gpu};
use crate::error::Result;

/// Marks in a timed step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Before the transport.
    Start,
    /// Between transport and microphysics.
    Between,
    /// After both.
    End,
    /// Before the exchange of margins.
    ExchangeStart,
    /// After it.
    ExchangeEnd,
    /// After the microphysics beside it.
    OthersEnd,
}

/// Number of the marks.
const MARKS: usize = 6;

/// Times of the steps.
#[derive(Debug)]
pub(super) struct Clock {
    /// Those of [`Mark`].
    marks: [Event; MARKS],
    /// Steps exchange margins.
    has_exchange: bool,
    /// A timed step is under way, whose times have not been read.
    pub(super) is_running: bool,
    /// Sums over the timed steps, s, and their number.
    advection: f64,
    microphysics: f64,
    /// Exchanges of margins, and what of them the microphysics did not hide.
    exchange: [f64; 2],
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
    /// A clock for steps, which exchange margins or not.
    pub(super) fn new(gpu: &Gpu, has_exchange: bool) -> Result<Self> {
        let event = || Event::for_timing(gpu);
        let marks = [event()?, event()?];
        Ok(Self {
            marks: [event()?, event()?, event()?, event()?, event()?, event()?],
            has_exchange,
            is_running: false,
            advection: 0.0,
            microphysics: 0.0,
            exchange: [0.0; 2],
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

    /// Records one of the marks of a timed step after the work of a branch; nothing in other steps.
    pub(super) fn mark(&self, mark: Mark, branch: Branch<'_>, is_timed: bool) -> Result<()> {
        if is_timed { self.marks[mark as usize].record_in_graph(branch) } else { Ok(()) }
    }

    /// Mean time of the timed exchanges of margins and of what was not hidden, s; `None` without any.
    pub(super) fn exchange(&self) -> Option<[f64; 2]> {
        let is_timed = self.has_exchange && self.timed > 0;
        is_timed.then(|| self.exchange.map(|sum| sum / self.timed as f64))
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
        let [start, between, end, exchange_start, exchange_end, others_end] = &self.marks;
        if self.is_running && end.is_reached()? {
            self.advection += between.since(start)?;
            self.microphysics += end.since(between)?;
            if self.has_exchange {
                let whole = exchange_end.since(exchange_start)?;
                let [all, exposed] = &mut self.exchange;
                *all += whole;
                *exposed += exchange_end.since(others_end)?.clamp(0.0, whole);
            }
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
