//! A storm on several devices, each with a part of the grid: the bits of one device with the whole, with margins that are
//! exchanged before every step.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ndarray::{Array3, s};

use nwp_mini::advection::{Limiter, MARGIN};
use nwp_mini::backend::gpu::{GpuBackend, GpuConfig, GpuNeighbours, GpuPrecision};
use nwp_mini::backend::ranks::Ranked;
use nwp_mini::backend::{Account, Backend, CapturedFrame, CollectedOutput, Output};
use nwp_mini::device::{Branch, DirectExchange, Exchange, Gpu, Parcels, StagedExchange};
use nwp_mini::error::Result;
use nwp_mini::forcing::TimeInterpolant;
use nwp_mini::grid::{DividedGrid, Grid, Parts, Shape, Side};
use nwp_mini::physics::wsm5::Wsm5;
use nwp_mini::ranks::of_threads::threads;
use nwp_mini::ranks::{Ranks, Team};
use nwp_mini::real::Real;
use nwp_mini::state::State;
use nwp_mini_support::emulated_device;
use nwp_mini_support::parts::storm::{DT, Storm};

use crate::random_cases::sides;
use crate::{emulated_gpu, gpu};

const P: Side = Side::Periodic;
const S: Side = Side::Specified;
const O: Side = Side::Open;

const SHAPE: Shape = Shape { nx: 27, ny: 25, nz: 4 };
/// More than the graphs that a host may be ahead.
const STEPS: usize = 10;
/// A graph of two, and one of one.
const FEW_STEPS: usize = 3;

/// A value that no field has.
const STRANGE: f64 = 7.0e4;

/// Relative difference of sums that are added in another order.
const ROUNDED: f64 = 1e-12;

/// A grid cut into parts.
#[derive(Clone, Copy)]
struct Case {
    shape: Shape,
    sides: [Side; 4],
    limiter: Limiter,
    cuts: [&'static [usize]; 2],
    /// The input has two frames.
    has_sequence: bool,
    steps: usize,
}

/// Two parts, one above the other.
const ONE_ABOVE_THE_OTHER: Case = Case {
    shape: SHAPE,
    sides: [S, O, O, S],
    limiter: Limiter::PositiveDefinite,
    cuts: [&[], &[10]],
    has_sequence: true,
    steps: STEPS,
};

/// The same with rows as long as tiles need, which leave out the outer rows of the margins.
const BY_TILES: Case = Case {
    shape: Shape { nx: 124, ny: 46, nz: 4 },
    cuts: [&[], &[23]],
    has_sequence: false,
    steps: FEW_STEPS,
    ..ONE_ABOVE_THE_OTHER
};

/// The way of the messages.
#[derive(Clone, Copy)]
enum Way {
    /// Through the host.
    Staged,
    /// From device to device, recorded in graphs of several steps.
    Direct,
    /// Through the host, but that one exchange, counted from 0, is left out, or does not wait for the device.
    Forgetful(usize, Lapse),
}

/// A step of the exchange that is forgotten.
#[derive(Clone, Copy, Debug)]
enum Lapse {
    Exchange,
    Wait,
}

impl Way {
    fn exchange(self, gpu: &Gpu, ranks: &Arc<dyn Ranks>) -> Box<dyn Exchange> {
        match self {
            Self::Staged => Box::new(StagedExchange::new(ranks)),
            Self::Direct => {
                Box::new(DirectExchange::between(gpu, ranks).expect("a group of devices"))
            }
            Self::Forgetful(forgotten, lapse) => {
                let (inner, calls) = (StagedExchange::new(ranks), AtomicUsize::new(0));
                Box::new(Forgetful { inner, calls, forgotten, lapse })
            }
        }
    }
}

/// An exchange that is left out once, or once does not wait.
#[derive(Debug)]
struct Forgetful {
    inner: StagedExchange,
    calls: AtomicUsize,
    forgotten: usize,
    lapse: Lapse,
}

impl Exchange for Forgetful {
    fn about(&self) -> String {
        self.inner.about()
    }

    fn is_recordable(&self) -> bool {
        self.inner.is_recordable()
    }

    fn exchange(&self, branch: Branch<'_>, parcels: &Parcels) -> Result<()> {
        if self.forgotten == self.calls.fetch_add(1, Ordering::Relaxed) {
            match self.lapse {
                Lapse::Exchange => return Ok(()),
                Lapse::Wait => emulated_device::forget_a_wait(),
            }
        }
        self.inner.exchange(branch, parcels)
    }
}

/// The last frame of a run, and its sums.
pub(crate) struct Ended<R> {
    pub(crate) frame: CapturedFrame<R>,
    pub(crate) account: Account,
}

impl Case {
    fn moment<R: Real>(self, storm: &Storm<R>, step: usize) -> TimeInterpolant<R> {
        if self.has_sequence {
            storm.moment(step)
        } else {
            TimeInterpolant::lasting(storm.forcing())
        }
    }

    /// A run on one device of the whole, or of a part with its neighbours.
    fn backend<R: GpuPrecision>(
        self,
        gpu: &Gpu,
        storm: &Storm<R>,
        neighbours: Option<GpuNeighbours<'_>>,
    ) -> GpuBackend<R> {
        let scheme = Wsm5::default();
        let setting = GpuConfig {
            grid: &storm.grid,
            coordinate: &storm.coordinate,
            limiter: self.limiter,
            scheme: &scheme,
            mapping: None,
            tracers: storm.state.set(),
            has_sequence: self.has_sequence,
            chemistry: None,
        };
        let backend = match neighbours {
            None => GpuBackend::new(gpu, &setting, &storm.state),
            Some(near) => {
                let state = without_margins(&storm.grid, &storm.state);
                GpuBackend::of_part(gpu, &setting, &state, near)
            }
        };
        backend.expect("memory and kernels")
    }

    /// All steps in the winds of a storm.
    fn run<R: Real>(self, backend: &mut dyn Backend<R>, storm: &Storm<R>) -> Ended<R> {
        for step in 0..self.steps {
            backend.drive(&self.moment(storm, step)).expect("no error of the device");
            backend.step(DT).expect("no error of the device");
        }
        // Once: an emulated device goes on only where its host waits for it, and not for other ranks.
        backend.check(self.steps, true).expect("finite in owned cells");
        let moment = self.moment(storm, self.steps);
        backend.capture(Output::Frame(0), &moment).expect("no error of the device");
        let output = backend.collect(Output::Frame(0), true).expect("finite");
        let frame = output.and_then(CollectedOutput::frame).expect("a frame");
        Ended { frame, account: backend.account(0).expect("sums") }
    }

    fn run_whole<R: GpuPrecision>(self, gpu: &Gpu, storm: &Storm<R>) -> Ended<R> {
        self.run(&mut self.backend(gpu, storm, None), storm)
    }

    /// Runs of all parts at once, each on a device of its own where they are emulated.
    fn run_parts<R: GpuPrecision>(
        self,
        storm: &Storm<R>,
        parts: &Parts,
        way: Way,
    ) -> Vec<Ended<R>> {
        thread::scope(|scope| {
            let start = |(part, ranks): (usize, Arc<dyn Ranks>)| {
                let of_part = storm.part(&parts.grids()[part]);
                let divided = DividedGrid::new(&Team::new(Arc::clone(&ranks)), parts.clone());
                scope.spawn(move || {
                    let gpu = gpu(false).expect("the GPU of the whole");
                    let exchange = way.exchange(&gpu, &ranks);
                    let near = GpuNeighbours { parts, part, exchange, gb_per_s: None };
                    let own = self.backend(&gpu, &of_part, Some(near));
                    let (grid, coordinate) = (&storm.grid, &storm.coordinate);
                    let mut own = Ranked::on_gpu(&Arc::new(divided), own, grid, coordinate);
                    self.run(&mut own, &of_part)
                })
            };
            let ranks = threads(parts.grids().len()).into_iter().enumerate();
            let runs: Vec<_> = ranks.map(start).collect();
            runs.into_iter().map(|run| run.join().expect("no panic")).collect()
        })
    }
}

/// A state with numbers of no weather in the margins, which are refreshed before they are used.
fn without_margins<R: Real>(grid: &Grid, state: &State<R>) -> State<R> {
    let owned = grid.owned();
    state.map(|field| {
        let mut mine = Array3::from_elem(field.dim(), R::of(STRANGE));
        owned.of_mut(&mut mine).assign(&owned.of(field));
        mine
    })
}

/// Values of all fields and planes of a part's frame that differ from those of the whole in their bits.
fn differing<R: Real>(part: &Grid, found: &CapturedFrame<R>, whole: &CapturedFrame<R>) -> usize {
    let owned = part.owned();
    let [j, i] = part.global_column([owned.rows.start, owned.columns.start]);
    let (rows, columns) = (j..j + owned.rows.len(), i..i + owned.columns.len());
    let volumes = |frame: &CapturedFrame<R>| -> Vec<Array3<R>> {
        let planes = frame.surface.planes().iter();
        let planes = planes.map(|plane| plane.clone().insert_axis(ndarray::Axis(0)));
        let fields = frame.state.fields().iter().chain(frame.diagnostics.fields()).cloned();
        fields.chain([frame.summary.contents.clone()]).chain(planes).collect()
    };
    let is_same = |a: R, b: R| a.f64().to_bits() == b.f64().to_bits();
    let pairs = volumes(found).into_iter().zip(volumes(whole));
    let count = |(part, whole): (Array3<R>, Array3<R>)| {
        let whole = whole.slice_move(s![.., rows.clone(), columns.clone()]);
        assert_eq!(part.dim(), whole.dim(), "the owned cells");
        part.iter().zip(&whole).filter(|&(&a, &b)| !is_same(a, b)).count()
    };
    pairs.map(count).sum()
}

/// Sums, each with an amount that differences are compared with: its terms may cancel.
fn sums(account: &Account) -> Vec<[f64; 2]> {
    let (water, changes) = (account.water, account.changes);
    let of_water = [
        water,
        changes.sides,
        changes.fallen,
        changes.fallout_residual,
        changes.clipped,
        changes.mass_mismatch,
    ];
    let passive = account.passive.iter().flat_map(|tracer| {
        [tracer.amount, tracer.change.sides, tracer.change.decayed].map(|x| [x, tracer.amount])
    });
    of_water.into_iter().map(|x| [x, water]).chain(passive).collect()
}

/// Every part has the outflow and the sums of the whole, and the first one the statistics of its levels.
fn check_sums<R: Real>(about: &str, whole: &Ended<R>, parts: &[Ended<R>]) {
    let levels = |ended: &Ended<R>| ended.frame.summary.levels.clone();
    assert!(!levels(whole).is_empty() && levels(&parts[0]) == levels(whole), "{about}: levels");
    let fastest = whole.frame.summary.outflow;
    for part in parts {
        let found = part.frame.summary.outflow;
        assert_eq!((found.rate, found.cell), (fastest.rate, fastest.cell), "{about}: outflow");
        let [found, expected] = [part, whole].map(|ended| ended.account.precipitation.most);
        assert_eq!(found, expected, "{about}: the most rain");
        let pairs = sums(&part.account).into_iter().zip(sums(&whole.account));
        for (number, ([sum, _], [expected, amount])) in pairs.enumerate() {
            let off = (sum - expected).abs();
            assert!(off <= ROUNDED * amount, "{about}: sum {number} is {sum:e}, not {expected:e}");
        }
    }
}

fn check<R: GpuPrecision>(about: &str, case: Case, ways: &[Way]) {
    let Some(gpu) = gpu(false) else { return };
    let storm = Storm::<R>::new(case.shape, sides(case.sides), 5);
    let parts = Parts::new(&storm.grid, case.cuts, [MARGIN; 2]);
    let whole = case.run_whole(&gpu, &storm);
    let rain = whole.frame.surface.named("rain");
    assert!(rain.iter().any(|rain| *rain > R::ZERO), "{about}: it rains");
    for way in ways {
        let ended = case.run_parts(&storm, &parts, *way);
        for (part, found) in parts.grids().iter().zip(&ended) {
            let differing = differing(part, &found.frame, &whole.frame);
            assert_eq!(differing, 0, "{about}: values of {:?} differ", part.owned());
        }
        check_sums(about, &whole, &ended);
    }
}

/// The ways that this machine has: NCCL needs a GPU for each rank.
fn ways() -> Vec<Way> {
    let mut ways = vec![Way::Staged];
    ways.extend(crate::device::is_emulated().then_some(Way::Direct));
    ways
}

#[test]
fn four_parts_have_the_bits_of_the_whole() {
    let case = Case {
        shape: SHAPE,
        sides: [P, P, S, S],
        limiter: Limiter::PositiveDefinite,
        cuts: [&[12], &[11]],
        has_sequence: false,
        steps: STEPS,
    };
    check::<f32>("2x2", case, &ways());
}

#[test]
fn two_parts_have_the_bits_of_the_whole_in_double_precision() {
    let case = Case {
        shape: SHAPE,
        sides: [O, S, P, P],
        limiter: Limiter::Monotonic,
        cuts: [&[15], &[]],
        has_sequence: true,
        steps: STEPS,
    };
    check::<f64>("2x1", case, &[Way::Staged]);
}

#[test]
fn two_parts_one_above_the_other_have_the_bits_of_the_whole() {
    check::<f32>("1x2", ONE_ABOVE_THE_OTHER, &ways());
}

#[test]
fn two_parts_by_tiles_have_the_bits_of_the_whole() {
    check::<f32>("1x2 by tiles", BY_TILES, &ways());
}

/// Two parts after few steps, with messages from device to device beside the microphysics.
pub(crate) fn two_parts() -> Vec<Ended<f32>> {
    let case = Case { steps: FEW_STEPS, ..ONE_ABOVE_THE_OTHER };
    let storm = Storm::<f32>::new(case.shape, sides(case.sides), 5);
    let parts = Parts::new(&storm.grid, case.cuts, [MARGIN; 2]);
    case.run_parts(&storm, &parts, Way::Direct)
}

/// Margins of the step before are noticed, whether nothing was exchanged or what had not been packed yet.
#[test]
fn a_missing_exchange_and_a_missing_wait_are_noticed() {
    let Some(gpu) = emulated_gpu() else { return };
    let case = ONE_ABOVE_THE_OTHER;
    let storm = Storm::<f32>::new(case.shape, sides(case.sides), 5);
    let parts = Parts::new(&storm.grid, case.cuts, [MARGIN; 2]);
    let whole = case.run_whole(&gpu, &storm);
    for lapse in [Lapse::Exchange, Lapse::Wait] {
        let ended = case.run_parts(&storm, &parts, Way::Forgetful(STEPS - 1, lapse));
        let of_part =
            |(part, found): (&Grid, &Ended<f32>)| differing(part, &found.frame, &whole.frame);
        let differing: usize = parts.grids().iter().zip(&ended).map(of_part).sum();
        assert!(differing > 0, "{lapse:?} is not missed");
    }
}
