//! A storm cut into parts has the bits of the whole: transport of all tracers, microphysics, sums and frames, with the
//! margins refreshed once a step.
#![allow(clippy::float_cmp, reason = "equal bits are what this is about")]

use ndarray::{Array, Dimension, s};
use nwp_mini::advection::{Limiter, MARGIN};
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::backend::{
    Backend, CapturedFrame, CollectedOutput, ComputePrecision, Output, RunStart, TracerAmount,
    WaterChange,
};
use nwp_mini::error::Error;
use nwp_mini::grid::{Grid, Parts, Shape, Side};
use nwp_mini::physics::wsm5::Wsm5;
use nwp_mini::primitives::reduce::Number;
use nwp_mini::real::Real;
use nwp_mini_support::advection::random_cases::{KINDS, sides};
use nwp_mini_support::parts::Board;
use nwp_mini_support::parts::storm::{DT, Storm};
use rayon::prelude::*;

const LIMITERS: [Limiter; 3] = [Limiter::None, Limiter::PositiveDefinite, Limiter::Monotonic];

const SHAPE: Shape = Shape { nx: 47, ny: 41, nz: 6 };
const STEPS: usize = 4;

/// Columns and rows that a grid is cut at: 2 x 2 parts of unequal sizes.
const CUTS: [&[usize]; 2] = [&[13], &[27]];

/// Other ones, also with parts that have others on all sides, and along one axis alone.
const OTHER_CUTS: [[&[usize]; 2]; 3] =
    [[&[24], &[20]], [&[11, 29], &[15, 26]], [&[], &[10, 21, 31]]];

/// A precision that a storm can be run in.
trait Precision: ComputePrecision + Number + Default {}

impl Precision for f32 {}
impl Precision for f64 {}

fn backend<R: Precision>(storm: &Storm<R>, limiter: Limiter) -> Cpu<R> {
    let scheme = Wsm5::default();
    let Storm { grid, coordinate, state, .. } = storm;
    Cpu::new(grid, coordinate, limiter, &scheme, storm.forcing(), state.clone())
}

/// A frame of output and the sums of a run.
struct Ended<R> {
    frame: CapturedFrame<R>,
    water: f64,
    changes: WaterChange,
    smoke: TracerAmount,
    most: f64,
}

impl<R: Precision> Ended<R> {
    fn of(mut cpu: Cpu<R>, storm: &Storm<R>) -> Self {
        cpu.capture(Output::Frame(0), &storm.moment(STEPS)).expect("no error on the CPU");
        let output = cpu.collect(Output::Frame(0), true).expect("finite");
        let frame = output.and_then(CollectedOutput::frame).expect("a frame");
        let account = cpu.account(0).expect("sums");
        Self {
            frame,
            water: account.water,
            changes: account.changes,
            smoke: account.passive[0],
            most: account.precipitation.most,
        }
    }

    /// All sums over cells, of water in kg and of the passive tracer in kg of air.
    fn sums(&self) -> [f64; 9] {
        let WaterChange { sides, fallen, fallout_residual, clipped, mass_mismatch } = self.changes;
        let (smoke, change) = (self.smoke.amount, self.smoke.change);
        [
            self.water,
            sides,
            fallen,
            fallout_residual,
            clipped,
            mass_mismatch,
            smoke,
            change.sides,
            change.decayed,
        ]
    }
}

fn run_whole<R: Precision>(storm: &Storm<R>, limiter: Limiter) -> Ended<R> {
    let mut cpu = backend(storm, limiter);
    for step in 0..STEPS {
        cpu.drive(&storm.moment(step)).expect("no error on the CPU");
        cpu.step(DT).expect("no error on the CPU");
        cpu.check(step + 1, true).expect("finite");
    }
    Ended::of(cpu, storm)
}

/// The parts step by step, each with what the others had at the start of the step.
fn run_parts<R: Precision>(storm: &Storm<R>, parts: &Parts, limiter: Limiter) -> Vec<Ended<R>> {
    let board = Board::default();
    let storms: Vec<Storm<R>> = parts.grids().iter().map(|part| storm.part(part)).collect();
    let with_neighbours = |(n, storm)| {
        let mut cpu = backend(storm, limiter).with_neighbours(Box::new(board.neighbours(parts, n)));
        // Whatever is in the margin at the start: it is refreshed.
        let mut state = storm.state.clone();
        for field in state.fields_mut() {
            let owned = storm.grid.owned().of(field).to_owned();
            field.fill(R::nan());
            storm.grid.owned().of_mut(field).assign(&owned);
        }
        cpu.start(RunStart::from(&state)).expect("no error on the CPU");
        cpu
    };
    let mut cpus: Vec<Cpu<R>> = storms.iter().enumerate().map(with_neighbours).collect();
    for step in 0..STEPS {
        board.post(cpus.iter().map(|cpu| cpu.state().clone()).collect());
        for (cpu, storm) in cpus.iter_mut().zip(&storms) {
            cpu.drive(&storm.moment(step)).expect("no error on the CPU");
            cpu.step(DT).expect("no error on the CPU");
            cpu.check(step + 1, true).expect("finite in owned cells");
        }
    }
    cpus.into_iter().zip(&storms).map(|(cpu, storm)| Ended::of(cpu, storm)).collect()
}

/// Values of a part that differ from those of the whole in their bits.
fn differing<R: Real, D: Dimension>(
    part: &Array<R, D>,
    whole: &ndarray::ArrayView<'_, R, D>,
) -> usize {
    assert_eq!(part.shape(), whole.shape(), "the owned cells");
    // A zero of another sign is other bits; the reciprocal tells.
    let is_same = |a: R, b: R| a == b && a.recip() == b.recip();
    part.iter().zip(whole).filter(|&(&a, &b)| !is_same(a, b)).count()
}

/// Values of all fields and planes of a frame that differ.
fn differing_values<R: Precision>(
    part: &Grid,
    found: &CapturedFrame<R>,
    whole: &CapturedFrame<R>,
) -> usize {
    let owned = part.owned();
    let [j, i] = part.global_column([owned.rows.start, owned.columns.start]);
    let (rows, columns) = (j..j + owned.rows.len(), i..i + owned.columns.len());
    let cells = s![.., rows.clone(), columns.clone()];
    let volumes = |frame: &CapturedFrame<R>| {
        let diagnosed = frame.diagnostics.fields().iter().cloned();
        let contents = [frame.summary.contents.clone()];
        let fields = frame.state.fields().iter().cloned();
        fields.chain(diagnosed).chain(contents).collect::<Vec<_>>()
    };
    let planes = found.surface.planes().iter().zip(whole.surface.planes());
    let planes = planes
        .map(|(part, whole)| differing(part, &whole.slice(s![rows.clone(), columns.clone()])));
    let fields = volumes(found).into_iter().zip(volumes(whole));
    fields.map(|(part, whole)| differing(&part, &whole.slice(cells))).chain(planes).sum()
}

/// Extrema of every level with their places, and the cell that air leaves fastest.
fn check_extremes<R: Precision>(about: &str, whole: &Ended<R>, parts: &[Ended<R>]) {
    let extrema = |ended: &Ended<R>, level: usize| {
        ended.frame.summary.levels[level].extrema.expect("there are values")
    };
    for level in 0..whole.frame.summary.levels.len() {
        let expected = extrema(whole, level);
        // The first among equals is the one of the smaller number in the global grid.
        let of = |value: fn(f64) -> f64, at: fn(usize, usize) -> usize| {
            let found = parts.iter().map(|part| extrema(part, level));
            let found =
                found.map(|x| (value(x.min.f64()), value(x.max.f64()), at(x.min_at, x.max_at)));
            found.collect::<Vec<_>>()
        };
        let least = of(|x| x, |min, _| min).into_iter().map(|(min, _, at)| (min, at));
        let least = least.min_by(|a, b| a.partial_cmp(b).expect("numbers")).expect("parts");
        assert_eq!(least, (expected.min.f64(), expected.min_at), "{about}: level {level}");
        let most = of(|x| -x, |_, max| max).into_iter().map(|(_, max, at)| (max, at));
        let most = most.min_by(|a, b| a.partial_cmp(b).expect("numbers")).expect("parts");
        assert_eq!(most, (-expected.max.f64(), expected.max_at), "{about}: level {level}");
    }
    let fastest = |ended: &Ended<R>| {
        let outflow = ended.frame.summary.outflow;
        (-outflow.rate, outflow.cell)
    };
    let found = parts.iter().map(fastest).min_by(|a, b| a.partial_cmp(b).expect("numbers"));
    assert_eq!(found, Some(fastest(whole)), "{about}");
    let most = parts.iter().map(|part| part.most).fold(0.0, f64::max);
    assert_eq!(most, whole.most, "{about}: precipitation");
}

/// The sums of the parts against those of the whole: the same terms in another order. Each of at most one addition a
/// cell, tracer and step rounds by half a unit of the sum so far, and no sum exceeds what there is: all water, or all
/// of the passive tracer, which air of which not all leaves in a step also bounds the fluxes through the sides by.
fn check_sums<R: Precision>(about: &str, whole: &Ended<R>, parts: &[Ended<R>]) {
    let additions = (SHAPE.cells() * 5 * STEPS) as f64;
    let whole = whole.sums();
    for n in 0..whole.len() {
        let found: f64 = parts.iter().map(|part| part.sums()[n]).sum();
        let there = if n < 6 { whole[0] } else { whole[6] };
        let error = (found - whole[n]).abs();
        let allowed = additions * 0.5 * f64::EPSILON * there;
        assert!(error <= allowed, "{about}: sum {n} is {found}, not {} +- {allowed}", whole[n]);
    }
}

/// A storm, the run of it as a whole, and its sides and limiter in words.
struct Case<R> {
    storm: Storm<R>,
    limiter: Limiter,
    whole: Ended<R>,
    about: String,
}

impl<R: Precision> Case<R> {
    fn new(kind: [Side; 4], limiter: Limiter) -> Self {
        let storm = Storm::new(SHAPE, sides(kind), 7);
        let whole = run_whole(&storm, limiter);
        Self { storm, limiter, whole, about: format!("{kind:?}, {limiter:?}, {}", R::NAME) }
    }

    /// The number of values of owned cells in which parts with a margin differ from the whole.
    fn differing(&self, cuts: [&[usize]; 2], margin: usize) -> usize {
        let parts = Parts::new(&self.storm.grid, cuts, [margin; 2]);
        let found = run_parts(&self.storm, &parts, self.limiter);
        let pairs = parts.grids().iter().zip(&found);
        let differing = pairs
            .map(|(part, found)| differing_values(part, &found.frame, &self.whole.frame))
            .sum();
        if differing == 0 {
            let about = format!("{}, cut at {cuts:?}", self.about);
            check_extremes(&about, &self.whole, &found);
            check_sums(&about, &self.whole, &found);
        }
        differing
    }

    fn check(&self, cuts: [&[usize]; 2]) {
        assert_eq!(self.differing(cuts, MARGIN), 0, "{}, cut at {cuts:?}", self.about);
    }
}

/// All kinds of sides with all limiters, numbered.
fn cases() -> Vec<(usize, [Side; 4], Limiter)> {
    let pairs = KINDS.into_iter().flat_map(|kind| LIMITERS.map(|limiter| (kind, limiter)));
    pairs.enumerate().map(|(n, (kind, limiter))| (n, kind, limiter)).collect()
}

#[test]
fn parts_have_the_bits_of_the_whole_f64() {
    cases().into_par_iter().for_each(|(n, kind, limiter)| {
        let case = Case::<f64>::new(kind, limiter);
        case.check(CUTS);
        // Each limiter meets each of these cuts, and each kind of sides does.
        case.check(OTHER_CUTS[(n + n / 3) % 3]);
    });
}

#[test]
fn parts_have_the_bits_of_the_whole_f32() {
    cases().into_par_iter().for_each(|(_, kind, limiter)| {
        Case::<f32>::new(kind, limiter).check(CUTS);
    });
}

/// One cell less shows, in any kind of sides: a step reaches ten cells far, nine without a limiter.
#[test]
fn a_narrower_margin_is_noticed() {
    cases().into_par_iter().for_each(|(_, kind, limiter)| {
        let case = Case::<f64>::new(kind, limiter);
        let needed = if limiter == Limiter::None { MARGIN - 1 } else { MARGIN };
        let differing = case.differing(CUTS, needed - 1);
        assert!(differing > 0, "{}: a margin of {} is as good", case.about, needed - 1);
        if needed < MARGIN {
            assert_eq!(case.differing(CUTS, needed), 0, "{}", case.about);
        }
    });
}

/// The storm rains, freezes and is carried: nothing of what is compared stands still.
#[test]
fn the_storm_is_at_work() {
    let storm = Storm::<f64>::new(
        SHAPE,
        sides([Side::Specified, Side::Open, Side::Periodic, Side::Periodic]),
        7,
    );
    let ended = run_whole(&storm, Limiter::PositiveDefinite);
    for (tracer, (before, after)) in
        storm.state.set().iter().zip(storm.state.fields().iter().zip(ended.frame.state.fields()))
    {
        let changed = before.iter().zip(after).filter(|(a, b)| a != b).count();
        assert!(changed > SHAPE.cells() / 2, "{}: {changed} cells have changed", tracer.name);
    }
    let WaterChange { sides, fallen, .. } = ended.changes;
    assert!(fallen > 0.0, "{fallen}");
    assert!(sides != 0.0 && ended.smoke.change.sides != 0.0 && ended.smoke.change.decayed < 0.0);
    let surface = &ended.frame.surface;
    for plane in [surface.named("rain"), surface.named("snow")] {
        assert!(plane.iter().filter(|&&x| x > 0.0).count() > SHAPE.columns() / 4);
    }
}

/// A value that is not finite is found by the part that owns its cell, under its number in the whole, and by no other.
#[test]
fn the_owner_finds_what_is_not_finite() {
    let storm = Storm::<f64>::new(
        SHAPE,
        sides([Side::Periodic, Side::Periodic, Side::Specified, Side::Specified]),
        7,
    );
    let parts = Parts::new(&storm.grid, CUTS, [MARGIN; 2]);
    // In the first part, and in the margins of all others.
    let cell = [3, 24, 9];
    let mut flawed = storm.clone();
    flawed.state.named_mut("qr")[cell] = f64::INFINITY;
    let found = parts.grids().iter().map(|part| {
        let part = flawed.part(part);
        assert!(part.state.named("qr").iter().any(|q| q.is_infinite()));
        backend(&part, Limiter::None).check(5, true)
    });
    let found: Vec<_> = found.collect();
    match &found[0] {
        Err(Error::BlowUp { variable: "qr", step: 5, cell: at, .. }) => assert_eq!(*at, cell),
        other => panic!("{other:?}"),
    }
    assert!(found[1..].iter().all(Result::is_ok), "{found:?}");
}

#[test]
#[should_panic(expected = "have to be refreshed by its neighbours")]
fn a_part_does_not_step_without_its_neighbours() {
    let storm = Storm::<f32>::new(SHAPE, sides([Side::Specified; 4]), 7);
    let parts = Parts::new(&storm.grid, CUTS, [MARGIN; 2]);
    let _ = backend(&storm.part(&parts.grids()[0]), Limiter::None).step(DT);
}
