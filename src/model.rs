//! The time loop: from a state to the state an hour later.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ndarray::Array3;

use crate::backend::cpu::{Cpu, Forcing};
use crate::diagnostics::budget::Water;
use crate::diagnostics::check_finite;
use crate::error::{Error, Result};
use crate::io::output::{Given, Output, Snapshot};
use crate::io::wrf::{Domain, Frame, promote};
use crate::io::writer::Stored;
use crate::mass::{Winds, longest_time_step};
use crate::plan::Plan;
use crate::projection::{self, Report, vertical_velocity};
use crate::state::{BoundaryValues, CloudDiagnostics, State};
use crate::wsm5::radii::RadiusConstants;
use crate::wsm5::reflectivity::RadarConstants;

/// A precision that a run can be made in.
pub trait Working: Stored + RadarConstants + RadiusConstants {}

impl Working for f32 {}
impl Working for f64 {}

/// An input made ready: what drives the run, and the state that it starts from.
#[derive(Debug)]
pub struct Case<R> {
    /// Where it takes place.
    pub domain: Domain,
    /// What the input prescribes.
    pub forcing: Forcing<R>,
    /// Winds on the x-, y- and z-faces after the projection, m s⁻¹.
    pub winds: [Array3<R>; 3],
    /// Fields of the input that pass through to the output.
    pub given: Given,
    /// The initial state, until a backend takes it.
    state: Option<State<R>>,
    /// What the wind projection found and did.
    pub projection: Report,
    /// The longest time step that the winds admit, s.
    pub max_dt: f64,
}

impl<R: Working> Case<R> {
    /// Projects the winds of an input and computes what the steps need of it.
    ///
    /// # Errors
    ///
    /// Those of [`projection::project`], with the name of the file.
    pub fn new(domain: Domain, frame: Frame) -> Result<Self> {
        let environment = frame.environment();
        let Frame { state, u, v, pressure, geopotential, column_mass, .. } = frame;
        let winds = Winds { u: u.mapv(f64::from), v: v.mapv(f64::from) };
        let (grid, coordinate) = (&domain.grid, &domain.coordinate);
        let projected = projection::project::<R>(grid, coordinate, &domain.face_maps, &winds)
            .map_err(|error| match error {
                Error::Input { message, .. } => Error::input(&domain.path, message),
                other => other,
            })?;
        let [theta, qv, qc, qr, qi, qs] = state.fields().map(promote);
        let state = State { theta, qv, qc, qr, qi, qs };
        let air = crate::mass::AirMass::new(grid, coordinate);
        let max_dt = longest_time_step(grid.shape, &air, &projected.flux);
        let w = vertical_velocity(grid, coordinate, &projected.flux.z, &environment.rho);
        let Winds { u, v } = projected.winds;
        let inflow = state.fields().map(BoundaryValues::of);
        Ok(Self {
            forcing: Forcing { flux: projected.flux, environment, inflow },
            winds: [u.mapv(R::of), v.mapv(R::of), w],
            given: Given { pressure, geopotential, column_mass },
            state: Some(state),
            projection: projected.report,
            max_dt,
            domain,
        })
    }

    /// Hands the initial state over.
    ///
    /// # Panics
    ///
    /// When it was handed over before.
    pub fn take_state(&mut self) -> State<R> {
        self.state.take().expect("one backend takes the state")
    }
}

/// How a run went.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Steps done.
    pub steps: usize,
    /// Time simulated, s.
    pub seconds: f64,
    /// The water budget.
    pub water: Water,
    /// Wall time of the steps alone.
    pub stepping: Duration,
    /// Wall time of diagnostics and of handing frames to the writer.
    pub output: Duration,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

/// When frames are written.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    /// Time between frames, s; without it only the first and the last are written.
    pub interval: Option<f64>,
}

impl Frames {
    /// Whether a frame belongs to the end of a step.
    fn due(self, plan: &Plan, step: usize) -> bool {
        let passed = |step: usize, interval: f64| {
            // A part of a second is lost in the rounding of step lengths.
            ((plan.time_after(step) + 1e-6 * plan.dt) / interval).floor()
        };
        step == 0
            || step == plan.steps
            || self.interval.is_some_and(|x| passed(step, x) > passed(step - 1, x))
    }
}

/// Runs a case step by step.
///
/// `watch` is told the number of steps done after each of them. The loop ends early when `stop`
/// is set; the frames written so far stay good.
///
/// # Errors
///
/// [`Error::BlowUp`] when a field is no longer finite. A failed writer ends the loop too, and
/// [`Output::finish`] tells why.
pub fn run<R: Working>(
    case: &Case<R>,
    plan: &Plan,
    frames: Frames,
    backend: &mut Cpu<R>,
    output: &Output<R>,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(usize),
) -> Result<Outcome> {
    let mut outcome = Outcome {
        steps: 0,
        seconds: 0.0,
        water: Water::starting_with(backend.water()),
        stepping: Duration::ZERO,
        output: Duration::ZERO,
        interrupted: false,
    };
    let mut writing = write(case, backend, output, 0.0, &mut outcome);
    for step in 1..=plan.steps {
        if stop.load(Ordering::Relaxed) || !writing {
            outcome.interrupted = writing;
            break;
        }
        let start = Instant::now();
        let change = backend.step(&case.forcing, plan.dt_of(step));
        check_finite(backend.state(), step)?;
        outcome.water.add(&change);
        outcome.stepping += start.elapsed();
        outcome.steps = step;
        outcome.seconds = plan.time_after(step);
        if frames.due(plan, step) {
            writing = write(case, backend, output, outcome.seconds, &mut outcome);
        }
        watch(step);
    }
    outcome.water.close(backend.water());
    Ok(outcome)
}

/// Hands the present state to the writer.
fn write<R: Working>(
    case: &Case<R>,
    backend: &Cpu<R>,
    output: &Output<R>,
    seconds: f64,
    outcome: &mut Outcome,
) -> bool {
    let start = Instant::now();
    let mut diagnostics = CloudDiagnostics::zeros(case.domain.grid.shape);
    backend.diagnose(&case.forcing.environment, &mut diagnostics);
    let sent = output.send(Snapshot {
        seconds,
        state: backend.state().clone(),
        winds: case.winds.clone(),
        diagnostics,
        surface: backend.surface().clone(),
        given: case.given.clone(),
    });
    outcome.output += start.elapsed();
    sent
}
