//! Whole runs on the emulated device, whose operations are those of the host: their frames and counters have the bits
//! of the CPU version with one column at a time; sums, which are added up in another order, are near.

use std::process::Command;
use std::sync::{Arc, LazyLock};

use ndarray::{Array, Array2, Array3, Dimension};
use time::macros::datetime;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::backend::gpu::{GpuBackend, GpuConfig, GpuPrecision};
use nwp_mini::backend::{
    Account, Backend, CapturedFrame, CollectedOutput, Output, Summary, TracerAmount, WaterChange,
};
use nwp_mini::chemistry::coupled::{Coupled, Degrees, Light};
use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::mechanism;
use nwp_mini::constituents::{Constituent, Inflow, Kind};
use nwp_mini::device::Gpu;
use nwp_mini::forcing::{Forcing, TimeInterpolant};
use nwp_mini::frame::Frame;
use nwp_mini::grid::Shape;
use nwp_mini::io::wrf;
use nwp_mini::model::{RunInput, RunPrecision};
use nwp_mini::physics::kessler::Kessler;
use nwp_mini::physics::scheme::Scheme;
use nwp_mini::real::Real;
use nwp_mini::simd::Instructions;
use nwp_mini::state::{State, Surface, TracerChange};

use crate::random::Random;
use crate::small::Small;
use crate::support::wsm5::difference::Spread;
use crate::{emulated_gpu, gpu};

static KESSLER: LazyLock<Kessler<f64>> = LazyLock::new(Kessler::default);

/// Levels of all grids.
const NZ: usize = 8;
const STEPS: usize = 3;
const DT: f64 = 20.0;
/// Seconds between the two frames of the input.
const BETWEEN: f64 = STEPS as f64 * DT;

/// Error of a sum in another order, relative to the sum of the magnitudes of its terms or to something larger.
const ANOTHER_ORDER: f64 = 1e-12;
/// Error of diagnosed fields, in ULP of their largest values: `wsm5::same_bits` has closer limits.
const ROUNDINGS: f64 = 64.0;

/// A mechanism with all that the air gives to species and rates, whose integration fails below 230 K.
const MECHANISM: &str = "#DEFVAR A = IGNORE; B = IGNORE; C = IGNORE; \
    #DEFFIX M = IGNORE; H2O = IGNORE; O2 = IGNORE; N2 = IGNORE; CH4 = IGNORE; \
    #EQUATIONS A = B : j(Pj_no2); B + M = C : 1e-20*rc_n2o5; C + H2O = A : 1e-20; \
    A + O2 = C : 1e-18*j(Pj_o31d); B + N2 = A : 1e-22; C + CH4 = B : ARR2(1e-14, 500, TEMP)*SUN; \
    C = A : 1e-3*rh + 1e-21*C_H2O + 1e-5*SQRT(TEMP - 230); \
    A = C : 1e-14*B + 1e-14*CH4 + 1e-23*O2 + 1e-24*AIR;";
/// Its photolysis frequencies.
const FREQUENCIES: usize = 2;

/// The emulated device in a process whose CPU version takes one column at a time; `None` after such a process has run
/// the test of this name.
fn emulated_gpu_without_vectors(test: &str) -> Option<Gpu> {
    let gpu = emulated_gpu()?;
    if Instructions::best().is_none() {
        return Some(gpu);
    }
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", &format!("same_bits::{test}")]).env("NWP_MINI_SIMD", "none");
    let output = again.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    None
}

fn tracer(name: &'static str, kind: Kind) -> Constituent {
    Constituent {
        kind,
        description: "a tracer",
        limiter: Some(Limiter::PositiveDefinite),
        ..Constituent::passive(name)
    }
}

/// Cells along x and y, and the sides.
type Horizontal<'a> = ([usize; 2], &'a str);

/// A run between two frames of the input.
struct Case<R> {
    input: RunInput<R>,
    state: State<R>,
    frames: [Arc<Forcing<R>>; 2],
    limiter: Limiter,
    chemistry: Option<Arc<Coupled>>,
}

impl<R: RunPrecision> Case<R> {
    fn new(([nx, ny], sides): Horizontal<'_>, limiter: Limiter, passive: &[Constituent]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.nc");
        Small::of([nx, ny, NZ], true).write(&path);
        let (domain, frame) =
            wrf::read_for(&path, Some(sides.parse().unwrap()), &KESSLER.about().set()).unwrap();
        let shape = domain.grid.shape;
        let mut random = Random::new(8);
        let mut values = |low: f64, high: f64| {
            Array3::from_shape_simple_fn(shape.centre(), || random.between(low, high))
        };
        // Transport produces small negative values.
        let fields = passive.iter().map(|_| values(-1e-5, 1e-3).mapv(|q| q as f32)).collect();
        let set = Arc::new(KESSLER.about().set().with_passive(passive.iter().copied()));
        let frame = Frame { state: frame.state.followed_by(set, fields), ..frame };
        let mut input = RunInput::<R>::new(domain, frame).unwrap();

        let mut light = || -> Vec<Array3<R>> {
            let dark_or_not = |j: f64| R::of(j.max(0.0));
            (0..FREQUENCIES).map(|_| values(-1e-2, 1e-2).mapv(dark_or_not)).collect()
        };
        let before = Forcing { photolysis: light(), ..(*input.forcing).clone() };
        let mut after = Forcing { photolysis: light(), ..before.clone() };
        let faster = |[k, j]: [usize; 2]| R::of(1.0 + 0.01 * (k + j) as f64);
        after.flux.x.indexed_iter_mut().for_each(|((k, j, _), x)| *x *= faster([k, j]));
        after.environment.rho.mapv_inplace(|rho| rho * R::of(1.01));
        for values in after.inflow.iter_mut().flatten() {
            values.west.mapv_inplace(|q| q * R::of(1.1));
        }
        let frames = [before, after].map(Arc::new);
        Self { state: input.take_state(), input, frames, limiter, chemistry: None }
    }

    /// Passive tracers of all kinds of sides, with and without limiters of their own.
    fn with_tracers(grid: Horizontal<'_>, limiter: Limiter) -> Self {
        let [smoke, dust, echo] = ["smoke", "dust", "echo"].map(|name| tracer(name, Kind::Passive));
        let (monotonic, unlimited) = (Some(Limiter::Monotonic), Some(Limiter::None));
        Self::new(
            grid,
            limiter,
            &[
                Constituent { limiter: None, decay: Some(600.0), ..smoke },
                Constituent {
                    limiter: monotonic,
                    inflow: Inflow::ZeroGradient,
                    decay: Some(900.0),
                    ..dust
                },
                Constituent { limiter: unlimited, inflow: Inflow::Constant(2e-4), ..echo },
            ],
        )
    }

    /// The species of the mechanism, without chemistry yet.
    fn with_species(grid: Horizontal<'_>, limiter: Limiter) -> Self {
        let species = ["a", "b", "c", "ch4"].map(|name| tracer(name, Kind::Chemical));
        Self::new(grid, limiter, &species)
    }

    /// Chemistry in the light of the input or under a clear sky, where some columns have night.
    fn set_chemistry(&mut self, is_prescribed: bool) {
        let Shape { nx, ny, .. } = self.input.domain.grid.shape;
        let (mechanism, _) = mechanism::parse("m", MECHANISM).mechanism().expect("a mechanism");
        let (clear, _) = Light::clear_sky(&mechanism).expect("frequencies");
        let field = |name: &str| self.input.tracers.position(&name.to_lowercase());
        let latitude = Array2::from_shape_fn((ny, nx), |(j, _)| 6.0 * j as f32 - 36.0);
        let longitude = Array2::from_shape_fn((ny, nx), |(_, i)| 19.0 * i as f32 - 171.0);
        self.chemistry = Some(Arc::new(Coupled {
            fields: mechanism.species.iter().map(|species| field(&species.name)).collect(),
            kinetics: Kinetics::new(&mechanism).expect("tables"),
            mechanism,
            light: if is_prescribed { Light::Prescribed } else { clear },
            place: [latitude, longitude].map(Degrees::Each),
            date: datetime!(2005-06-21 12:00:00),
            interval: 0.0,
            keeps_steps: true,
        }));
    }

    fn config(&self, has_sequence: bool) -> GpuConfig<'_> {
        GpuConfig {
            grid: &self.input.domain.grid,
            coordinate: &self.input.domain.coordinate,
            limiter: self.limiter,
            scheme: &*KESSLER,
            mapping: None,
            tracers: &self.input.tracers,
            has_sequence,
            chemistry: self.chemistry.as_deref(),
        }
    }

    /// The time of a step, of which the last ends with the later frame.
    fn moment(&self, step: usize) -> TimeInterpolant<R> {
        let [before, after] = self.frames.each_ref().map(Arc::clone);
        let seconds = step as f64 * DT;
        TimeInterpolant {
            number: 0,
            before,
            after: Some(after),
            flux_weight: (seconds - 0.5 * DT) / BETWEEN,
            air_weight: seconds / BETWEEN,
            seconds,
            times: [0.0, BETWEEN],
        }
    }
}

fn expect_near(about: &str, found: f64, expected: f64, limit: f64) {
    let off = (found - expected).abs();
    assert!(off <= limit, "{about}: {found:e}, not {expected:e}, within {limit:e}");
}

/// Asserts that the values of a field differ by no more than a part of the largest; 0 for the same bits.
fn expect_field<R: Real, D: Dimension>(
    about: &str,
    found: &Array<R, D>,
    expected: &Array<R, D>,
    part: f64,
) {
    let spread = Spread::of(found, expected);
    assert!(spread.is_finite && spread.largest <= part * spread.range, "{about}: {spread:?}");
}

/// Compares frames whose species are near.
fn compare_frames<R: Real>(
    about: &str,
    found: &CapturedFrame<R>,
    expected: &CapturedFrame<R>,
    near: f64,
) {
    for ((tracer, expected), found) in expected.state.tracers().zip(found.state.fields()) {
        let part = if tracer.kind == Kind::Chemical { near } else { 0.0 };
        expect_field(&format!("{about}, {}", tracer.name), found, expected, part);
    }
    let planes = found.surface.planes().iter().zip(expected.surface.planes());
    for (name, (found, expected)) in Surface::<R>::names(found.state.set()).zip(planes) {
        expect_field(&format!("{about}, {name}"), found, expected, 0.0);
    }
    let part = ROUNDINGS * R::epsilon().f64();
    let pairs = found.diagnostics.fields().iter().zip(expected.diagnostics.fields());
    for (number, (found, expected)) in pairs.enumerate() {
        expect_field(&format!("{about}, diagnosed field {number}"), found, expected, part);
    }
    let (found, expected) = (&found.summary, &expected.summary);
    expect_field(&format!("{about}, contents"), &found.contents, &expected.contents, 0.0);
    assert_eq!(found.outflow, expected.outflow, "{about}");
    compare_water(about, (found.water, found.changes), (expected.water, expected.changes));
    if near == 0.0 {
        compare_levels(about, found, expected);
    }
}

fn compare_levels<R: Real>(about: &str, found: &Summary<R>, expected: &Summary<R>) {
    let columns = (expected.contents.len() / expected.contents.dim().0) as f64;
    assert_eq!(found.levels.len(), expected.levels.len(), "{about}");
    for (n, (found, expected)) in found.levels.iter().zip(&expected.levels).enumerate() {
        let about = format!("{about}, level {n}");
        assert_eq!((found.extrema, found.nans), (expected.extrema, expected.nans), "{about}");
        let squares = expected.squares;
        expect_near(&about, found.squares, squares, ANOTHER_ORDER * squares);
        let most = (squares * columns).sqrt();
        expect_near(&about, found.sum, expected.sum, ANOTHER_ORDER * most);
    }
}

/// Compares amounts of water and their changes.
fn compare_water(about: &str, found: (f64, WaterChange), expected: (f64, WaterChange)) {
    let terms = |(water, changes): (f64, WaterChange)| {
        let WaterChange { fallen, sides, fallout_residual, clipped, mass_mismatch } = changes;
        [water, fallen, sides, fallout_residual, clipped, mass_mismatch]
    };
    for (found, term) in terms(found).into_iter().zip(terms(expected)) {
        expect_near(about, found, term, ANOTHER_ORDER * expected.0);
    }
}

fn compare_accounts(about: &str, found: &Account, expected: &Account, near: f64) {
    compare_water(about, (found.water, found.changes), (expected.water, expected.changes));
    assert_eq!(found.chemistry, expected.chemistry, "{about}");
    assert_eq!(found.precipitation, expected.precipitation, "{about}");
    assert_eq!(found.passive.len(), expected.passive.len(), "{about}");
    let terms = |tracer: &TracerAmount| {
        let TracerChange { sides, decayed, reacted, clipped } = tracer.change;
        [tracer.amount, sides, decayed, reacted, clipped]
    };
    for (n, (found, expected)) in found.passive.iter().zip(&expected.passive).enumerate() {
        let limit = (ANOTHER_ORDER + near) * expected.amount.abs();
        for (found, expected) in terms(found).into_iter().zip(terms(expected)) {
            expect_near(&format!("{about}, tracer {n}"), found, expected, limit);
        }
    }
}

/// Compares steps on both; species differ by a part `near` of their largest values. Returns the last account.
fn compare<R: RunPrecision + GpuPrecision>(gpu: &Gpu, case: &Case<R>, near: f64) -> Account {
    let Case { input, state, frames, limiter, chemistry } = case;
    let (grid, coordinate) = (&input.domain.grid, &input.domain.coordinate);
    let on_gpu = GpuBackend::new(gpu, &case.config(true), state).unwrap();
    let mut on_gpu = on_gpu.with_chemistry(chemistry.as_ref()).unwrap();
    let on_cpu = Cpu::new(grid, coordinate, *limiter, &*KESSLER, &frames[0], state.clone());
    let mut on_cpu = on_cpu.with_chemistry(chemistry.as_ref());
    let mut last = Account::default();
    for step in 1..=STEPS {
        let moment = case.moment(step);
        let both: [&mut dyn Backend<R>; 2] = [&mut on_gpu, &mut on_cpu];
        let [found, expected] = both.map(|run| {
            run.drive(&moment).unwrap();
            run.step(DT).unwrap();
            run.check(step, true).unwrap();
            run.capture(Output::Frame(0), &moment).unwrap();
            let frame = run.collect(Output::Frame(0), true).unwrap();
            let frame = frame.and_then(CollectedOutput::frame).expect("a frame");
            (frame, run.account(0).unwrap())
        });
        let about = format!("{}, {limiter:?}, step {step}", <R as Real>::NAME);
        compare_frames(&about, &found.0, &expected.0, near);
        compare_accounts(&about, &found.1, &expected.1, near);
        last = expected.1;
    }
    assert!(last.changes.fallen > 0.0 && last.changes.sides != 0.0, "{last:?}");
    last
}

fn check_tracers<R: RunPrecision + GpuPrecision>(
    gpu: &Gpu,
    grid: Horizontal<'_>,
    limiter: Limiter,
) {
    let account = compare(gpu, &Case::<R>::with_tracers(grid, limiter), 0.0);
    let decayed = account.passive.iter().filter(|tracer| tracer.change.decayed < 0.0);
    assert_eq!(decayed.count(), 2, "{account:?}");
}

#[test]
fn wind_rain_and_tracers() {
    let Some(gpu) = emulated_gpu_without_vectors("wind_rain_and_tracers") else { return };
    check_tracers::<f32>(&gpu, ([19, 13], "specified"), Limiter::PositiveDefinite);
    // Rows longer than the blocks of the sums.
    check_tracers::<f64>(&gpu, ([261, 5], "periodic,open"), Limiter::Monotonic);
}

/// The light of the input gives the same bits; that of a clear sky, which is a power of the cosine of the sun, moves
/// species by a part `near` of their largest values at most.
fn check_chemistry<R: RunPrecision + GpuPrecision>(
    gpu: &Gpu,
    grid: Horizontal<'_>,
    limiter: Limiter,
    near: f64,
) {
    let mut case = Case::<R>::with_species(grid, limiter);
    for (is_prescribed, near) in [(true, 0.0), (false, near)] {
        case.set_chemistry(is_prescribed);
        let account = compare(gpu, &case, near);
        let tally = account.chemistry.expect("chemistry");
        assert!(tally.failed > 0 && 2 * tally.failed < tally.cells, "{tally:?}");
        assert!(account.passive[..3].iter().all(|x| x.change.reacted != 0.0), "{account:?}");
    }
}

#[test]
fn chemistry() {
    let Some(gpu) = emulated_gpu_without_vectors("chemistry") else { return };
    check_chemistry::<f32>(&gpu, ([19, 13], "specified"), Limiter::Monotonic, 1e-6);
    check_chemistry::<f64>(&gpu, ([9, 6], "open,specified"), Limiter::PositiveDefinite, 1e-9);
}

/// Steps of graphs of 32, of 8 and of 1, whose sums are added up at their ends, have the bits of steps one by one.
#[test]
fn steps_end_together_with_the_bits_of_one_after_the_other() {
    const ALL: usize = 32 + 8 + 1;
    let Some(gpu) = gpu(true) else { return };
    let case = Case::<f32>::with_tracers(([19, 13], "specified"), Limiter::PositiveDefinite);
    let end = |batches: &[usize]| {
        let mut run = GpuBackend::new(&gpu, &case.config(false), &case.state).unwrap();
        run.drive(&TimeInterpolant::lasting(&case.frames[0])).unwrap();
        for &steps in batches {
            run.step_untimed(DT, steps).unwrap();
        }
        run.check(ALL, true).unwrap();
        let account = format!("{:?}", run.account(0).unwrap());
        (
            account,
            run.state().unwrap().fields().to_vec(),
            run.surface().unwrap().named("rain").clone(),
        )
    };
    let (found, expected) = (end(&[ALL]), end(&[1; ALL]));
    assert_eq!(found.0, expected.0);
    assert!(found == expected, "fields differ");
}
