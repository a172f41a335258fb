//! Two backends from one state, step for step: how fast each is, and whether they agree.
//!
//! The runs are made one after the other, so that none has to share the machine. Those that the
//! limits are made of are runs on the CPU, see [`crate::diagnostics::pair`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rayon::ThreadPoolBuilder;
use serde::Serialize;

use super::divergent_columns::{DivergentColumn, suspects};
use super::{Frames, NullSink, Outcome, OutputSink, Probe, RunInput, RunPrecision};
use crate::advection::Limiter;
use crate::backend::cpu::Cpu;
use crate::backend::{
    Account, Backend, BudgetDomain, CollectedOutput, Info, Output, PhaseTimes, RunStart,
    SamplingRequest, UlpPerturbation,
};
use crate::diagnostics::difference::Value;
use crate::diagnostics::pair::{
    RoundingReference, RunSpread, RunState, Totals, Verdict, judge_later,
};
use crate::error::{Error, Result};
use crate::forcing::TimeInterpolant;
use crate::frame::{ColumnFrame, PointSample, Saved, Snapshot};
use crate::physics::scheme::Scheme;
use crate::state::State;
use crate::time_steps::Plan;

/// Steps that one core is timed over: enough to tell its speed, and the others need not wait long.
const STEPS_OF_ONE_CORE: usize = 5;

/// Runs of all steps that a pair takes, where there is more than one step.
pub const LONG_RUNS: usize = 4;

/// Case, plan and schemes that both runs share.
#[derive(Debug)]
pub struct Pair<'a, R> {
    /// The case that drives them.
    pub case: &'a mut RunInput<R>,
    /// The state that they start from.
    pub start: &'a State<R>,
    /// Their steps.
    pub plan: Plan,
    /// Their frames of output.
    pub frames: Frames,
    /// The limiter of the water.
    pub limiter: Limiter,
    /// The microphysics.
    pub scheme: &'a dyn Scheme,
    /// Set where the user wants them to end.
    pub stop: &'a AtomicBool,
}

/// Times of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Timed {
    /// Backend and device, in words.
    pub name: String,
    /// Kind of the backend: `cpu` or `gpu`.
    pub backend: &'static str,
    /// Steps made.
    pub steps: usize,
    /// Cells of the grid.
    pub cells: usize,
    /// Time of the phases.
    pub times: PhaseTimes,
    /// Wall time from the state in the host's memory to the last frame in the host's memory, s.
    pub end_to_end_s: f64,
}

impl Timed {
    /// Time of a step without transfers, input and output, s.
    pub fn kernels(&self) -> f64 {
        self.times.steps().kernel_s / self.steps.max(1) as f64
    }

    /// The same with all copies between host and device, those for input and output included, s.
    pub(crate) fn with_transfers(&self) -> f64 {
        let transfers = self.times.sum().transfer_s.unwrap_or(0.0);
        self.kernels() + transfers / self.steps.max(1) as f64
    }

    /// Wall time of a step with all that belongs to it, s.
    pub fn end_to_end(&self) -> f64 {
        self.end_to_end_s / self.steps.max(1) as f64
    }
}

/// Ratio of the speeds of two runs.
#[derive(Clone, Debug, Serialize)]
pub struct Ratio {
    /// The faster one, if the ratio is above 1.
    pub a: String,
    /// The other.
    pub b: String,
    /// Of what.
    pub what: String,
    /// Time of `b` over that of `a`. Units: 1.
    pub ratio: f64,
}

/// Result of a pair of runs.
#[derive(Clone, Debug)]
pub struct ComparisonReport {
    /// Outcome of the run of the other backend.
    pub outcome: Outcome,
    /// The runs, that of the other backend last.
    pub runs: Vec<Timed>,
    /// Ratios of their speeds.
    pub ratios: Vec<Ratio>,
    /// After the first step, then after the last.
    pub verdicts: Vec<Verdict>,
    /// Columns to look at, where a verdict is bad.
    pub suspects: Vec<DivergentColumn>,
    /// Share of the columns that rounding alone throws off their course in the first step.
    pub fragile_share: f64,
    /// `true` where the user stopped it: then there is no verdict.
    pub interrupted: bool,
}

/// A run as far as it is compared.
struct ComparedRun<R> {
    first: Option<RunState<R>>,
    last: Option<RunState<R>>,
    totals: Totals,
    timed: Timed,
    outcome: Outcome,
}

/// Runs a case on another backend and on the CPU, and compares them.
///
/// `sink` takes what the other backend's run makes, `on_step` the number of steps done of all
/// long runs together, of which there are [`LONG_RUNS`].
///
/// # Errors
///
/// Those of [`super::run`], from any of the runs.
pub fn run<R: RunPrecision + Value>(
    mut pair: Pair<'_, R>,
    other: &mut dyn Backend<R>,
    sink: &mut dyn OutputSink<R>,
    on_step: &mut dyn FnMut(usize),
) -> Result<ComparisonReport> {
    let (start, steps) = (pair.start, pair.plan.steps);
    let theirs = pair.long_run(other, pair.start, sink, on_step)?;
    let mut report = ComparisonReport {
        outcome: theirs.outcome.clone(),
        runs: vec![theirs.timed],
        ratios: Vec::new(),
        verdicts: Vec::new(),
        suspects: Vec::new(),
        fragile_share: 0.0,
        interrupted: theirs.outcome.interrupted,
    };
    if theirs.outcome.steps < steps {
        // By the user, or because the writer of the frames has failed.
        report.interrupted = true;
        return Ok(report);
    }
    let mut cpu = pair.cpu(pair.start.clone());
    let keep_none = &mut NullSink;
    let ours = pair.long_run(&mut cpu, pair.start, keep_none, &mut |n| on_step(steps + n))?;
    report.runs.insert(0, ours.timed);

    let mut apart_later = None;
    if let (Some(a), Some(_)) = (&ours.last, &theirs.last) {
        let mut done = 2 * steps;
        let mut apart = |from: &State<R>, seed| -> Result<Option<RunSpread>> {
            cpu.disturb(seed);
            let away = pair.long_run(&mut cpu, from, keep_none, &mut |n| on_step(done + n))?;
            cpu.disturb(None);
            done += steps;
            let totals = [ours.totals, away.totals];
            Ok(away.last.map(|away| RunSpread::of(a, &away, totals)))
        };
        let above = apart(&shifted(start, UlpPerturbation::Up(1)), None)?;
        let moved = apart(start, Some(0))?;
        apart_later = above.zip(moved).map(|(above, moved)| above.larger(&moved));
    }
    let (Some(a), Some(b)) = (ours.first, theirs.first) else {
        report.interrupted = true;
        return Ok(report);
    };
    let mut reference = pair.rounding_reference(&mut cpu, &a)?;
    report.fragile_share = reference.fragile_share();
    report.verdicts = reference.judge(&a, &b);
    let one_step = reference.spreads();
    drop(reference);
    pair.case.rewind()?;
    let air = pair.case.show(pair.plan.time_after(1))?;
    report.suspects = suspects(&report.verdicts, [&a, &b], Some((pair.start, &air)));
    if let (Some(apart), Some(a), Some(b)) = (apart_later, &ours.last, &theirs.last) {
        let apart = apart.or_roundings(&one_step, steps);
        let mut later = judge_later(steps, [a, b], [ours.totals, theirs.totals], &apart);
        report.suspects.extend(suspects(&later, [a, b], None));
        report.verdicts.append(&mut later);
    }
    drop(cpu);

    if rayon::current_num_threads() > 1 {
        report.runs.insert(0, pair.one_core()?);
    }
    report.ratios = ratios(&report.runs);
    report.interrupted = pair.stop.load(Ordering::Relaxed);
    Ok(report)
}

impl<R: RunPrecision + Value> Pair<'_, R> {
    fn cpu(&self, state: State<R>) -> Cpu<R> {
        let (grid, coordinate) = (&self.case.domain.grid, &self.case.domain.coordinate);
        let forcing = &self.case.forcing;
        Cpu::new(grid, coordinate, self.limiter, self.scheme, forcing, state)
            .with_chemistry(self.case.chemistry.as_ref())
    }

    /// A run of all steps, with the state after the first one kept, and that after the last one
    /// where there are more.
    fn long_run(
        &mut self,
        backend: &mut dyn Backend<R>,
        start: &State<R>,
        sink: &mut dyn OutputSink<R>,
        on_step: &mut dyn FnMut(usize),
    ) -> Result<ComparedRun<R>> {
        let Self { case, plan, frames, stop, .. } = self;
        let (plan, frames) = (*plan, *frames);
        case.rewind()?;
        let mut keep = ComparisonSink { plan, frames, first: None, last: None, sink };
        let clock = Instant::now();
        backend.start(RunStart::from(start))?;
        let before = backend.info()?.times;
        let all = Frames { after_first: true, ..frames };
        let outcome = super::run(case, &plan, all, backend, stop, &mut keep, on_step)?;
        let end_to_end_s = clock.elapsed().as_secs_f64();
        let Info { kind, description, times, .. } = backend.info()?;
        let timed = Timed {
            name: description,
            backend: kind,
            steps: outcome.steps,
            cells: case.domain.grid.shape.cells(),
            end_to_end_s,
            times: times.since(&before),
        };
        let area = BudgetDomain::new(&case.domain.grid, &case.domain.coordinate).extent();
        let Account { water, precipitation, .. } = backend.account(0)?;
        let totals = Totals { water, rain: precipitation.mean * area, area };
        let ComparisonSink { first, last, .. } = keep;
        Ok(ComparedRun { first, last, totals, timed, outcome })
    }

    /// The first step in double precision, and in working precision from states around the start.
    fn rounding_reference(
        &mut self,
        cpu: &mut Cpu<R>,
        plain: &RunState<R>,
    ) -> Result<RoundingReference> {
        let dt = self.plan.dt_of(1);
        self.case.rewind()?;
        let moment = self.case.drive(self.plan.time_after(0), self.plan.time_after(1))?;
        let shown = self.case.show(self.plan.time_after(1))?;
        // The number of sub-steps of a fall is one of the branches of a scheme; calls in parts are not.
        let is_smooth = R::of_scheme(self.scheme).is_undivided(R::of(dt));
        let history = &self.case.history;
        let mut reference = RoundingReference::new(self.truth(&moment, &shown)?, is_smooth);
        reference.add(plain);
        reference.surround(|shift| {
            let state = shifted(self.start, shift);
            let gathered = history.as_ref().map(|history| &history.gathered);
            cpu.start(RunStart { gathered, ..RunStart::from(&state) })?;
            one_step(cpu, [&moment, &shown], dt)
        })?;
        Ok(reference)
    }

    /// The first step in double precision.
    fn truth(
        &self,
        moment: &TimeInterpolant<R>,
        shown: &TimeInterpolant<R>,
    ) -> Result<RunState<f64>> {
        let domain = &self.case.domain;
        let wide = moment.widened();
        // The same two frames need not be held twice.
        let shown = if shown.number == moment.number {
            TimeInterpolant { air_weight: shown.air_weight, ..wide.clone() }
        } else {
            shown.widened()
        };
        let mut cpu = Cpu::new(
            &domain.grid,
            &domain.coordinate,
            self.limiter,
            self.scheme,
            &wide.before,
            self.start.widened(),
        )
        .with_chemistry(self.case.chemistry.as_ref());
        let gathered = self.case.history.as_ref().map(|history| history.gathered.widened());
        let (gathered, attached) = (gathered.as_ref(), SamplingRequest::default());
        cpu.start(RunStart { states: &[], gathered, attached })?;
        one_step(&mut cpu, [&wide, &shown], self.plan.dt_of(1))
    }

    /// The first steps on one core, for their time.
    fn one_core(&mut self) -> Result<Timed> {
        let steps = self.plan.steps.min(STEPS_OF_ONE_CORE);
        let last_dt = self.plan.dt_of(steps);
        let pool = ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|e| Error::Usage(format!("one thread: {e}")))?;
        let plan = Plan { steps, last_dt, ..self.plan };
        let frames = Frames::default();
        let mut pair = Pair { case: &mut *self.case, plan, frames, ..*self };
        pool.install(|| {
            let mut cpu = pair.cpu(pair.start.clone());
            let ran = pair.long_run(&mut cpu, pair.start, &mut NullSink, &mut |_| ())?;
            Ok(ran.timed)
        })
    }
}

/// Stores the compared data, and forwards the requested outputs.
struct ComparisonSink<'a, R> {
    plan: Plan,
    frames: Frames,
    first: Option<RunState<R>>,
    last: Option<RunState<R>>,
    sink: &'a mut dyn OutputSink<R>,
}

impl<R: RunPrecision> OutputSink<R> for ComparisonSink<'_, R> {
    fn frame(&mut self, step: usize, frame: Snapshot<R>) -> bool {
        let kept = match step {
            1 => Some(&mut self.first),
            step if step == self.plan.steps => Some(&mut self.last),
            _ => None,
        };
        let is_output = self.frames.due(&self.plan, step);
        match kept {
            Some(kept) if !is_output => {
                *kept = Some(sample(frame));
                return true;
            }
            Some(kept) => *kept = Some(sample(frame.clone())),
            None if !is_output => return true,
            None => {}
        }
        self.sink.frame(step, frame)
    }

    fn probes(&self) -> Vec<Probe<R>> {
        self.sink.probes()
    }

    fn sample(&mut self, probe: usize, sample: PointSample<R>) -> bool {
        self.sink.sample(probe, sample)
    }

    fn columns(&self) -> Option<Frames> {
        self.sink.columns()
    }

    fn take_columns(&mut self, columns: ColumnFrame<R>) -> bool {
        self.sink.take_columns(columns)
    }

    fn restarts(&self) -> Option<Frames> {
        self.sink.restarts()
    }

    fn take_restart(&mut self, saved: Saved<R>) -> bool {
        self.sink.take_restart(saved)
    }
}

fn shifted<R: RunPrecision>(start: &State<R>, shift: UlpPerturbation) -> State<R> {
    let mut state = start.clone();
    shift.apply(&mut state);
    state
}

fn sample<R: RunPrecision>(frame: Snapshot<R>) -> RunState<R> {
    let Snapshot { state, diagnostics, surface, .. } = frame;
    RunState { state, diagnostics, surface }
}

/// One step of the state that a backend holds, and what it shows then.
fn one_step<R: RunPrecision>(
    cpu: &mut Cpu<R>,
    [moment, shown]: [&TimeInterpolant<R>; 2],
    dt: f64,
) -> Result<RunState<R>> {
    cpu.drive(moment)?;
    cpu.step(dt)?;
    cpu.capture(Output::Frame(0), shown)?;
    let frame = cpu.collect(Output::Frame(0), true)?.and_then(CollectedOutput::frame);
    Ok(RunState::from(frame.expect("a frame was begun")))
}

/// Ratios of the speed of the last run to those of the runs before.
fn ratios(runs: &[Timed]) -> Vec<Ratio> {
    let Some((a, others)) = runs.split_last() else { return Vec::new() };
    let mut ratios = Vec::new();
    for b in others {
        let mut add = |what: &str, time: fn(&Timed) -> f64| {
            let ratio = time(b) / time(a);
            // A device may not have timed any of very few steps.
            if ratio.is_finite() && ratio > 0.0 {
                let (a, b) = (a.name.clone(), b.name.clone());
                ratios.push(Ratio { a, b, what: what.to_owned(), ratio });
            }
        };
        add("time of a step, transport and microphysics alone", Timed::kernels);
        add(
            "time of a step with all copies between host and device, of which the CPU needs none",
            Timed::with_transfers,
        );
        // Frames of output are as many for each step only then.
        if b.steps == a.steps {
            add(
                "wall time from the state in host memory to the last frame of output there, with \
                 input frames, diagnostics and all frames of output",
                Timed::end_to_end,
            );
        }
    }
    ratios
}
