//! Small tasks that pass through launchers and kernels; each prints a digest of its results, which the test that started
//! it compares.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::gpu::{GpuBackend, GpuConfig};
use nwp_mini::backend::{Backend, CapturedFrame, CollectedOutput, Output};
use nwp_mini::chemistry::gpu::{Integrator, Plan, ThreadMapping};
use nwp_mini::constituents::Constituents;
use nwp_mini::device::Buffer;
use nwp_mini::forcing::TimeInterpolant;
use nwp_mini::io::wrf;
use nwp_mini::lattice::gauge::random_links;
use nwp_mini::lattice::gpu::GpuDirac;
use nwp_mini::lattice::{Extents, GaugeField, SPINOR_REALS, Stop, solve};
use nwp_mini::model::RunInput;
use nwp_mini::physics::registry::usual_set;
use nwp_mini::physics::scheme::Scheme as _;
use nwp_mini::physics::wsm5::Wsm5;
use nwp_mini::physics::wsm5::gpu::{Mapping, Tile};
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::primitives::conjugate_gradient::{Solver, System};
use nwp_mini::primitives::gpu::conjugate_gradient::GpuSolver;
use nwp_mini::primitives::gpu::csr::{CsrConfig, DeviceCsr, Rung};
use nwp_mini::primitives::gpu::memory::{Experiment, Indices, Lab, THREADS};
use nwp_mini::primitives::gpu::reduce::ladder::{Ladder, RUNGS};
use nwp_mini::primitives::gpu::reduce::{Operation, Reducer};
use nwp_mini::primitives::gpu::transpose::{self, Transpose};
use nwp_mini::primitives::matrices;
use nwp_mini::primitives::multigrid::{Conductances, Multigrid};
use nwp_mini::primitives::reduce::Segments;
use nwp_mini::primitives::transpose::Matrices;
use nwp_mini::real::Real;
use nwp_mini::state::State;
use nwp_mini_support::chemistry::{Case, picked};

use crate::gpu;
use crate::random::Random;
use crate::several::two_parts;
use crate::small::Small;
use crate::support::wsm5::columns::columns;
use crate::support::wsm5::difference::named;
use crate::support::wsm5::weather::{Engine, Region, Weather};
use crate::wsm5;

fn tell(results: impl Hash) {
    let mut hasher = DefaultHasher::new();
    results.hash(&mut hasher);
    println!("digest: {:016x}", hasher.finish());
}

fn values(count: usize) -> Vec<f32> {
    let mut random = Random::new(3);
    (0..count).map(|_| random.between(-1.0, 1.0) as f32).collect()
}

fn bits<R: Real>(values: impl IntoIterator<Item = R>) -> Vec<u64> {
    values.into_iter().map(|x| x.f64().to_bits()).collect()
}

fn bits_of(buffer: &Buffer<f32>) -> Vec<u64> {
    bits(buffer.to_vec().unwrap())
}

/// Length of the steps, s.
const DT: f64 = 100.0;

/// A small storm whose winds change.
struct Moving {
    input: RunInput<f32>,
    state: State<f32>,
    moment: TimeInterpolant<f32>,
    tracers: Arc<Constituents>,
    scheme: Wsm5,
}

fn moving() -> Moving {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.nc");
    Small::of([21, 16, 8], true).write(&path);
    let (domain, frame) = wrf::read(&path, None).unwrap();
    let mut input = RunInput::<f32>::new(domain, frame).unwrap();
    let state = input.take_state();
    let moment = input.drive(0.0, DT).unwrap();
    let mut after = (*moment.before).clone();
    // Winds so strong that the limiter acts, and the largest outflow is that of the last block.
    for flux in [&mut after.flux.x, &mut after.flux.y] {
        flux.indexed_iter_mut().for_each(|((k, j, _), x)| *x *= 1.0 + 0.4 * (k + j) as f32);
    }
    let moment = TimeInterpolant {
        after: Some(Arc::new(after)),
        flux_weight: 0.5,
        air_weight: 0.5,
        ..moment
    };
    let (tracers, scheme) = (usual_set(), Wsm5::default());
    Moving { input, state, moment, tracers, scheme }
}

impl Moving {
    fn config(&self) -> GpuConfig<'_> {
        GpuConfig {
            grid: &self.input.domain.grid,
            coordinate: &self.input.domain.coordinate,
            limiter: Limiter::PositiveDefinite,
            scheme: &self.scheme,
            mapping: None,
            tracers: &self.tracers,
            has_sequence: true,
            chemistry: None,
        }
    }
}

/// All of a member's frame, in words.
fn frame(run: &mut GpuBackend<f32>, member: usize) -> String {
    let frame = run.collect(Output::Frame(member), true).unwrap().and_then(CollectedOutput::frame);
    in_words(frame.expect("a frame"))
}

fn in_words(frame: CapturedFrame<f32>) -> String {
    let CapturedFrame { state, surface, diagnostics, summary, .. } = frame;
    let fields = state.fields().iter().chain(diagnostics.fields());
    format!(
        "{:?} {surface:?} {summary:?}",
        fields.map(|q| bits(q.iter().copied())).collect::<Vec<_>>()
    )
}

/// A run of the GPU backend with moving winds, frames under way and the water budget.
#[test]
#[ignore = "started by another test"]
fn weather() {
    let Some(gpu) = gpu(true) else { return };
    let mut results = Vec::new();
    let case = moving();
    let mut run = GpuBackend::new(&gpu, &case.config(), &case.state).unwrap();
    // Two frames are under way at a time.
    for step in 1..=3 {
        run.drive(&case.moment).unwrap();
        run.step(DT).unwrap();
        run.capture(Output::Frame(0), &case.moment).unwrap();
        if step > 1 {
            results.push(frame(&mut run, 0));
        }
    }
    run.check(3, true).unwrap();
    results.push(frame(&mut run, 0));
    tell((results, format!("{:?}", run.account(0).unwrap())));
}

/// Two parts of a grid, each on a device of its own.
#[test]
#[ignore = "started by another test"]
fn parts() {
    if gpu(true).is_none() {
        return;
    }
    // A part that fails ends the other, which waits for its messages, as a rank of the program does.
    std::panic::set_hook(Box::new(|_| std::process::exit(1)));
    let ended = two_parts().into_iter();
    tell(
        ended.map(|part| (in_words(part.frame), format!("{:?}", part.account))).collect::<Vec<_>>(),
    );
}

/// Two members whose schemes differ.
#[test]
#[ignore = "started by another test"]
fn members() {
    let Some(gpu) = gpu(true) else { return };
    let case = moving();
    let mut schemes = [0, 1].map(|_| Wsm5::default().boxed());
    schemes[1].set("n0r", 1.2e7).unwrap();
    let config = GpuConfig { has_sequence: false, ..case.config() };
    let mut run = GpuBackend::of_members(&gpu, &config, &schemes, |_| case.state.clone()).unwrap();
    let moment = TimeInterpolant { after: None, ..case.moment.clone() };
    run.drive(&moment).unwrap();
    run.step(DT).unwrap();
    run.step(DT).unwrap();
    let mut results = Vec::new();
    for member in 0..2 {
        run.capture(Output::Frame(member), &moment).unwrap();
        results.push(frame(&mut run, member));
        results.push(format!("{:?}", run.account(member).unwrap()));
    }
    tell(results);
}

/// Two calls of tiles of two forms, each of several minor steps.
#[test]
#[ignore = "started by another test"]
fn microphysics() {
    let Some(gpu) = gpu(true) else { return };
    let before = Weather::<f32>::of(&columns(27, 40), 1, 300.0);
    let mut results = Vec::new();
    for threads in [256, 128] {
        let tile = Mapping::Tile(Tile { columns: 8, threads, blocks: 1 });
        let engine = wsm5::engine::GpuBackend::<f32>::new(&gpu, Scheme::default(), tile);
        let mut weather = before.clone();
        engine.call(200.0, &mut weather, &Region::whole(before.shape()));
        results.extend(named(&weather).iter().flat_map(|(_, field)| bits(field.iter().copied())));
    }
    tell(results);
}

/// Rates that follow the sun, of more cells than places: by tables, with several workers for each cell in warps of their
/// own, and by straight-line code.
#[test]
#[ignore = "started by another test"]
fn chemistry() {
    let Some(gpu) = gpu(true) else { return };
    let mut results = Vec::new();
    for (mechanism, is_straight) in [("saprc99", false), ("small_strato", true)] {
        let case = Case::named(mechanism);
        let mut settings = case.run("na", "ros3_600").expect("the run is there").settings;
        // Wrong kernels may take very many steps.
        settings.interval = 1e-3;
        let shared = gpu.device().shared_bytes as usize;
        let few = ThreadMapping {
            cells: 32,
            workers: 3,
            shared_bytes: 1 << 15,
            resident: 1,
            is_straight: false,
        };
        let straight = || ThreadMapping::straight(&case.kinetics, shared, 4).expect("it fits");
        let form = if is_straight { straight() } else { few };
        let plan = Plan { method: settings.method, rates: settings.rates, form };
        let kernels = Integrator::new(&gpu, &case.kinetics, plan).unwrap();
        // More than all blocks hold at a time.
        let all = case.cells();
        let cells = picked(&all, &(0..200).map(|cell| cell * 7 % all.len()).collect::<Vec<_>>());
        let on_device = kernels.upload(&cells).unwrap();
        kernels.integrate(&on_device, &settings).unwrap();
        results.extend(bits(on_device.concentrations().unwrap()));
        results
            .extend(on_device.outcomes().unwrap().iter().map(|out| u64::from(out.counters.steps)));
    }
    tell(results);
}

#[test]
#[ignore = "started by another test"]
fn lattice() {
    let Some(gpu) = gpu(true) else { return };
    let extents = Extents::new([4, 4, 2, 6]).unwrap();
    let mut random = Random::new(5);
    let links = random_links(extents, || random.between(-1.0, 1.0));
    let gauge = GaugeField { extents, links: &links, antiperiodic_t: true };
    let device = GpuDirac::<f32>::new(&gpu, gauge, 0.0).unwrap();
    let b = values(extents.volume() * SPINOR_REALS);
    let found = solve(&device, 0.1, &b, Stop { tolerance: 1e-4, most: 16 }).unwrap();
    tell((bits(found.x), bits(found.history), bits([found.residual])));
}

#[test]
#[ignore = "started by another test"]
fn reductions() {
    let Some(gpu) = gpu(true) else { return };
    let given = gpu.upload(&values(5000)).unwrap();
    let on_device = gpu.zeros(5000).unwrap();
    let reducer = Reducer::<f32>::new(&gpu).unwrap();
    // What is reduced has been made by the kernel before.
    let turn = Transpose::<f32>::new(&gpu, Matrices::one(50, 100)).unwrap();
    let segments = Segments { first: 1, length: 1600, count: 3, stride: 1660 };
    let mut found = Vec::new();
    for operation in Operation::ALL.into_iter().filter(|operation| !operation.takes_two()) {
        let results = gpu.zeros(segments.count * operation.words()).unwrap();
        results.poison().unwrap();
        on_device.poison().unwrap();
        turn.run(&given, &on_device).unwrap();
        reducer.reduce(operation, &on_device, segments, &results).unwrap();
        found.extend(results.to_vec().unwrap());
    }
    // Of whole numbers: some rungs add up in any order.
    let whole: Vec<f32> = values(5000).iter().map(|x| (16.0 * x).round()).collect();
    let on_device = gpu.upload(&whole).unwrap();
    let ladder = Ladder::<f32>::new(&gpu, whole.len()).unwrap();
    for rung in RUNGS {
        ladder.invalidate().unwrap();
        ladder.launch(rung, &on_device, 0, whole.len()).unwrap();
        found.extend(bits([ladder.result().unwrap()]));
    }
    let lab = Lab::new(&gpu).unwrap();
    let experiment = Experiment::Banks { step: 1, rounds: 3 };
    let count = 5 * THREADS as usize;
    let after = gpu.zeros(experiment.needs(count)[1]).unwrap();
    let indices = Indices::new(&gpu, &[]).unwrap();
    lab.run(experiment, &on_device, &after, &indices, count).unwrap();
    found.extend(bits_of(&after));
    tell(found);
}

#[test]
#[ignore = "started by another test"]
fn matrices() {
    let Some(gpu) = gpu(true) else { return };
    let matrix = matrices::stencil::<f32>([13, 8, 5], true).unwrap();
    let mut found = Vec::new();
    // Tiles of few entries, so that rows are cut.
    let usual = CsrConfig::usual(nwp_mini::real::Precision::F32);
    let small = CsrConfig { tile_threads: 64, tile_rounds: 2, ..usual };
    for config in [usual, small] {
        let device = DeviceCsr::with(&gpu, &matrix, config).unwrap();
        for vectors in [1, 2] {
            let x = gpu.upload(&values(520 * vectors)).unwrap();
            let [y, z] = [(); 2].map(|()| gpu.zeros::<f32>(520 * vectors).unwrap());
            for rung in Rung::ALL {
                y.poison().unwrap();
                z.poison().unwrap();
                device.multiply_by(rung, &x, &y, vectors).unwrap();
                // A product with what the kernel before has made.
                device.multiply_by(rung, &y, &z, vectors).unwrap();
                found.extend(bits_of(&y));
                found.extend(bits_of(&z));
            }
        }
    }
    let matrices = Matrices { count: 2, rows: 70, columns: 133 };
    let from = gpu.upload(&values(matrices.len())).unwrap();
    let to = gpu.zeros(matrices.len()).unwrap();
    let transposes = Transpose::<f32>::new(&gpu, matrices).unwrap();
    for rung in transpose::Rung::ALL {
        to.poison().unwrap();
        transposes.run_by(rung, &from, &to).unwrap();
        found.extend(bits_of(&to));
    }
    let back = Transpose::<f32>::new(&gpu, matrices.transposed()).unwrap();
    let again = gpu.zeros(matrices.len()).unwrap();
    to.poison().unwrap();
    transposes.run(&from, &to).unwrap();
    back.run(&to, &again).unwrap();
    found.extend(bits_of(&again));
    tell(found);
}

/// Many blocks on the finest grid; directions of odd and even numbers of cells, and one that wraps around.
#[test]
#[ignore = "started by another test"]
fn potential() {
    let Some(gpu) = gpu(true) else { return };
    let extents @ [nx, ny] = [29, 22];
    let conductances = |count| -> Vec<f64> {
        values(count).into_iter().map(|x| 1.0 + f64::from(x).abs()).collect()
    };
    let (mut x, y) = (conductances((nx + 1) * ny), conductances(nx * (ny + 1)));
    (0..ny).for_each(|j| x[j * (nx + 1) + nx] = x[j * (nx + 1)]);
    let network = Conductances { extents, periodic: [true, false], x, y };
    let (matrix, multigrid) = (network.matrix().unwrap(), Multigrid::new(&network));
    let b: Vec<f64> = values(nx * ny).into_iter().map(f64::from).collect();
    let system = System { matrix: &matrix, multigrid: &multigrid };
    let solver = GpuSolver::new(&gpu).unwrap();
    let solution = solver.solve(system, &b, &vec![1e-9; b.len()], 200).unwrap();
    tell((bits(solution.x), solution.iterations));
}
