//! Times of what the device does.

use crate::backend::{PhaseTime, PhaseTimes};
use crate::error::Result;
use crate::gpu::{Event, Gpu};

/// Times of what the device does.
#[derive(Debug)]
pub(super) struct Clock {
    /// Before, between and after the two phases of a timed step.
    pub(super) marks: [Event; 3],
    /// Whether a timed step has been asked for and not yet been read.
    pub(super) is_running: bool,
    /// Sums over the timed steps, s, and their number.
    advection: f64,
    microphysics: f64,
    timed: usize,
    /// Copies of input to the device, as the host had to wait for them, s.
    pub(super) upload: f64,
    /// Gathering and diagnosing frames.
    pub(super) gathering: [Event; 2],
    pub(super) gathered: f64,
}

impl Clock {
    pub(super) fn new(gpu: &Gpu) -> Result<Self> {
        let event = || Event::for_timing(gpu);
        Ok(Self {
            marks: [event()?, event()?, event()?],
            is_running: false,
            advection: 0.0,
            microphysics: 0.0,
            timed: 0,
            upload: 0.0,
            gathering: [event()?, event()?],
            gathered: 0.0,
        })
    }

    /// The times of all phases: those of the timed steps stand for all. `transfer` is what the
    /// copies of frames took.
    pub(super) fn times(&self, steps: usize, transfer: f64) -> PhaseTimes {
        let steps = steps as f64;
        let mean = |sum: f64| if self.timed == 0 { 0.0 } else { sum / self.timed as f64 };
        let phase = |kernel_s: f64, transfer_s: f64| PhaseTime {
            kernel_s,
            transfer_s: Some(transfer_s),
            total_s: kernel_s + transfer_s,
        };
        PhaseTimes {
            advection: phase(mean(self.advection) * steps, 0.0),
            microphysics: phase(mean(self.microphysics) * steps, 0.0),
            input: phase(0.0, self.upload),
            output: phase(self.gathered, transfer),
        }
    }

    /// Takes the times of a timed step when it is done.
    pub(super) fn read(&mut self) -> Result<()> {
        let [start, between, end] = &self.marks;
        if self.is_running && end.is_reached()? {
            self.advection += between.since(start)?;
            self.microphysics += end.since(between)?;
            self.timed += 1;
            self.is_running = false;
        }
        Ok(())
    }
}
