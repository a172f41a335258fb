//! Where the steps are computed.
//!
//! A [`Backend`] holds the state for the whole run, and what drives it. It may run ahead of its
//! caller: a step, or a frame of output, is asked for and need not be done when the call returns.

mod chemist;
pub mod cpu;
mod finite;
#[cfg(feature = "gpu")]
pub mod gpu;
mod margins;
pub mod members;
mod microphysics;
mod observed;
mod operators;
mod present;
mod region;
mod shift;
mod summary;
mod turned;

use serde::Serialize;

use crate::advection::flux::FluxConstants;
use crate::error::Result;
use crate::forcing::Moment;
use crate::physics::kessler;
use crate::state::{ChemistryTally, CloudDiagnostics, State, Surface, TracerChange};
pub use crate::state::{Gathered, SPECIES, Standing, WaterChange};
use crate::wsm5;
pub use finite::check_finite;
pub use margins::Margins;
pub use microphysics::Microphysics;
pub use observed::{Attached, Observed, PRODUCT_PLANES, PRODUCT_VOLUMES, Products, Profiles};
pub use region::Region;
pub use shift::Shift;
pub use summary::Summary;

/// A precision that the transport and all schemes of microphysics can be run in.
pub trait Computing: FluxConstants + wsm5::Vectorised + kessler::Vectorised {}

impl<R: FluxConstants + wsm5::Vectorised + kessler::Vectorised> Computing for R {}

/// Frames of output that a backend may be asked for before the first of them is collected.
pub const FRAMES_IN_FLIGHT: usize = 2;

/// One interface to CPU and GPU.
///
/// The order of a run: [`restore`](Backend::restore) where the state of the constructor is not
/// the one to start from; then, step by step, [`drive`](Backend::drive), [`step`](Backend::step)
/// and [`check`](Backend::check); where output is due [`capture`](Backend::capture), and
/// [`collect`](Backend::collect) whenever there is time for it. The sums at the end wait for all
/// that was asked for.
///
/// # Errors
///
/// Any method of a backend on a device fails with [`Error::Gpu`](crate::error::Error::Gpu) when
/// the device does, be it in what an earlier call asked for.
pub trait Backend<R>: Observed<R> {
    /// What it is, as `--backend` takes it.
    fn kind(&self) -> &'static str;

    /// Where it computes, for the head of a table: `CPU, 2 threads, ...`.
    fn describe(&self) -> String;

    /// Name of the device: what its maker calls it.
    fn device(&self) -> String;

    /// Goes back to a state: nothing fallen, no change of water, no frame in flight. Times go on.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn restore(&mut self, state: &State<R>) -> Result<()>;

    /// Takes over what an earlier run has gathered; called right after [`restore`](Backend::restore).
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn resume(&mut self, gathered: &Gathered<R>) -> Result<()>;

    /// Where the run stands after the steps asked for, of which `step` is the last; of a part of a grid in its
    /// owned cells. Waits for them.
    ///
    /// # Errors
    ///
    /// [`BlowUp`](crate::error::Error::BlowUp) where a field is not finite, and those of the device.
    fn standing(&mut self, step: usize) -> Result<Standing<R>>;

    /// Sets what drives the steps from here on.
    ///
    /// A backend that copies the frames does so only when [`Moment::number`] changes.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn drive(&mut self, moment: &Moment<R>) -> Result<()>;

    /// One time step of `dt` seconds: transport, then microphysics.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn step(&mut self, dt: f64) -> Result<()>;

    /// Fails where a field has become infinite or not a number. `step` is the number of the last
    /// step that was asked for, counted from 1.
    ///
    /// Called after every step. A backend that runs ahead looks at what is known already, unless
    /// it is to `wait` for all that was asked for; the error names the step in any case.
    ///
    /// # Errors
    ///
    /// [`BlowUp`](crate::error::Error::BlowUp), and those of the device.
    fn check(&mut self, step: usize, wait: bool) -> Result<()>;

    /// Begins a frame of output: the state as it is after the steps asked for, what is diagnosed
    /// from it in the air of `moment`, what has fallen, and what all this amounts to in the winds of
    /// the moment.
    ///
    /// Air and winds of the moment stay until the next [`drive`](Backend::drive).
    ///
    /// # Errors
    ///
    /// Those of the device.
    ///
    /// # Panics
    ///
    /// With [`FRAMES_IN_FLIGHT`] frames begun and none collected.
    fn capture(&mut self, moment: &Moment<R>) -> Result<()>;

    /// Hands over the oldest frame that was begun; `None` when it is not ready yet, or when there
    /// is none. With `wait` it waits for it.
    ///
    /// Frames that were ready before a later step failed can be collected still. A frame with a
    /// value that is not finite is never handed over.
    ///
    /// # Errors
    ///
    /// [`BlowUp`](crate::error::Error::BlowUp), and those of the device.
    fn collect(&mut self, wait: bool) -> Result<Option<Captured<R>>>;

    /// Water inside the specified and open rows, kg.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn water(&mut self) -> Result<f64>;

    /// Its changes since the state was set, kg.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn water_changes(&mut self) -> Result<WaterChange>;

    /// The amount of each passive tracer inside the specified and open rows, and its changes since the state was
    /// set.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn passive(&mut self) -> Result<Vec<TracerAmount>>;

    /// What the chemistry has done since the state was set; `None` without chemistry.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn chemistry(&mut self) -> Result<Option<ChemistryTally>> {
        Ok(None)
    }

    /// Precipitation inside the specified and open rows since the state was set.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn precipitation(&mut self) -> Result<Precipitation>;

    /// Time spent since the backend was made.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn times(&mut self) -> Result<PhaseTimes>;
}

/// A frame of output, as far as a backend makes it: the owned cells of a part of a grid.
#[derive(Clone, Debug)]
pub struct Captured<R> {
    /// What moves with the air.
    pub state: State<R>,
    /// Reflectivity and effective radii.
    pub diagnostics: CloudDiagnostics<R>,
    /// What has fallen.
    pub surface: Surface<R>,
    /// What all this amounts to.
    pub summary: Summary<R>,
}

/// A passive tracer inside the specified and open rows, kg of dry air times its units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TracerAmount {
    /// Present amount.
    pub amount: f64,
    /// Its changes.
    pub change: TracerChange,
}

/// Precipitation, mm.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Precipitation {
    /// Mean over the area inside the specified and open rows.
    pub mean: f64,
    /// Mean of its frozen part.
    pub frozen_mean: f64,
    /// The most of any column.
    pub most: f64,
}

/// Time of a phase, s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PhaseTime {
    /// What was computed; on the CPU the whole phase.
    pub kernel_s: f64,
    /// Copies between host and device; `None` where there is no device.
    pub transfer_s: Option<f64>,
    /// All of it, as the caller had to wait or would have had to.
    pub total_s: f64,
}

impl PhaseTime {
    /// Adds time that was spent computing on the host.
    pub fn add_host(&mut self, seconds: f64) {
        self.kernel_s += seconds;
        self.total_s += seconds;
    }

    /// The time since another reading of the same clocks.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            kernel_s: self.kernel_s - before.kernel_s,
            transfer_s: self.transfer_s.map(|x| x - before.transfer_s.unwrap_or(0.0)),
            total_s: self.total_s - before.total_s,
        }
    }

    /// Both one after the other.
    pub fn plus(&self, other: &Self) -> Self {
        let transfer_s = match (self.transfer_s, other.transfer_s) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        };
        Self {
            kernel_s: self.kernel_s + other.kernel_s,
            transfer_s,
            total_s: self.total_s + other.total_s,
        }
    }
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
    /// What drives the steps: frames of the input, and what lies between them.
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
