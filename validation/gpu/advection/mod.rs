//! The transport on the GPU: as WRF's own, and as on the CPU.

mod same_bits;

use ndarray::Array3;
use nwp_mini::advection::flux::FluxConstants;
use nwp_mini::advection::gpu::transport::{Transport, Wind};
use nwp_mini::advection::gpu::{LaunchBounds, LaunchConfig, TransportSettings};
use nwp_mini::advection::{self, InflowValues, Limiter, Workspace};
use nwp_mini::device::{Buffer, Element, Gpu};
use nwp_mini::dry_mass::MassFlux;
use nwp_mini::grid::gpu::Layout;
use nwp_mini::grid::{Grid, Shape, Side};
use nwp_mini::real::Precision;
use nwp_mini::state::BoundaryValues;
use rayon::prelude::*;

use crate::case::{SCHEMES, difference, field, largest, read, table};
use crate::random_cases::{KINDS, random_case, sides};
use crate::{gpu, seed, support};

/// The truth is stored with 11 digits.
const F64_LIMIT: f64 = 1.0e-10;
/// WRF's own single precision is up to 1.3e-6 off after 50 steps.
const F32_LIMIT: f64 = 5.0e-6;
/// Negative values due to rounding, relative to the maximum: WRF's own are up to 7e-8.
const NEGATIVE_LIMIT: f64 = 1.0e-7;
/// The limits of the CPU version for the mass in periodic grids and for a constant tracer in single precision: WRF's own
/// is 1.3e-6 off, since its stored wind closes to single precision.
const DRIFT_LIMIT: f64 = 1.0e-6;
const CONSTANT_LIMIT: f64 = 2.0e-6;
/// Two steps of the CPU version in single precision differ from double precision by up to 2.4e-7, and those of the
/// device by as much in other cells; ten times that is far below the effect of a wrong flux.
const F32_PAIR_LIMIT: f64 = 2.0e-6;
/// In double precision the rounding of sums over all cells is the most that can be seen.
const F64_PAIR_LIMIT: f64 = 1.0e-13;
/// On the emulated device, where fields have the bits of the CPU version, fluxes through sides are still added up in
/// another order.
const ENTERED_LIMIT: f64 = 1.0e-12;

/// A launch configuration with small blocks of two sizes, so that small grids have several.
pub(crate) fn launch_config(cells: usize, levels: usize) -> LaunchConfig {
    let block = |threads| LaunchBounds { threads, resident: 1 };
    LaunchConfig {
        stage: block(64),
        limited: block(96),
        cells,
        levels,
        linear_indexing: false,
        parts: 1,
        width: 3,
        tiled: false,
        stages_tiled: false,
    }
}

/// Puts fluxes through x-, y- and z-faces on the device.
fn upload<R: Element>(gpu: &Gpu, flux: &MassFlux<R>, layout: Layout) -> [Buffer<R>; 3] {
    let [x, y, z] =
        [&flux.x, &flux.y, &flux.z].map(|flux| flux.as_slice().expect("standard layout"));
    [layout.padded_x_faces(x), layout.padded(y), layout.padded(z)]
        .map(|flux| gpu.upload(&flux).unwrap())
}

/// Several steps of some tracers on the GPU, and the inflow. All memory that the kernels have to write is NaN at the
/// start.
pub(crate) fn steps<R: FluxConstants + Element>(
    gpu: &Gpu,
    wind: &advection::Wind<'_, R>,
    settings: TransportSettings,
    tracers: &[Array3<R>],
    inflow: &[BoundaryValues<R>],
    count: usize,
) -> (Vec<Array3<R>>, Vec<f64>) {
    let advection::Wind { grid, air, flux, dt } = *wind;
    let transport = Transport::new(gpu, grid, air, settings).unwrap();
    transport.poison().unwrap();
    let layout = transport.layout();
    let [x, y, z] = upload(gpu, flux, layout);
    let sides =
        inflow.iter().flat_map(|values| [&values.west, &values.east, &values.south, &values.north]);
    let inflow: Vec<R> = sides.flat_map(|side| side.iter().copied()).collect();
    let inflow = (!inflow.is_empty()).then(|| gpu.upload(&inflow).unwrap());
    let wind = Wind { flux: [&x, &y, &z], inflow: inflow.as_ref() };
    let values: Vec<R> = tracers.iter().flat_map(|q| q.iter().copied()).collect();
    let mut start = gpu.upload(&layout.padded(&values)).unwrap();
    let mut end = gpu.zeros(start.len()).unwrap();
    end.poison().unwrap();
    for _ in 0..count {
        transport.step(&wind, &start, &end, dt).unwrap();
        transport.count_entered(dt).unwrap();
        std::mem::swap(&mut start, &mut end);
    }
    let shape = grid.shape;
    let found = start.to_vec().unwrap();
    let found = layout.unpadded(&found);
    let fields = found.chunks_exact(shape.cells()).map(|field| {
        Array3::from_shape_vec(shape.centre(), field.to_vec()).expect("a field of the grid")
    });
    (fields.collect(), transport.entered().unwrap())
}

fn minimum(q: &Array3<f64>) -> f64 {
    q.iter().fold(f64::INFINITY, |least, x| x.min(least))
}

fn check_reference<R: FluxConstants + Element>(gpu: &Gpu, limit: f64) {
    let file = support::reference("adv");
    let groups = file.groups().expect("a NetCDF-4 file");
    let names: Vec<String> =
        groups.map(|group| group.name()).filter(|name| name.starts_with("rk3_")).collect();
    assert!(!names.is_empty(), "the reference file has no group rk3_*");
    // Compiling takes most of the time, and one core for each kernel.
    names.into_par_iter().for_each(|name| {
        let group = file.group(&name).expect("a group").expect("the group of this name");
        let case = read(&group, "q0");
        let (air, flux) = (case.air::<R>(), case.flux::<R>());
        let wind = advection::Wind { grid: &case.grid, air: &air, flux: &flux, dt: case.dt };
        for (limiter, scheme) in SCHEMES {
            let name = format!("{} {} {scheme}", group.name(), R::NAME);
            let settings =
                TransportSettings::for_device(gpu, &case.grid, R::PRECISION, [1, 0], limiter);
            let start = [case.q.mapv(R::of)];
            let (found, _) = steps(gpu, &wind, settings, &start, &[], case.steps);
            let q = found[0].mapv(R::f64);
            let error = difference(&q, &field(&group, &format!("q_{scheme}_f64")));
            let history = table(&group, &format!("hist_{scheme}_f64"));
            let census = case.census(&q, case.steps).expect("finite");
            let mass = (census.mass - history[[case.steps, 0]]).abs() / history[[0, 0]].abs();
            println!("{name}: {error:.2e}, mass {mass:.2e}, min {:.2e}", minimum(&q));
            assert!(error <= limit, "{name}: {error:e} above {limit:e}");
            assert!(mass <= limit, "{name}: mass {mass:e} above {limit:e}");
            let grid = case.grid.sides;
            let is_open = [grid.west, grid.east, grid.south, grid.north].contains(&Side::Open);
            if limiter == Limiter::PositiveDefinite && !is_open && minimum(&case.q) >= 0.0 {
                let least = minimum(&q);
                assert!(least >= -NEGATIVE_LIMIT * largest(&case.q), "{name}: {least}");
            }
            if grid.periodic_x() && grid.periodic_y() {
                let start = case.census(&case.q, 0).expect("finite").mass;
                let drift = (census.mass - start).abs() / start.abs();
                assert!(drift <= DRIFT_LIMIT, "{name}: mass drifts by {drift:e}");
            }
            if group.name() == "rk3_constant" && R::PRECISION == Precision::F32 {
                let value = case.q[[0, 0, 0]];
                let drift = q.iter().fold(0.0_f64, |most, x| most.max((x - value).abs() / value));
                println!("{name}: drift {drift:.2e}");
                assert!(drift <= CONSTANT_LIMIT, "{name}: {drift:e}");
            }
        }
    });
}

#[test]
fn transport_reference() {
    for fast_math in crate::sized(&[true, false][..], &[false]) {
        let Some(gpu) = gpu(*fast_math) else { return };
        check_reference::<f32>(&gpu, F32_LIMIT);
        check_reference::<f64>(&gpu, F64_LIMIT);
    }
}

/// Two steps of tracers on both. With `given` air brings in values; with zero gradient every other tracer then has that
/// of the neighbour inside: its values at the sides are NaN.
fn check_steps<R: FluxConstants + Element>(
    gpu: &Gpu,
    (shape, kind, seed): (Shape, [Side; 4], u64),
    settings: TransportSettings,
    given: bool,
    limit: f64,
) {
    let case = random_case(shape, sides(kind), seed);
    let (air, flux) = (case.air::<R>(), case.flux::<R>());
    let wind = advection::Wind { grid: &case.grid, air: &air, flux: &flux, dt: case.dt };
    let tracer = |n| random_case(shape, sides(kind), seed + n).q.mapv(R::of);
    let tracers: Vec<Array3<R>> = (0..settings.tracers as u64).map(tracer).collect();
    let is_flat = |n: usize| given && settings.zero_gradient && (n as u64 + seed) % 2 == 1;
    let values = |(n, q): (usize, &Array3<R>)| {
        BoundaryValues::of(&q.mapv(|x| if is_flat(n) { R::nan() } else { x + R::ONE }))
    };
    let inflow: Vec<BoundaryValues<R>> =
        if given { tracers.iter().enumerate().map(values).collect() } else { Vec::new() };
    let (found, entered) = steps(gpu, &wind, settings, &tracers, &inflow, 2);
    let mut work = Workspace::new(shape);
    for (n, tracer) in tracers.iter().enumerate() {
        let what = format!("{shape} {kind:?} {} {settings:?}, tracer {n}, seed {seed}", R::NAME);
        let limiter = if n < settings.unlimited { Limiter::None } else { settings.limiter };
        let inflow = if is_flat(n) { InflowValues::Neighbour } else { inflow.get(n).into() };
        let mut q = tracer.clone();
        let came: f64 =
            (0..2).map(|_| advection::step(&wind, limiter, inflow, &mut q, &mut work)).sum();
        let q = q.mapv(R::f64);
        let (error, most) = (difference(&found[n], &q), crate::sized(limit, 0.0));
        assert!(error <= most, "{what}: {error:e} above {most:e}");
        let mass = case.census(&q, 0).expect("finite").mass;
        let most = crate::sized(limit * mass, ENTERED_LIMIT * came.abs().max(q.sum()));
        let is_near = (entered[n] - came).abs() <= most;
        assert!(is_near, "{what}: {} entered, not {came}", entered[n]);
    }
}

/// Three tracers, the first of them without limiter, in the launch configurations of the device.
fn check_pair<R: FluxConstants + Element>(
    gpu: &Gpu,
    shape: Shape,
    kind: [Side; 4],
    seed: u64,
    limit: f64,
) {
    let grid = Grid::whole(shape, [1.0; 2], sides(kind));
    for (limiter, _) in SCHEMES {
        let chosen = TransportSettings::for_device(gpu, &grid, R::PRECISION, [3, 1], limiter);
        let layout = chosen.layout(&grid);
        // Short marches, in turn, and long ones, in rows, and tiles.
        let with = |levels, tiled| LaunchConfig { levels, tiled, ..chosen.launch_config };
        let mut forms = vec![with(1, false)];
        if chosen.launch_config.linear_indexing {
            forms.push(LaunchConfig { parts: 2, ..with(2, false) });
        }
        if limiter == Limiter::PositiveDefinite {
            forms.push(LaunchConfig { linear_indexing: false, ..with(shape.nz, false) });
            if R::PRECISION == Precision::F32
                && layout.pitch() >= chosen.launch_config.least_tiled()
            {
                forms.push(LaunchConfig { linear_indexing: false, ..with(1, true) });
            }
        }
        if R::PRECISION == Precision::F32 && chosen.launch_config.stages_can_be_tiled(layout) {
            forms.push(LaunchConfig {
                linear_indexing: false,
                stages_tiled: true,
                ..with(1, false)
            });
        }
        for launch_config in forms {
            let settings = TransportSettings { launch_config, ..chosen };
            check_steps::<R>(gpu, (shape, kind, seed), settings, seed.is_multiple_of(2), limit);
        }
    }
}

/// All kinds of sides, sizes just beyond multiples of those of a thread and a block, and the smallest sizes.
#[test]
fn transport_is_that_of_the_cpu() {
    const SHAPES: [(usize, usize, usize); 8] = [
        (4, 4, 2),
        (5, 7, 3),
        (9, 6, 5),
        (65, 9, 4),
        (131, 7, 27),
        (132, 7, 5),
        (244, 31, 6),
        (142, 17, 3),
    ];
    const TINY: [(usize, usize); 5] = [(1, 1), (1, 3), (2, 1), (3, 2), (2, 5)];
    let Some(gpu) = gpu(true) else { return };
    let seed = seed() >> 1;
    let all: Vec<_> = KINDS
        .into_iter()
        .flat_map(|kind| SHAPES.map(|(nx, ny, nz)| (kind, Shape { nx, ny, nz })))
        .chain(TINY.map(|(nx, ny)| ([Side::Periodic; 4], Shape { nx, ny, nz: 3 })))
        .collect();
    // Compiling takes most of the time, and one core for each kernel.
    // The emulated device takes one in 23, each shape and each kind of sides among them.
    let apart = crate::sized(1, 23);
    all.into_par_iter().enumerate().step_by(apart).for_each(|(number, (kind, shape))| {
        let seed = seed + 10 * number as u64;
        if shape.nx > 3 {
            check_pair::<f32>(&gpu, shape, kind, seed, F32_PAIR_LIMIT);
        }
        check_pair::<f64>(&gpu, shape, kind, seed, F64_PAIR_LIMIT);
    });
}

#[test]
fn transport_is_the_same_in_every_run() {
    let Some(gpu) = gpu(true) else { return };
    let (nx, ny) = crate::sized((71, 58), (23, 18));
    let shape = Shape { nx, ny, nz: 27 };
    let case = random_case(shape, sides([Side::Specified; 4]), seed() >> 1);
    let (air, flux) = (case.air::<f32>(), case.flux::<f32>());
    let wind = advection::Wind { grid: &case.grid, air: &air, flux: &flux, dt: case.dt };
    let limiter = Limiter::PositiveDefinite;
    let precision = Precision::F32;
    let settings = TransportSettings::for_device(&gpu, &case.grid, precision, [6, 1], limiter);
    let tracers = vec![case.q.mapv(|x| x as f32); 6];
    let runs = [0, 1].map(|_| steps(&gpu, &wind, settings, &tracers, &[], 5));
    assert!(runs[0] == runs[1]);
}

/// Times of a step of six tracers, one of them without limiter, replayed as a graph: by limiter, grid, number of levels
/// of a march, and width of the strips. Nothing is checked.
#[test]
#[ignore = "measures time, and needs the machine for itself"]
fn transport_times() {
    let Some(gpu) = gpu(true) else { return };
    for (shape, kind) in [
        (Shape { nx: 71, ny: 58, nz: 27 }, Side::Specified),
        (Shape { nx: 71, ny: 58, nz: 27 }, Side::Periodic),
        (Shape { nx: 256, ny: 256, nz: 27 }, Side::Periodic),
        (Shape { nx: 1024, ny: 1024, nz: 27 }, Side::Periodic),
    ] {
        let case = random_case(shape, sides([kind; 4]), 1);
        let (air, flux) = (case.air::<f32>(), case.flux::<f32>());
        let q: Vec<f32> = case.q.iter().map(|q| *q as f32).collect();
        for (limiter, name) in SCHEMES {
            let precision = Precision::F32;
            let chosen =
                TransportSettings::for_device(&gpu, &case.grid, precision, [6, 1], limiter);
            let layout = chosen.layout(&case.grid);
            let [x, y, z] = upload(&gpu, &flux, layout);
            let wind = Wind { flux: [&x, &y, &z], inflow: None };
            let start = gpu.upload(&layout.padded(&q).repeat(6)).unwrap();
            let end = gpu.zeros(start.len()).unwrap();
            let usual = chosen.launch_config;
            for (levels, width) in [
                (usual.levels, usual.width),
                (1, 16),
                (3, 16),
                (9, 16),
                (27, 16),
                (usual.levels, 8),
                (usual.levels, 32),
            ] {
                let linear_indexing = usual.linear_indexing && width == usual.width;
                let launch_config = LaunchConfig { levels, linear_indexing, width, ..usual };
                let settings = TransportSettings { launch_config, ..chosen };
                let transport = Transport::new(&gpu, &case.grid, &air, settings).unwrap();
                let step = || transport.step(&wind, &start, &end, case.dt);
                let mut graph = gpu.capture(step).unwrap();
                let mut times: Vec<f64> = (0..20)
                    .map(|_| {
                        let ten = || (0..10).try_for_each(|_| graph.launch());
                        gpu.elapsed(ten).unwrap() / 10.0
                    })
                    .collect();
                times.sort_by(f64::total_cmp);
                let time = times[10] * 1e6;
                println!(
                    "{shape} {kind} {name}, {levels} levels, {width} threads wide: {time:.1} us"
                );
            }
        }
    }
}
