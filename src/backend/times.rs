//! Times of the phases of a run.

use serde::{Deserialize, Serialize};

/// Time of a phase, s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PhaseTime {
    /// Computation; on the CPU the whole phase.
    pub kernel_s: f64,
    /// Copies between host and device; `None` where there is no device.
    pub transfer_s: Option<f64>,
    /// Total, as the wait of a caller that needs the result.
    pub total_s: f64,
}

impl PhaseTime {
    /// Time of computation on a device and of copies.
    #[cfg(feature = "gpu")]
    pub(crate) fn on_device(kernel_s: f64, transfer_s: f64) -> Self {
        Self { kernel_s, transfer_s: Some(transfer_s), total_s: kernel_s + transfer_s }
    }

    /// Adds time that was spent computing on the host.
    pub(crate) fn add_host(&mut self, seconds: f64) {
        self.kernel_s += seconds;
        self.total_s += seconds;
    }

    /// The time since another reading of the same clocks.
    pub fn since(&self, before: &Self) -> Self {
        self.with(before, |now, before| now - before)
    }

    /// The sum of two phases.
    pub fn plus(&self, other: &Self) -> Self {
        self.with(other, |a, b| a + b)
    }

    fn with(&self, other: &Self, value: impl Fn(f64, f64) -> f64) -> Self {
        let transfer_s = match (self.transfer_s, other.transfer_s) {
            (None, None) => None,
            (a, b) => Some(value(a.unwrap_or(0.0), b.unwrap_or(0.0))),
        };
        Self {
            kernel_s: value(self.kernel_s, other.kernel_s),
            transfer_s,
            total_s: value(self.total_s, other.total_s),
        }
    }
}

/// Exchanges of margins between devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExchangeTimes {
    /// The way of the messages.
    pub way: String,
    /// Bandwidth of it from a device to another one, which sends as much at the same time, GB/s, if that was measured.
    pub gb_per_s: Option<f64>,
    /// Bytes that this device sends in a step.
    pub bytes: usize,
    /// Time of an exchange inside a step with its packing, s, where some were timed.
    pub mean_s: Option<f64>,
    /// Part of that time that the microphysics did not hide, s.
    pub exposed_s: Option<f64>,
}

/// Time spent in the phases of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PhaseTimes {
    /// Transport.
    pub advection: PhaseTime,
    /// Microphysics, with the sums of the water budget.
    pub microphysics: PhaseTime,
    /// Chemistry.
    pub chemistry: PhaseTime,
    /// Winds, air and boundary values of the steps: frames of the input and their interpolation.
    pub input: PhaseTime,
    /// Diagnostics and frames of output.
    pub output: PhaseTime,
}

impl PhaseTimes {
    /// The times since another reading of the same clocks.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            advection: self.advection.since(&before.advection),
            microphysics: self.microphysics.since(&before.microphysics),
            chemistry: self.chemistry.since(&before.chemistry),
            input: self.input.since(&before.input),
            output: self.output.since(&before.output),
        }
    }

    /// The phases of a step.
    pub fn steps(&self) -> PhaseTime {
        self.advection.plus(&self.microphysics).plus(&self.chemistry)
    }

    /// All phases.
    pub fn sum(&self) -> PhaseTime {
        self.steps().plus(&self.input).plus(&self.output)
    }
}
