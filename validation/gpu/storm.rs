//! Steps of the cyclone on the GPU: as on the CPU, and with the same bits in every run.

use std::sync::Arc;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::backend::gpu::{GpuBackend, GpuConfig, GpuPrecision};
use nwp_mini::backend::{Backend, FRAMES_IN_FLIGHT, Output};
use nwp_mini::constituents::Constituents;
use nwp_mini::device::Gpu;
use nwp_mini::forcing::TimeInterpolant;
use nwp_mini::io::wrf;
use nwp_mini::model::{RunInput, RunPrecision};
use nwp_mini::physics::device::Mappings;
use nwp_mini::physics::registry;
use nwp_mini::physics::scheme::Scheme;
use nwp_mini::physics::wsm5::gpu::Mapping;
use nwp_mini::physics::wsm5::{Sedimentation, Wsm5};
use nwp_mini::real::{Precision, Real};
use nwp_mini::state::State;

use crate::gpu;
use crate::support;

const DT: f64 = 60.0;

fn soc<R: RunPrecision>(set: &Arc<Constituents>) -> RunInput<R> {
    let path = crate::storm_file();
    let (domain, frame) = wrf::read_for(&path, None, set).unwrap();
    RunInput::new(domain, frame).unwrap()
}

struct Pair<R: Real> {
    cpu: Cpu<R>,
    gpu: GpuBackend<R>,
    moment: TimeInterpolant<R>,
}

impl<R: RunPrecision + GpuPrecision> Pair<R> {
    fn new(gpu: &Gpu, scheme: &dyn Scheme, mapping: Option<Mapping>) -> Self {
        let set = scheme.about().set();
        let mut case = soc::<R>(&set);
        let state = case.take_state();
        let moment = case.drive(0.0, DT).unwrap();
        let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
        let limiter = Limiter::PositiveDefinite;
        let mapping = mapping.map(Mapping::text);
        let setting = GpuConfig {
            grid,
            coordinate,
            limiter,
            scheme,
            mapping: mapping.as_deref(),
            tracers: &set,
            has_sequence: false,
            chemistry: None,
        };
        let mut on_gpu = GpuBackend::new(gpu, &setting, &state).unwrap();
        on_gpu.drive(&moment).unwrap();
        let cpu = Cpu::new(grid, coordinate, limiter, scheme, &moment.before, state);
        Self { cpu, gpu: on_gpu, moment }
    }

    fn step(&mut self) {
        self.cpu.step(DT).unwrap();
        self.gpu.step(DT).unwrap();
    }
}

/// For each field the part of its values that differ by more than `near` of its root mean square,
/// and the largest of these differences.
fn differences<R: RunPrecision>(
    a: &State<R>,
    b: &State<R>,
    near: f64,
) -> Vec<(&'static str, f64, f64)> {
    let names = a.set().iter().map(|tracer| tracer.name);
    names
        .zip(a.fields().iter().zip(b.fields()))
        .map(|(name, (a, b))| {
            let count = b.len() as f64;
            let rms = (b.iter().map(|x| x.f64().powi(2)).sum::<f64>() / count).sqrt();
            let off = || a.iter().zip(b).map(|(a, b)| (a.f64() - b.f64()).abs() / rms);
            // Comparisons with NaN are false, so that NaN becomes the maximum.
            let most = off().fold(0.0, |most: f64, x| if x <= most { most } else { x });
            (name, off().filter(|x| x.is_nan() || *x > near).count() as f64 / count, most)
        })
        .collect()
}

/// Error below which a value does not count as off, relative to the root mean square of its field.
const NEAR: f64 = 1e-2;
/// Part of the values of a field that may be off by more: those of columns in which a rounding
/// decides between two courses, some in a hundred of the columns and few of their cells.
const SHARE_OFF: f64 = 0.01;
/// Error above which a value counts as off in double precision with sub-stepped sedimentation, and with Kessler's rain,
/// which have no search that rounding could redirect. Remaining differences come from thresholds of the scheme, which
/// differently rounded traces of water pass differently: single cells, by up to a millionth of the field, and their
/// transport by the wind. On the emulated device the kernels have the same bits as the CPU.
const ALMOST_SAME: f64 = 1e-9;

fn check_steps<R: RunPrecision + GpuPrecision>(
    gpu: &Gpu,
    scheme: &dyn Scheme,
    mapping: Option<Mapping>,
) {
    let mut pair = Pair::<R>::new(gpu, scheme, mapping);
    for step in 1..=3 {
        pair.step();
        let found = pair.gpu.state().unwrap();
        let about = format!("{scheme:?} {mapping:?} {} step {step}", <R as Real>::NAME);
        // Kernels in tiles search for the layers that have arrived, unless they fall in sub-steps.
        let substeps = scheme.variant().is_some_and(|variant| variant.key == "substepped");
        let searches = scheme.mappings().is_some() && !substeps;
        let is_same = <R as Real>::PRECISION == Precision::F64 && !searches;
        let near = if is_same { ALMOST_SAME } else { NEAR };
        for (name, share, most) in differences(&found, pair.cpu.state(), near) {
            assert!(share <= SHARE_OFF, "{about}: {share:e} of {name} is off, by {most:e} at most");
            assert!(!is_same || most <= NEAR, "{about}: {name} is off by {most:e}");
        }
    }
    let both = [pair.cpu.account(0).unwrap(), pair.gpu.account(0).unwrap()];
    let [cpu, gpu] = both.each_ref().map(|account| account.water);
    // Single columns that part move water between the air and the ground.
    assert!((cpu - gpu).abs() <= 1e-6 * cpu, "{scheme:?}: {gpu} kg of water, not {cpu}");
    let [cpu, gpu] = both.map(|account| account.changes);
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-3 * b.abs();
    assert!(near(gpu.fallen, cpu.fallen) && near(gpu.sides, cpu.sides), "{gpu:?}, not {cpu:?}");
}

/// `true` if a thread can have a column.
fn has_columns(mappings: &dyn Mappings) -> bool {
    mappings.is_possible(&Mapping::Column.text(), Precision::F32, 27)
}

#[test]
fn steps_are_those_of_the_cpu() {
    let Some(gpu) = gpu(true) else { return };
    for scheme in registry::all() {
        for mapping in [None, Some(Mapping::Column)] {
            if mapping.is_none() || scheme.mappings().is_some_and(has_columns) {
                check_steps::<f32>(&gpu, &*scheme, mapping);
                check_steps::<f64>(&gpu, &*scheme, mapping);
            }
        }
    }
}

/// The program's own comparison, with limits from runs on the CPU, over many steps.
#[test]
fn five_hundred_steps_pass_the_comparison() {
    if gpu(true).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let input = crate::storm_file();
    for more in [
        &[][..],
        &["--no-fast-math"],
        &["--fallout", "substepped"],
        &["--physics", "kessler"],
        &["--physics", "kessler", "--precision", "f64"],
    ] {
        let mut program = assert_cmd::Command::new(support::program());
        let steps = crate::sized("500", "8");
        program.current_dir(&folder);
        program.args(["run", "--backend", "both", "--steps", steps, "--force"]);
        let output = program.arg("--input").arg(&input).args(more).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{more:?}\n{said}");
    }
}

/// Rows with padding before the first cell and behind the last.
#[test]
fn rows_of_any_length_pass_the_comparison() {
    if gpu(true).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = || {
        let mut program = assert_cmd::Command::new(support::program());
        program.current_dir(&folder);
        program
    };
    for nx in crate::sized(["69", "70"], ["21", "22"]) {
        let size = [
            "--nx",
            nx,
            "--ny",
            crate::sized("46", "10"),
            "--nz",
            "20",
            "--output",
            "storm.nc",
            "--force",
        ];
        program().args(["init", "storm"]).args(size).assert().success();
        let run = [
            "run",
            "--input",
            "storm.nc",
            "--backend",
            "both",
            "--steps",
            crate::sized("60", "6"),
            "--force",
        ];
        let output = program().args(run).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{nx}\n{said}");
    }
}

#[test]
fn every_run_has_the_same_bits() {
    let Some(gpu) = gpu(true) else { return };
    let run = |scheme: &dyn Scheme, frames: bool| {
        let mut pair = Pair::<f32>::new(&gpu, scheme, None);
        let [steps, interval] = crate::sized([50, 10], [6, 2]);
        for step in 1..=steps {
            pair.gpu.step(DT).unwrap();
            if frames && step % interval == 0 {
                pair.gpu.capture(Output::Frame(0), &pair.moment).unwrap();
                assert!(pair.gpu.collect(Output::Frame(0), true).unwrap().is_some());
            }
        }
        pair.gpu.check(steps, true).unwrap();
        let bits = |state: &State<f32>| -> Vec<u32> {
            state.fields().iter().flatten().map(|x| x.to_bits()).collect()
        };
        let changes = pair.gpu.account(0).unwrap().changes;
        (bits(&pair.gpu.state().unwrap()), changes)
    };
    for about in registry::SCHEMES {
        let scheme = &*registry::make(about.key, None).unwrap();
        let first = run(scheme, false);
        assert!(first == run(scheme, false), "two runs of {scheme:?} differ");
        assert!(first == run(scheme, true), "{scheme:?}: with frames a run differs");
    }
}

/// Frames of output are transferred concurrently with the steps: they cost the device little, and arrive in host memory
/// in time. The time of writing is not measured.
#[test]
#[ignore = "measures time, and needs the machine for itself"]
fn frames_of_output_cost_little() {
    const STEPS: usize = 400;
    const EVERY: usize = 10;
    /// Part of the time of the steps.
    const LIMIT: f64 = 0.1;
    let Some(gpu) = gpu(true) else { return };
    let mut pair = Pair::<f32>::new(&gpu, &*registry::usual(), None);
    let mut time = |every: Option<usize>| {
        pair.gpu.check(0, true).unwrap();
        let start = std::time::Instant::now();
        let mut in_flight = 0;
        for step in 1..=STEPS {
            pair.gpu.step(DT).unwrap();
            if every.is_some_and(|every| step % every == 0) {
                if in_flight == FRAMES_IN_FLIGHT {
                    assert!(pair.gpu.collect(Output::Frame(0), true).unwrap().is_some());
                    in_flight -= 1;
                }
                pair.gpu.capture(Output::Frame(0), &pair.moment).unwrap();
                in_flight += 1;
            }
        }
        while pair.gpu.collect(Output::Frame(0), true).unwrap().is_some() {}
        pair.gpu.check(STEPS, true).unwrap();
        start.elapsed().as_secs_f64() / STEPS as f64
    };
    time(Some(EVERY));
    let [mut without, mut with] = [f64::INFINITY; 2];
    for _ in 0..5 {
        without = without.min(time(None));
        with = with.min(time(Some(EVERY)));
    }
    let share = with / without - 1.0;
    println!(
        "{:.1} us a step, {:.1} us with frames: {:.1} %",
        1e6 * without,
        1e6 * with,
        1e2 * share
    );
    assert!(share <= LIMIT, "frames every {EVERY} steps take {:.1} % more", 1e2 * share);
}

#[test]
#[ignore = "measures time, and needs the machine for itself"]
fn time_of_a_step() {
    let Some(gpu) = gpu(true) else { return };
    for fallout in Sedimentation::ALL {
        for mapping in [None, Some(Mapping::Column)] {
            let mut pair = Pair::<f32>::new(&gpu, &Wsm5::from(fallout), mapping);
            for _ in 0..20 {
                pair.gpu.step(DT).unwrap();
            }
            let seconds = gpu
                .elapsed(|| {
                    for _ in 0..200 {
                        pair.gpu.step(DT)?;
                    }
                    Ok(())
                })
                .unwrap();
            println!("{fallout:?} {mapping:?}: {:.1} us a step", seconds / 200.0 * 1e6);
            println!("{:?}", pair.gpu.info().unwrap().times);
        }
    }
}
