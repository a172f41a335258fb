//! Operators applied on the device: the products are those of the fields that it hands over.

use std::sync::Arc;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::backend::gpu::{GpuBackend, GpuConfig, GpuPrecision};
use nwp_mini::backend::{
    Backend, CapturedFrame, CollectedOutput, FRAMES_IN_FLIGHT, Output, Products, Profiles,
    RunStart, SamplingRequest,
};
use nwp_mini::device::Gpu;
use nwp_mini::io::wrf;
use nwp_mini::model::{RunInput, RunPrecision};
use nwp_mini::physics::registry::usual_set;
use nwp_mini::physics::wsm5::Wsm5;
use nwp_mini::primitives::csr::Csr;
use nwp_mini::real::Real;

use crate::gpu;
use crate::products::check_product;
use crate::random::Random;
use crate::support;

const DT: f64 = 60.0;

/// An operator for a number of places with up to `most` entries in a row; some rows have none.
fn operator<R: RunPrecision>(columns: usize, places: usize, most: u64, seed: u64) -> Arc<Csr<R>> {
    let mut random = Random::new(seed);
    let mut triplets = Vec::new();
    for row in 0..places {
        for _ in 0..random.bits() % (most + 1) {
            let column = (random.bits() % columns as u64) as usize;
            triplets.push((row, column, R::of(random.between(-1.0, 1.0))));
        }
    }
    Arc::new(Csr::from_triplets(places, columns, &triplets).unwrap())
}

/// Holds products against those of the fields of a frame, in double precision.
fn check<R: RunPrecision>(
    operator: &Csr<R>,
    products: &Products<R>,
    frame: &CapturedFrame<R>,
    about: &str,
) {
    let CapturedFrame { state, diagnostics, surface, .. } = frame;
    let volumes =
        state.fields().iter().chain(diagnostics.fields()).map(|field| field.as_slice().unwrap());
    let planes = ["rain", "snow", "sr"]
        .map(|name| surface.named(name))
        .map(|plane| plane.as_slice().unwrap());
    let found = products.volumes.iter().chain(&products.planes);
    for (number, (field, found)) in volumes.chain(planes).zip(found).enumerate() {
        let levels = field.len() / operator.columns();
        assert_eq!(found.len(), levels * operator.rows(), "{about}, field {number}");
        let (columns, rows) = (operator.columns(), operator.rows());
        for (level, (x, found)) in field.chunks(columns).zip(found.chunks(rows)).enumerate() {
            let what = format!("{about}, field {number}, level {level}");
            check_product(operator, x, found, &what);
        }
    }
}

/// Compares columns with the fields of a frame: equal bits, and sums in double precision.
fn check_profiles<R: RunPrecision>(
    weights: &[R],
    profiles: &Profiles<R>,
    frame: &CapturedFrame<R>,
    about: &str,
) {
    let CapturedFrame { state, diagnostics, .. } = frame;
    let fields = state.fields().iter().chain(diagnostics.fields());
    let nz = state.theta().dim().0;
    for (number, (field, found)) in fields.zip(&profiles.volumes).enumerate() {
        let columns = field.view().permuted_axes([1, 2, 0]);
        let same = columns.iter().zip(found).all(|(a, b)| a == b);
        assert!(same && columns.len() == found.len(), "{about}, field {number}");
    }
    for (kind, totals) in profiles.totals.iter().enumerate() {
        let water = profiles.volumes[kind + 1].chunks(nz).zip(weights.chunks(nz));
        assert_eq!(totals.len(), water.len());
        for (column, ((q, weights), total)) in water.zip(totals).enumerate() {
            let sum: f64 = q.iter().zip(weights).map(|(q, w)| q.f64() * w.f64()).sum();
            // Results are rounded once at the end, and sums in double precision have another order; no number is small
            // enough to underflow.
            let limit = R::epsilon().f64().max(1e-14) * sum.abs() + 1e-30;
            let off = (total.f64() - sum).abs();
            assert!(off <= limit, "{about}, kind {kind}, column {column}: {off:e} of {sum:e}");
        }
    }
    for (echo, most) in profiles.volumes[6].chunks(nz).zip(profiles.strongest.as_ref().unwrap()) {
        assert_eq!(echo.iter().map(|x| x.f64()).fold(f64::MIN, f64::max), most.f64(), "{about}");
    }
}

fn run<R: RunPrecision + GpuPrecision>(gpu: &Gpu) {
    let path = crate::storm_file();
    let (domain, frame) = wrf::read(&path, None).unwrap();
    let mut case = RunInput::<R>::new(domain, frame).unwrap();
    let state = case.take_state();
    let moment = case.drive(0.0, DT).unwrap();
    let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
    let (limiter, scheme) = (Limiter::PositiveDefinite, Wsm5::default());
    let setting = GpuConfig {
        grid,
        coordinate,
        limiter,
        scheme: &scheme,
        mapping: None,
        tracers: &usual_set(),
        has_sequence: false,
        chemistry: None,
    };
    let mut on_gpu = GpuBackend::new(gpu, &setting, &state).unwrap();
    let mut cpu = Cpu::new(grid, coordinate, limiter, &scheme, &moment.before, state.clone());
    let columns = grid.shape.columns();
    // A few places, grids of few and of many entries, long rows, and rows of nothing.
    let operators = crate::sized(
        [(3, 4), (20_011, 5), (30_001, 20), (101, 900), (5, 0)],
        [(3, 4), (211, 5), (301, 20), (101, 90), (5, 0)],
    )
    .into_iter()
    .zip(1..)
    .map(|((places, most), seed)| operator::<R>(columns, places, most, seed))
    .collect::<Vec<_>>();
    let mut random = Random::new(9);
    let weights: Vec<R> =
        (0..grid.shape.cells()).map(|_| R::of(random.between(0.0, 1000.0))).collect();
    let weights = Arc::new(weights);
    let attached =
        SamplingRequest { operators: operators.clone(), weights: Some(Arc::clone(&weights)) };
    on_gpu.start(RunStart { attached: attached.clone(), ..RunStart::from(&state) }).unwrap();
    cpu.start(RunStart { attached: attached.clone(), ..RunStart::from(&state) }).unwrap();
    on_gpu.drive(&moment).unwrap();
    cpu.drive(&moment).unwrap();
    // Two samples and two frames are pending while a step is computed, then the results are compared.
    let mut frames = Vec::new();
    for _ in 0..FRAMES_IN_FLIGHT {
        on_gpu.capture(Output::Frame(0), &moment).unwrap();
        for number in 0..operators.len() {
            on_gpu.capture(Output::Products(number), &moment).unwrap();
        }
        on_gpu.capture(Output::Profiles, &moment).unwrap();
        on_gpu.step(DT).unwrap();
    }
    while let Some(frame) = on_gpu.collect(Output::Frame(0), true).unwrap() {
        frames.extend(frame.frame());
    }
    for (number, operator) in operators.iter().enumerate() {
        for (step, frame) in frames.iter().enumerate() {
            let products = products(&mut on_gpu, number).expect("begun");
            let about = format!("{}, operator {number}, step {step}", <R as Real>::NAME);
            check(operator, &products, frame, &about);
        }
        assert!(products(&mut on_gpu, number).is_none());
    }
    for (step, frame) in frames.iter().enumerate() {
        let profiles = profiles(&mut on_gpu).expect("begun");
        check_profiles(&weights, &profiles, frame, &format!("{}, step {step}", <R as Real>::NAME));
    }
    assert!(profiles(&mut on_gpu).is_none());
    // The CPU's own products, which look at some columns alone, are held alike.
    cpu.capture(Output::Frame(0), &moment).unwrap();
    let frame = cpu.collect(Output::Frame(0), true).unwrap().and_then(CollectedOutput::frame);
    let frame = frame.expect("begun");
    for (number, operator) in operators.iter().enumerate() {
        cpu.capture(Output::Products(number), &moment).unwrap();
        let products = products(&mut cpu, number).expect("begun");
        check(
            operator,
            &products,
            &frame,
            &format!("{}, CPU, operator {number}", <R as Real>::NAME),
        );
    }
    cpu.capture(Output::Profiles, &moment).unwrap();
    let profiles = profiles(&mut cpu).expect("begun");
    check_profiles(&weights, &profiles, &frame, &format!("{}, CPU", <R as Real>::NAME));
    // What is under way goes with the state that it was made of.
    on_gpu.capture(Output::Products(0), &moment).unwrap();
    on_gpu.start(RunStart { attached, ..RunStart::from(&state) }).unwrap();
    assert!(products(&mut on_gpu, 0).is_none());
    on_gpu.capture(Output::Products(0), &moment).unwrap();
    let products = products(&mut on_gpu, 0).expect("begun");
    check(&operators[0], &products, &frames[0], "the state again");
}

/// The oldest products of an operator.
fn products<R>(backend: &mut dyn Backend<R>, operator: usize) -> Option<Products<R>> {
    let collected = backend.collect(Output::Products(operator), true).unwrap();
    collected.and_then(CollectedOutput::products)
}

/// The oldest profiles.
fn profiles<R>(backend: &mut dyn Backend<R>) -> Option<Profiles<R>> {
    let collected = backend.collect(Output::Profiles, true).unwrap();
    collected.and_then(CollectedOutput::profiles)
}

#[test]
fn products_are_those_of_the_fields() {
    let Some(gpu) = gpu(true) else { return };
    run::<f32>(&gpu);
    run::<f64>(&gpu);
}

/// The files beside the output are those of the CPU within the differences of the runs.
#[test]
fn auxiliary_outputs_come_from_the_device_too() {
    if gpu(true).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let input = crate::storm_file();
    std::fs::write(folder.path().join("p.csv"), "name,x,y\na,1e5,2e5\nb,234567,176543\n").unwrap();
    let program = |arguments: &[&str]| {
        let mut program = assert_cmd::Command::new(support::program());
        program.current_dir(folder.path()).args(arguments).arg("--input").arg(&input);
        program.assert().success();
    };
    program(&["weights", "--target", "xy", "--spacing", "47000", "--output", "w.nc"]);
    let asked = ["--regrid", "w.nc", "--points", "p.csv", "--points-interval", "60", "--profiles"];
    for backend in ["cpu", "gpu"] {
        let output = format!("{backend}.nc");
        let fixed = ["run", "-q", "--steps", "4", "--dt", "60", "--backend", backend, "--output"];
        program(&[&fixed[..], &[&output], &asked].concat());
    }
    for (what, variable, times) in [
        ("regrid", "T", 2),
        ("points.profiles", "T", 5),
        ("points", "RAINNC", 5),
        ("profiles", "T", 2),
        ("profiles", "QVAPOR_PATH", 2),
    ] {
        let read = |backend: &str| {
            let file = netcdf::open(folder.path().join(format!("{backend}.{what}.nc"))).unwrap();
            assert_eq!(file.dimension_len("time"), Some(times), "{what}");
            let values: Vec<f64> = file.variable(variable).unwrap().get_values(..).unwrap();
            values
        };
        let (cpu, gpu) = (read("cpu"), read("gpu"));
        let known = || cpu.iter().zip(&gpu).filter(|(a, _)| a.abs() < 1e30);
        let size = known().map(|(a, _)| a.powi(2)).sum::<f64>().sqrt();
        let off = known().map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        // Single columns in which rounding decides between two courses.
        assert!(off <= 1e-3 * size, "{what} {variable}: {off:e} of {size:e}");
        assert_eq!(cpu.len(), gpu.len());
    }
}
