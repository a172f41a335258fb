//! Operators applied on the device: the products are those of the fields that it hands over.

use std::path::Path;
use std::sync::Arc;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::backend::gpu::{OnDevice, OnGpu, Setting};
use nwp_mini::backend::{Backend, Captured, FRAMES_IN_FLIGHT, Products};
use nwp_mini::gpu::Gpu;
use nwp_mini::io::wrf;
use nwp_mini::model::{Case, Working};
use nwp_mini::primitives::csr::Csr;
use nwp_mini::wsm5::Fallout;

use crate::gpu;
use crate::random::Random;

const DT: f64 = 60.0;

/// An operator of so many places with up to `most` entries in a row; some rows have none.
fn operator<R: Working>(columns: usize, places: usize, most: u64, seed: u64) -> Arc<Csr<R>> {
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
fn check<R: Working>(operator: &Csr<R>, products: &Products<R>, frame: &Captured<R>, about: &str) {
    let Captured { state, diagnostics, surface } = frame;
    let diagnosed =
        [&diagnostics.refl_10cm, &diagnostics.re_cloud, &diagnostics.re_ice, &diagnostics.re_snow];
    let volumes =
        state.fields().into_iter().chain(diagnosed).map(|field| field.as_slice().unwrap());
    let planes = [&surface.rain, &surface.snow, &surface.sr].map(|plane| plane.as_slice().unwrap());
    let found = products.volumes.iter().chain(&products.planes);
    for (number, (field, found)) in volumes.chain(planes).zip(found).enumerate() {
        let levels = field.len() / operator.columns();
        assert_eq!(found.len(), levels * operator.rows(), "{about}, field {number}");
        for (at, found) in found.iter().enumerate() {
            let (level, row) = (at / operator.rows(), at % operator.rows());
            let x = &field[level * operator.columns()..];
            let entries = operator.starts()[row]..operator.starts()[row + 1];
            let terms = entries
                .clone()
                .map(|e| operator.values()[e].f64() * x[operator.column_of()[e] as usize].f64());
            let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
            // What a sum of n products may be off by.
            let limit = (entries.len() + 1) as f64 * R::epsilon().f64() * size;
            let off = (found.f64() - sum).abs();
            assert!(off <= limit, "{about}, field {number}, level {level}, row {row}: {off:e}");
        }
    }
}

fn run<R: Working + OnDevice>(gpu: &Gpu) {
    let path = Path::new(&crate::project()).join("data/soc.nc");
    let (domain, frame) = wrf::read(&path, None).unwrap();
    let mut case = Case::<R>::new(domain, frame).unwrap();
    let state = case.take_state();
    let moment = case.drive(0.0, DT).unwrap();
    let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
    let (limiter, fallout) = (Limiter::PositiveDefinite, Fallout::SemiLagrangian);
    let setting =
        Setting { grid, coordinate, limiter, fallout, mapping: None, has_sequence: false };
    let mut on_gpu = OnGpu::new(gpu, &setting, &state).unwrap();
    let mut cpu = Cpu::new(grid, coordinate, limiter, fallout, &moment.before, state.clone());
    let columns = grid.shape.columns();
    // A few places, a whole grid, long rows, and rows of nothing.
    let operators = [(3, 4), (20_011, 5), (101, 900), (5, 0)]
        .into_iter()
        .zip(1..)
        .map(|((places, most), seed)| operator::<R>(columns, places, most, seed))
        .collect::<Vec<_>>();
    on_gpu.attach(&operators).unwrap();
    cpu.attach(&operators).unwrap();
    on_gpu.drive(&moment).unwrap();
    cpu.drive(&moment).unwrap();
    // Two of each under way while a step is made, then the frames that they belong to.
    let mut frames = Vec::new();
    for _ in 0..FRAMES_IN_FLIGHT {
        on_gpu.capture(&moment).unwrap();
        for number in 0..operators.len() {
            on_gpu.sample(number, &moment).unwrap();
        }
        on_gpu.step(DT).unwrap();
    }
    while let Some(frame) = on_gpu.collect(true).unwrap() {
        frames.push(frame);
    }
    for (number, operator) in operators.iter().enumerate() {
        for (step, frame) in frames.iter().enumerate() {
            let products = on_gpu.collect_sample(number, true).unwrap().expect("begun");
            let about = format!("{}, operator {number}, step {step}", R::NAME);
            check(operator, &products, frame, &about);
        }
        assert!(on_gpu.collect_sample(number, true).unwrap().is_none());
    }
    // The CPU's own products, which look at some columns alone, are held alike.
    cpu.capture(&moment).unwrap();
    let frame = cpu.collect(true).unwrap().expect("begun");
    for (number, operator) in operators.iter().enumerate() {
        cpu.sample(number, &moment).unwrap();
        let products = cpu.collect_sample(number, true).unwrap().expect("begun");
        check(operator, &products, &frame, &format!("{}, CPU, operator {number}", R::NAME));
    }
    // What is under way goes with the state that it was made of.
    on_gpu.sample(0, &moment).unwrap();
    on_gpu.restore(&state).unwrap();
    assert!(on_gpu.collect_sample(0, true).unwrap().is_none());
    on_gpu.sample(0, &moment).unwrap();
    let products = on_gpu.collect_sample(0, true).unwrap().expect("begun");
    check(&operators[0], &products, &frames[0], "the state again");
}

#[test]
fn products_are_those_of_the_fields() {
    let Some(gpu) = gpu(true) else { return };
    run::<f32>(&gpu);
    run::<f64>(&gpu);
}

/// The files beside the output are those of the CPU within what the runs differ by.
#[test]
fn files_beside_the_output_come_from_the_device_too() {
    if gpu(true).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let input = Path::new(&crate::project()).join("data/soc.nc");
    std::fs::write(folder.path().join("p.csv"), "name,x,y\na,1e6,8e5\nb,1234567,876543\n").unwrap();
    let program = |arguments: &[&str]| {
        let mut program = assert_cmd::Command::cargo_bin("nwp-mini").unwrap();
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
        ("profiles", "COLUMN_QVAPOR", 2),
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
