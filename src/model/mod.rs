//! The time loop: from a state to the state an hour later.
//!
//! It knows no file format: a run needs a [`Domain`], [`Frame`]s of input, a backend and a sink, all of them in memory.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use nwp_mini::advection::Limiter;
//! use nwp_mini::backend::cpu::Cpu;
//! use nwp_mini::cases::{CaseName, CaseOptions};
//! use nwp_mini::frame::Snapshot;
//! use nwp_mini::model::{self, Frames, RunInput};
//! use nwp_mini::physics::registry;
//! use nwp_mini::time_steps::{Length, Plan};
//!
//! # fn main() -> nwp_mini::error::Result<()> {
//! let cells = CaseOptions { nx: Some(12), ny: Some(10), nz: Some(16), ..CaseOptions::default() };
//! let case = CaseName::WarmBubble.make(&cells)?;
//! let mut input = RunInput::<f32>::new(case.domain.clone(), case.frame(0))?;
//! let plan = Plan::new(Length::Steps(4), None, Some(case.dt), input.max_dt)?;
//! let state = input.take_state();
//! let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
//! let (limiter, scheme) = (Limiter::PositiveDefinite, registry::make("kessler", None)?);
//! let mut cpu = Cpu::new(grid, coordinate, limiter, &*scheme, &input.forcing, state);
//! let mut times = Vec::new(); // s
//! let mut sink = |_: usize, frame: Snapshot<f32>| {
//!     times.push(frame.seconds);
//!     true
//! };
//! let (stop, frames) = (AtomicBool::new(false), Frames::default());
//! let outcome = model::run(&mut input, &plan, frames, &mut cpu, &stop, &mut sink, &mut |_| ())?;
//! assert_eq!(times, [0.0, 4.0 * plan.dt]);
//! assert!(outcome.water.closure_rel.abs() < 1e-6);
//! # Ok(())
//! # }
//! ```
//!
//! Several frames, passive tracers and chemistry: `validation/outsider`.

pub mod backend_comparison;
pub mod columns;
pub mod divergent_columns;
pub mod ensemble;
mod prefetch;
mod recorder;
pub mod replicated_grid;
mod restart;
mod sequence;
mod sink;
mod streams;
mod time_loop;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ndarray::{Array3, ArrayView3};

use crate::backend::{Account, Backend, ComputePrecision, RunStart};
use crate::chemistry::coupled::Coupled;
use crate::constituents::Constituents;
use crate::diagnostics::budget::{TracerBudget, Water};
use crate::diagnostics::frame::FrameFigures;
use crate::domain::Domain;
use crate::error::Result;
use crate::forcing::{Forcing, TimeInterpolant};
use crate::frame::{Frame, FrameSource, PassThrough};
use crate::grid::{DividedGrid, Window};
use crate::primitives::reduce::Number;
use crate::projection::{Method, ProjectionReport};
use crate::state::{ChemistryTally, State};
use crate::time_steps::Plan;
use recorder::Recorder;
pub use restart::PastTotals;
pub use sequence::FrameReport;
use sequence::{PreparedFrame, Sequence, prepare};
pub use sink::{NullSink, OutputSink, Probe};
use streams::streams;
use time_loop::{Run, run_steps};

/// A precision that a run can be made in.
pub trait RunPrecision: ComputePrecision + Number {}

impl RunPrecision for f32 {}
impl RunPrecision for f64 {}

/// An input made ready: what drives the run, and the state that it starts from.
#[derive(Debug)]
pub struct RunInput<R> {
    /// Grid and vertical coordinate, with their place on the Earth.
    pub domain: Domain,
    /// The grid divided among several ranks, where there are some: volumes are then of the part of this one.
    pub divided: Option<Arc<DividedGrid>>,
    /// Fields of the input frame before the present time, which drive the run.
    pub forcing: Arc<Forcing<R>>,
    /// Winds on the x-, y- and z-faces after the projection, m s⁻¹, at the last output. Shapes:
    /// (nz, ny, nx + 1), (nz, ny + 1, nx), (nz + 1, ny, nx).
    pub winds: Arc<[Array3<R>; 3]>,
    /// Fields of the input that pass through to the output, at the last output.
    pub given: Arc<PassThrough>,
    /// The tracers that the air carries.
    pub tracers: Arc<Constituents>,
    /// The chemistry of species among them.
    pub chemistry: Option<Arc<Coupled>>,
    /// The initial state, until a backend takes it.
    state: Option<State<R>>,
    /// Report of the wind projection in the first frame.
    pub projection: ProjectionReport,
    /// Reports on the input frames that the run needs.
    pub input_frames: Vec<FrameReport>,
    /// The longest time step that the winds of these frames admit, s.
    pub max_dt: f64,
    /// Method of the wind projection.
    method: Method,
    /// The later frames, where there are any.
    sequence: Option<Sequence<R>>,
    /// The run before, where this case goes on from a checkpoint.
    pub history: Option<PastTotals<R>>,
}

impl<R: RunPrecision> RunInput<R> {
    /// Makes an input of one frame ready, on the processors here: it drives the whole run.
    ///
    /// # Errors
    ///
    /// Those of [`crate::projection::project`], with the name of the file.
    pub fn new(domain: Domain, frame: Frame) -> Result<Self> {
        Self::with_projection(domain, frame, Method::default())
    }

    /// The same with what solves for the winds that conserve mass, in this frame and in later ones.
    ///
    /// # Errors
    ///
    /// As [`RunInput::new`], and those of the solver.
    pub fn with_projection(domain: Domain, frame: Frame, method: Method) -> Result<Self> {
        Self::of_part((domain, None), frame, method)
    }

    /// The same on several ranks, of which each has the volumes of its part in the frame: the domain is that of the whole.
    ///
    /// # Errors
    ///
    /// As [`RunInput::with_projection`], on all ranks.
    pub fn of_part(
        (domain, divided): (Domain, Option<Arc<DividedGrid>>),
        frame: Frame,
        method: Method,
    ) -> Result<Self> {
        let (prescribed, state, report) = prepare((&domain, divided.as_deref()), frame, &method)?;
        let PreparedFrame { forcing, winds, given } = prescribed;
        Ok(Self {
            domain,
            divided,
            forcing,
            winds,
            given,
            tracers: Arc::clone(state.set()),
            chemistry: None,
            state: Some(state),
            projection: report.projection,
            max_dt: report.max_dt,
            input_frames: vec![report],
            method,
            sequence: None,
            history: None,
        })
    }

    /// Lets the frames of a series drive the run, of which this case was made from the first.
    ///
    /// Every frame that a run of `seconds` needs is read and its winds projected, so that a bad
    /// one is found before the first step and the longest time step is that of all of them.
    ///
    /// # Errors
    ///
    /// Those of [`FrameSource::frame`] and of [`crate::projection::project`].
    pub fn follow(mut self, series: impl FrameSource + 'static, seconds: f64) -> Result<Self> {
        let mut second = None;
        for number in series.first() + 1..=series.reaching(seconds) {
            let frame = series.frame(number, &self.domain)?;
            let place = (&self.domain, self.divided.as_deref());
            let (prescribed, _, report) = prepare(place, frame, &self.method)?;
            self.max_dt = self.max_dt.min(report.max_dt);
            self.input_frames.push(report);
            second = second.or(Some(prescribed));
        }
        if series.len() > 1 {
            let Self { forcing, winds, given, .. } = &self;
            let forcing = Arc::clone(forcing);
            let (winds, given) = (Arc::clone(winds), Arc::clone(given));
            let first = PreparedFrame { forcing, winds, given };
            let (method, series) = (self.method.clone(), Arc::new(series));
            let method = (method, self.divided.clone());
            self.sequence = Some(Sequence::new(method, series, first, second, seconds));
        }
        Ok(self)
    }

    /// Winds, air and boundary values of a step from `start` to `end`, s since the first frame.
    ///
    /// # Errors
    ///
    /// Those of [`FrameSource::frame`].
    pub fn drive(&mut self, start: f64, end: f64) -> Result<TimeInterpolant<R>> {
        let Some(sequence) = &mut self.sequence else {
            return Ok(TimeInterpolant::lasting(&self.forcing).at(end));
        };
        let moment = sequence.drive(&self.domain, [start, end])?;
        self.forcing = Arc::clone(sequence.before());
        Ok(moment)
    }

    /// Sets what an output at `seconds` shows of the input; returns the air to diagnose it in.
    pub(crate) fn show(&mut self, seconds: f64) -> Result<TimeInterpolant<R>> {
        let Self { domain, forcing, winds, given, sequence, .. } = self;
        let Some(sequence) = sequence else {
            return Ok(TimeInterpolant::lasting(forcing).at(seconds));
        };
        let (winds, given) = (Arc::make_mut(winds), Arc::make_mut(given));
        let moment = sequence.show(domain, seconds, winds, given)?;
        *forcing = Arc::clone(sequence.before());
        Ok(moment)
    }

    /// Goes back to the first frame, for another run.
    pub(crate) fn rewind(&mut self) -> Result<()> {
        let Some(sequence) = &mut self.sequence else { return Ok(()) };
        sequence.rewind(&self.domain)?;
        self.forcing = Arc::clone(sequence.before());
        Ok(())
    }

    /// The points of a field that are this rank's alone.
    pub(super) fn owned<'a, T>(&self, field: &'a Array3<T>) -> ArrayView3<'a, T> {
        self.divided.as_ref().map_or_else(|| field.view(), |divided| divided.owned(field).0)
    }

    /// The columns that this rank owns, in the numbers of the whole grid.
    fn own_window(&self) -> Window {
        match &self.divided {
            None => self.domain.grid.owned(),
            Some(divided) => divided.layout([0, 0]).window(divided.ranks().rank()).clone(),
        }
    }

    /// Returns `true` if more than one frame of the input drives the run.
    pub fn has_sequence(&self) -> bool {
        self.sequence.is_some()
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

/// Results and times of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Steps done.
    pub steps: usize,
    /// Time simulated, from the start of the first run on, s.
    pub seconds: f64,
    /// The water budget.
    pub water: Water,
    /// Those of the passive tracers.
    pub tracers: Vec<TracerBudget>,
    /// Work of the chemistry.
    pub chemistry: Option<ChemistryTally>,
    /// Figures of the frames of output.
    pub figures: Vec<FrameFigures>,
    /// Wall time of the steps alone.
    pub stepping: Duration,
    /// Wall time of reading and blending the input frames between the steps.
    pub driving: Duration,
    /// Wall time of diagnostics and of handing frames to the writer.
    pub output: Duration,
    /// `true` where the user stopped it.
    pub interrupted: bool,
}

/// When frames are written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames {
    /// Time between frames, s; without it only the first and the last are written.
    pub interval: Option<f64>,
    /// Asks for the state after the first step besides.
    pub after_first: bool,
}

impl Frames {
    /// Returns `true` if a frame belongs to the end of a step, [`Frames::after_first`] aside.
    pub fn due(self, plan: &Plan, step: usize) -> bool {
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

/// Runs a case step by step, from the state that the backend holds.
///
/// `sink` receives the frames of output and the samples that it requests; the run ends when it returns `false`. `on_step`
/// is called after each step with the number of completed steps. The run ends early when `stop` is set.
///
/// # Errors
///
/// [`BlowUp`](crate::error::Error::BlowUp) when a field is no longer finite, those of
/// [`FrameSource::frame`] and of the backend. The frames that were finished before have been sent then.
pub fn run<R: RunPrecision>(
    case: &mut RunInput<R>,
    plan: &Plan,
    frames: Frames,
    backend: &mut dyn Backend<R>,
    stop: &AtomicBool,
    sink: &mut dyn OutputSink<R>,
    on_step: &mut dyn FnMut(usize),
) -> Result<Outcome> {
    let (streams, attached) = streams(sink, frames, case);
    let gathered = case.history.as_ref().map(|history| &history.gathered);
    backend.start(RunStart { states: &[], gathered, attached })?;
    let (water_start, passive_start) = if let Some(history) = &case.history {
        (history.water_start, history.passive_start.clone())
    } else {
        let Account { water, passive, .. } = backend.account(0)?;
        (water, passive.into_iter().map(|tracer| tracer.amount).collect())
    };
    let mut recorder = Recorder::new(sink, streams, case, frames, passive_start.clone());
    let mut run = Run { case, plan, backend };
    let done = run_steps(&mut run, &mut recorder, stop, on_step).and_then(|outcome| {
        if outcome.interrupted {
            run.backend.check(outcome.steps, true)?;
            recorder.save(&mut run, outcome.steps, true)?;
        }
        Ok(outcome)
    });
    // Frames in flight are worth having whatever came after them; a failure that comes of waiting
    // for them is that of the run, unless it had one before.
    let recorded = recorder.collect(&mut run, true);
    let mut outcome = done?;
    recorded?;
    let start = Instant::now();
    let Account { water, changes, passive, chemistry, .. } = backend.account(0)?;
    outcome.water = Water::closed(water_start, &changes, water);
    let ends = case.tracers.passive().iter().zip(passive_start).zip(passive);
    outcome.tracers =
        ends.map(|((tracer, start), end)| TracerBudget::closed(tracer, start, end)).collect();
    outcome.chemistry = chemistry;
    outcome.stepping += start.elapsed();
    outcome.output += recorder.spent;
    outcome.figures = recorder.figures;
    Ok(outcome)
}
