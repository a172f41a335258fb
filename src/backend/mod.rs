//! The backends, which compute the steps.
//!
//! A [`Backend`] holds the states of all members for the whole run, and the winds that drive them. It may run ahead of
//! its caller: a call requests a step or a frame of output, and may return before it is complete.

mod budget_domain;
mod chemistry;
mod column_profiles;
pub mod cpu;
mod exact_budget;
#[cfg(feature = "gpu")]
pub mod gpu;
mod interpolation;
mod margins;
mod nan_check;
mod output;
pub mod ranks;
mod summary;
mod times;
mod ulp_perturbation;

use serde::Serialize;

use crate::advection::flux::FluxConstants;
use crate::constants::Constants;
use crate::error::Result;
use crate::forcing::TimeInterpolant;
use crate::physics::scheme::PhysicsPrecision;
pub use crate::state::{Accumulators, Checkpoint, WaterChange};
use crate::state::{ChemistryTally, State, TracerChange};
pub use budget_domain::BudgetDomain;
pub use margins::Neighbours;
pub use nan_check::check_finite;
pub use output::{CapturedFrame, CollectedOutput, Output, Products, Profiles, SamplingRequest};
pub use summary::Summary;
pub use times::{ExchangeTimes, PhaseTime, PhaseTimes};
pub use ulp_perturbation::UlpPerturbation;

/// A precision that the transport and the schemes of microphysics can be run in.
pub trait ComputePrecision: Constants + FluxConstants + PhysicsPrecision {}

impl<R: Constants + FluxConstants + PhysicsPrecision> ComputePrecision for R {}

/// Most frames of output that may be requested before the first of them is collected.
pub const FRAMES_IN_FLIGHT: usize = 2;

/// One interface to CPU and GPU, to one run and to the members of an ensemble: a run is an ensemble of one.
///
/// Winds, air and boundary values are the same for all members. A member gets the bits of a run by itself on the same
/// backend. Members are numbered from 0, in the order that the constructor took them in.
///
/// The order of a run: [`start`](Backend::start); then, step by step, [`drive`](Backend::drive),
/// [`step`](Backend::step) and [`check`](Backend::check); where output is due [`capture`](Backend::capture), and
/// [`collect`](Backend::collect) whenever there is time for it. [`account`](Backend::account) and
/// [`info`](Backend::info) wait for all requested steps and outputs.
///
/// # Errors
///
/// Any method of a backend on a device fails with [`Error::Gpu`](crate::error::Error::Gpu) when the device has failed,
/// possibly in work that an earlier call requested.
#[expect(clippy::missing_errors_doc, reason = "the errors of all methods are those of the trait")]
pub trait Backend<R> {
    /// Description of the backend, and the time spent since it was created.
    fn info(&mut self) -> Result<Info>;

    /// Begins a run from given states, optionally with the sums of an earlier run, and with the operators of its
    /// samples. Times continue to accumulate.
    ///
    /// # Panics
    ///
    /// When there are states, but not one for each member; when several members are to continue the sums of an earlier
    /// run; when an operator does not have as many columns as the grid, or there is not a weight for every cell.
    fn start(&mut self, start: RunStart<'_, R>) -> Result<()>;

    /// Sets the winds, air and boundary values of the steps from here on, for all members.
    ///
    /// A backend that copies the frames does so only when [`TimeInterpolant::number`] changes.
    fn drive(&mut self, moment: &TimeInterpolant<R>) -> Result<()>;

    /// One time step of `dt` seconds of all members: transport, then microphysics, then chemistry.
    fn step(&mut self, dt: f64) -> Result<()>;

    /// Fails if a field has become infinite or NaN. `step` is the number of the last requested step, counted from 1.
    ///
    /// Called after every step. A backend that runs ahead checks the steps that are complete, or with `wait` all
    /// requested steps; the error names the step in any case.
    ///
    /// # Errors
    ///
    /// [`BlowUp`](crate::error::Error::BlowUp), as [`Error::Member`](crate::error::Error::Member) with the number of
    /// the member where there are several, and those of the trait.
    fn check(&mut self, step: usize, wait: bool) -> Result<()>;

    /// Begins an output with the state after the requested steps, the precipitation, and the diagnostics from them in
    /// the air and winds of `moment`, which remain set until the next [`drive`](Backend::drive).
    ///
    /// # Errors
    ///
    /// Those of the trait; for a checkpoint also [`BlowUp`](crate::error::Error::BlowUp) where a field is not finite.
    ///
    /// # Panics
    ///
    /// With [`FRAMES_IN_FLIGHT`] outputs of this kind begun and none collected; for an operator or profiles that
    /// [`RunStart::attached`] did not name; for operators, profiles and checkpoints of one of several members.
    fn capture(&mut self, output: Output, moment: &TimeInterpolant<R>) -> Result<()>;

    /// Returns the oldest output of a kind that was begun; `None` if it is not complete yet, or none was begun. With
    /// `wait` it waits for the output. Frames are returned in the order in which they were begun, for all members.
    ///
    /// Frames that were complete before a later step failed can still be collected. A frame with a value that is not
    /// finite is never returned; products and profiles may contain one.
    ///
    /// # Errors
    ///
    /// [`BlowUp`](crate::error::Error::BlowUp), and those of the trait.
    ///
    /// # Panics
    ///
    /// When the oldest frame is that of another member.
    fn collect(&mut self, output: Output, wait: bool) -> Result<Option<CollectedOutput<R>>>;

    /// Amounts of water and tracers of a member inside the specified and open rows, and their changes since the start.
    fn account(&mut self, member: usize) -> Result<Account>;
}

/// Description of a backend.
#[derive(Clone, Debug)]
pub struct Info {
    /// Its kind: `cpu` or `gpu`.
    pub kind: &'static str,
    /// The device and its use, for the head of a table: `CPU, 2 threads, ...`.
    pub description: String,
    /// Name of the device, as the manufacturer gives it.
    pub device: String,
    /// Number of members.
    pub members: usize,
    /// Time spent since the backend was made, on all members together.
    pub times: PhaseTimes,
    /// Exchanges with other devices inside the steps, where some have been timed.
    pub exchange: Option<ExchangeTimes>,
}

/// The beginning of a run.
#[derive(Clone, Debug)]
pub struct RunStart<'a, R> {
    /// A state for each member: nothing fallen, no change of water, no output in flight. Without any, members continue
    /// from their present states.
    pub states: &'a [State<R>],
    /// Sums of an earlier run that ended in this state.
    pub gathered: Option<&'a Accumulators<R>>,
    /// Outputs that may be captured beside frames. Pending results of earlier ones are dropped.
    pub attached: SamplingRequest<R>,
}

impl<'a, R> RunStart<'a, R> {
    /// A run of one from its initial state, with frames alone for output.
    pub fn from(state: &'a State<R>) -> Self {
        let attached = SamplingRequest { operators: Vec::new(), weights: None };
        Self { states: std::slice::from_ref(state), gathered: None, attached }
    }
}

/// Amounts inside the specified and open rows, and their changes since the start.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Water, kg.
    pub water: f64,
    /// Its changes, kg.
    pub changes: WaterChange,
    /// Passive tracers.
    pub passive: Vec<TracerAmount>,
    /// Work of the chemistry; `None` without chemistry.
    pub chemistry: Option<ChemistryTally>,
    /// Precipitation.
    pub precipitation: Precipitation,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Precipitation {
    /// Mean over the area inside the specified and open rows.
    pub mean: f64,
    /// Mean of its frozen part.
    pub frozen_mean: f64,
    /// The most of any column.
    pub most: f64,
}
