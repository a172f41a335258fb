//! Steps of the cyclone on the GPU: as on the CPU, and the same bits in every run.

use std::path::Path;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::backend::gpu::{OnDevice, OnGpu, Setting};
use nwp_mini::backend::{Backend, FRAMES_IN_FLIGHT};
use nwp_mini::forcing::Moment;
use nwp_mini::gpu::Gpu;
use nwp_mini::gpu::wsm5::Mapping;
use nwp_mini::io::wrf;
use nwp_mini::model::{Case, Working};
use nwp_mini::state::State;
use nwp_mini::wsm5::Fallout;

use crate::gpu;

const DT: f64 = 60.0;

fn soc<R: Working>() -> Case<R> {
    let path = Path::new(&crate::project()).join("data/soc.nc");
    let (domain, frame) = wrf::read(&path, None).unwrap();
    Case::new(domain, frame).unwrap()
}

struct Pair<R> {
    cpu: Cpu<R>,
    gpu: OnGpu<R>,
    moment: Moment<R>,
}

impl<R: Working + OnDevice> Pair<R> {
    fn new(gpu: &Gpu, fallout: Fallout, mapping: Option<Mapping>) -> Self {
        let mut case = soc::<R>();
        let state = case.take_state();
        let moment = case.drive(0.0, DT).unwrap();
        let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
        let limiter = Limiter::PositiveDefinite;
        let setting = Setting { grid, coordinate, limiter, fallout, mapping, has_sequence: false };
        let mut on_gpu = OnGpu::new(gpu, &setting, &state).unwrap();
        on_gpu.drive(&moment).unwrap();
        let cpu = Cpu::new(grid, coordinate, limiter, fallout, &moment.before, state);
        Self { cpu, gpu: on_gpu, moment }
    }

    fn step(&mut self) {
        self.cpu.step(DT).unwrap();
        self.gpu.step(DT).unwrap();
    }
}

/// Largest difference of each field, relative to its root mean square.
fn differences<R: Working>(a: &State<R>, b: &State<R>) -> Vec<(&'static str, f64)> {
    let names = State::<R>::NAMES.into_iter();
    names
        .zip(a.fields().into_iter().zip(b.fields()))
        .map(|(name, (a, b))| {
            let rms = (b.iter().map(|x| x.f64().powi(2)).sum::<f64>() / b.len() as f64).sqrt();
            let off = a.iter().zip(b).map(|(a, b)| (a.f64() - b.f64()).abs());
            (name, off.fold(0.0, |most: f64, x| if x <= most { most } else { x }) / rms)
        })
        .collect()
}

#[test]
fn steps_are_those_of_the_cpu() {
    let Some(gpu) = gpu(true) else { return };
    for fallout in Fallout::ALL {
        for mapping in [None, Some(Mapping::Column)] {
            let mut pair = Pair::<f32>::new(&gpu, fallout, mapping);
            for step in 1..=3 {
                pair.step();
                let found = differences(&pair.gpu.state().unwrap(), pair.cpu.state());
                println!("{fallout:?} {mapping:?} f32 step {step}: {found:?}");
            }
            println!("{:?}", (pair.cpu.water_changes(), pair.gpu.water_changes()));
            println!("{:?}", (pair.cpu.water(), pair.gpu.water()));
            println!("{:?}", (pair.cpu.precipitation(), pair.gpu.precipitation()));
        }
        let mut pair = Pair::<f64>::new(&gpu, fallout, None);
        for step in 1..=3 {
            pair.step();
            let found = differences(&pair.gpu.state().unwrap(), pair.cpu.state());
            println!("{fallout:?} f64 step {step}: {found:?}");
        }
        println!("{:?}", (pair.cpu.water_changes(), pair.gpu.water_changes()));
        println!("{:?}", (pair.cpu.water(), pair.gpu.water()));
    }
}

#[test]
fn every_run_has_the_same_bits() {
    let Some(gpu) = gpu(true) else { return };
    let run = |frames: bool| {
        let mut pair = Pair::<f32>::new(&gpu, Fallout::SemiLagrangian, None);
        for step in 1..=50 {
            pair.gpu.step(DT).unwrap();
            if frames && step % 10 == 0 {
                pair.gpu.capture(&pair.moment).unwrap();
                assert!(pair.gpu.collect(true).unwrap().is_some());
            }
        }
        pair.gpu.check(50, true).unwrap();
        let bits = |state: &State<f32>| -> Vec<u32> {
            state.fields().into_iter().flatten().map(|x| x.to_bits()).collect()
        };
        let changes = pair.gpu.water_changes().unwrap();
        (bits(&pair.gpu.state().unwrap()), changes)
    };
    let first = run(false);
    assert!(first == run(false), "two runs differ");
    assert!(first == run(true), "a run with frames differs from one without");
}

/// Frames of output travel beside the steps: the device loses little by them, and the host has
/// them in its memory in time. What writing takes is another matter.
#[test]
#[ignore = "measures time, and needs the machine for itself"]
fn frames_of_output_cost_little() {
    const STEPS: usize = 400;
    const EVERY: usize = 10;
    /// Part of the time of the steps.
    const LIMIT: f64 = 0.1;
    let Some(gpu) = gpu(true) else { return };
    let mut pair = Pair::<f32>::new(&gpu, Fallout::SemiLagrangian, None);
    let mut time = |every: Option<usize>| {
        pair.gpu.check(0, true).unwrap();
        let start = std::time::Instant::now();
        for step in 1..=STEPS {
            pair.gpu.step(DT).unwrap();
            if every.is_some_and(|every| step % every == 0) {
                if pair.gpu.frames_under_way() == FRAMES_IN_FLIGHT {
                    assert!(pair.gpu.collect(true).unwrap().is_some());
                }
                pair.gpu.capture(&pair.moment).unwrap();
            }
        }
        while pair.gpu.collect(true).unwrap().is_some() {}
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
    for fallout in Fallout::ALL {
        for mapping in [None, Some(Mapping::Column)] {
            let mut pair = Pair::<f32>::new(&gpu, fallout, mapping);
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
            println!("{:?}", pair.gpu.times().unwrap());
        }
    }
}
