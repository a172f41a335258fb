//! The time loop: from a state to the state an hour later.

mod sequence;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ndarray::Array3;

use crate::advection::flux::FluxConstants;
use crate::backend::cpu::{Cpu, Forcing};
use crate::diagnostics::budget::Water;
use crate::diagnostics::check_finite;
use crate::error::Result;
use crate::io::output::{Given, Output, Snapshot};
use crate::io::wrf::series::Series;
use crate::io::wrf::{Domain, Frame, promote};
use crate::io::writer::Stored;
use crate::plan::Plan;
use crate::projection::Report;
use crate::state::{CloudDiagnostics, State};
use crate::wsm5::radii::RadiusConstants;
use crate::wsm5::reflectivity::RadarConstants;
pub use sequence::FrameReport;
use sequence::{Prescribed, Sequence, prepare};

/// A precision that a run can be made in.
pub trait Working: Stored + FluxConstants + RadarConstants + RadiusConstants {}

impl Working for f32 {}
impl Working for f64 {}

/// An input made ready: what drives the run, and the state that it starts from.
#[derive(Debug)]
pub struct Case<R> {
    /// Where it takes place.
    pub domain: Domain,
    /// What the input prescribes at present.
    pub forcing: Forcing<R>,
    /// Winds on the x-, y- and z-faces after the projection, m s⁻¹, at the last output.
    pub winds: [Array3<R>; 3],
    /// Fields of the input that pass through to the output, at the last output.
    pub given: Given,
    /// The initial state, until a backend takes it.
    state: Option<State<R>>,
    /// What the wind projection found and did in the first frame.
    pub projection: Report,
    /// What was found in the frames that the run needs.
    pub input_frames: Vec<FrameReport>,
    /// The longest time step that the winds of these frames admit, s.
    pub max_dt: f64,
    /// The later frames, where there are any.
    sequence: Option<Sequence<R>>,
}

impl<R: Working> Case<R> {
    /// Makes an input of one frame ready: it drives the whole run.
    ///
    /// # Errors
    ///
    /// Those of [`crate::projection::project`], with the name of the file.
    pub fn new(domain: Domain, frame: Frame) -> Result<Self> {
        let [theta, qv, qc, qr, qi, qs] = frame.state.fields().map(promote);
        let state = State { theta, qv, qc, qr, qi, qs };
        let (Prescribed { forcing, winds, given }, report) = prepare(&domain, frame)?;
        Ok(Self {
            domain,
            forcing,
            winds,
            given,
            state: Some(state),
            projection: report.projection,
            max_dt: report.max_dt,
            input_frames: vec![report],
            sequence: None,
        })
    }

    /// Lets the frames of a series drive the run, of which this case was made from the first.
    ///
    /// Every frame that a run of `seconds` needs is read and its winds projected, so that a bad
    /// one is found before the first step and the longest time step is that of all of them.
    ///
    /// # Errors
    ///
    /// Those of [`Series::frame`] and of [`crate::projection::project`].
    pub fn follow(mut self, series: Series, seconds: f64) -> Result<Self> {
        let mut second = None;
        for number in 1..=series.reaching(seconds) {
            let frame = series.frame(number, &self.domain)?;
            let (prescribed, report) = prepare(&self.domain, frame)?;
            self.max_dt = self.max_dt.min(report.max_dt);
            self.input_frames.push(report);
            second = second.or(Some(prescribed));
        }
        if let Some(second) = second {
            let Self { forcing, winds, given, .. } = &self;
            let (forcing, winds, given) = (forcing.clone(), winds.clone(), given.clone());
            let first = Prescribed { forcing, winds, given };
            self.sequence = Some(Sequence::new(series, &self.domain, first, second));
        }
        Ok(self)
    }

    /// Sets [`Case::forcing`] to what drives a step from `start` to `end`, s since the first frame.
    ///
    /// # Errors
    ///
    /// Those of [`Series::frame`].
    pub fn drive(&mut self, start: f64, end: f64) -> Result<()> {
        match &mut self.sequence {
            Some(sequence) => sequence.drive(&self.domain, [start, end], &mut self.forcing),
            None => Ok(()),
        }
    }

    /// Sets what an output at `seconds` shows of the input.
    fn show(&mut self, seconds: f64) -> Result<()> {
        let Self { domain, forcing, winds, given, sequence, .. } = self;
        match sequence {
            Some(sequence) => {
                sequence.show(domain, seconds, &mut forcing.environment, winds, given)
            }
            None => Ok(()),
        }
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
    /// Wall time of reading and blending the input frames between the steps.
    pub driving: Duration,
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
            // Ever so many short intervals in a step cannot be counted.
            || self.interval.is_some_and(|x| x <= plan.dt || passed(step, x) > passed(step - 1, x))
    }
}

/// Runs a case step by step.
///
/// `watch` is told the number of steps done after each of them. The loop ends early when `stop`
/// is set; the frames written so far stay good.
///
/// # Errors
///
/// [`BlowUp`](crate::error::Error::BlowUp) when a field is no longer finite, and the errors of
/// [`Series::frame`]. A failed writer ends the loop too, and [`Output::finish`] tells why.
pub fn run<R: Working>(
    case: &mut Case<R>,
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
        driving: Duration::ZERO,
        output: Duration::ZERO,
        interrupted: false,
    };
    let mut writing = write(case, backend, output, 0.0, &mut outcome)?;
    for step in 1..=plan.steps {
        if stop.load(Ordering::Relaxed) || !writing {
            outcome.interrupted = writing;
            break;
        }
        let start = Instant::now();
        case.drive(plan.time_after(step - 1), plan.time_after(step))?;
        outcome.driving += start.elapsed();
        let start = Instant::now();
        let change = backend.step(&case.forcing, plan.dt_of(step));
        check_finite(backend.state(), step)?;
        outcome.water.add(&change);
        outcome.stepping += start.elapsed();
        outcome.steps = step;
        outcome.seconds = plan.time_after(step);
        if frames.due(plan, step) {
            writing = write(case, backend, output, outcome.seconds, &mut outcome)?;
        }
        watch(step);
    }
    outcome.water.close(backend.water());
    Ok(outcome)
}

/// Hands the present state to the writer.
fn write<R: Working>(
    case: &mut Case<R>,
    backend: &Cpu<R>,
    output: &Output<R>,
    seconds: f64,
    outcome: &mut Outcome,
) -> Result<bool> {
    let start = Instant::now();
    case.show(seconds)?;
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
    Ok(sent)
}
