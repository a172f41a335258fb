//! Any number of levels, compared with the CPU version: on columns of the reference, and on random columns that differ
//! in every run.

use rayon::prelude::*;

use nwp_mini::device::Gpu;
use nwp_mini::physics::wsm5::Sedimentation;
use nwp_mini::physics::wsm5::gpu::Mapping;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::state::CloudDiagnostics;

use super::agreement::{
    Allowance, EVERY_CELL, Named, SOME_ROUNDINGS, expect_as_exact, expect_near,
};
use super::case::Columns;
use super::columns::columns;
use super::difference::named;
use super::engine::{GpuBackend, OnDevice, mappings, sources};
use super::fresh;
use super::report::Report;
use super::weather::{Engine, Precision, Region, Weather};
use crate::device::is_emulated;
use crate::random::Random;
use crate::{gpu, prepare, seed, sized};

/// Numbers of levels around multiples of the warp size, and those of models.
const LEVELS: [usize; 10] = [4, 5, 27, 31, 32, 33, 40, 64, 100, 128];
/// Of one minor step and of three, s.
const TIME_STEPS: [f64; 2] = [60.0, 300.0];
/// Columns of the reference, in [`ROWS`] rows; enough for a percentile of fields at the ground.
const COLUMNS: usize = 820;
const ROWS: usize = 4;
/// Fresh columns, in one row.
const FRESH: usize = 1003;

/// Largest difference of a device in double precision, relative to the largest value of a field: fused products and
/// functions with other rounding, a hundred times the effect of another order of operations.
const NEAR: f64 = 100.0 * SOME_ROUNDINGS;
/// Effects of rounding on random columns, with a margin, as measured by `stand_in`. In single precision a few cells
/// have another outcome than on the CPU, so that a sample of less than ten cells is not significant.
///
/// Columns on other levels than their own are interpolated linearly: where two slopes of a sedimenting species are
/// equal, rounding decides whether one is a maximum, in double precision too. This affects less than one cell in a
/// hundred, and slightly.
const ONE_STEP: Allowance = Allowance {
    near: NEAR,
    share: 0.01,
    by: 1.0e-3,
    percents: &[50.0, 95.0, 99.0, 99.9],
    above: 10.0,
};
/// After several minor steps this affects more cells: up to 2 % of the columns if only the input is perturbed, and more
/// on a device, whose fused products leave a residue where the CPU version leaves zero. Both outcomes are within the
/// range of the field.
const SEVERAL_STEPS: Allowance =
    Allowance { share: 0.1, by: 1.0, percents: &[50.0, 90.0], ..ONE_STEP };
/// For each of [`TIME_STEPS`].
const LIMITS: [Allowance; 2] = [ONE_STEP, SEVERAL_STEPS];
/// After several minor steps on the emulated device, which has the operations of the CPU version in another order: the
/// largest change of a cell that was observed is 1.6e-3 of the largest value.
const IN_ANOTHER_ORDER: Allowance =
    Allowance { near: SOME_ROUNDINGS, by: 3.0e-3, percents: &[50.0, 99.0], ..ONE_STEP };
/// Levels of the columns of the reference.
const OWN_LEVELS: usize = 27;

/// Results of a call and a diagnosis for a state.
struct Made<R> {
    fields: Named<R>,
    diagnosed: Named<R>,
}

pub(super) fn named_diagnostics<R: Precision>(diagnostics: &CloudDiagnostics<R>) -> Named<R> {
    diagnostics.iter().map(|(name, field)| (name, field.clone().into_dyn())).collect()
}

fn make<R: Precision>(engine: &impl Engine<R>, weather: &Weather<R>, dt: f64) -> Made<R> {
    let after = weather.after(engine, dt, &Region::whole(weather.shape()));
    Made { fields: named(&after), diagnosed: named_diagnostics(&engine.diagnose(weather)) }
}

/// Columns and the results of the CPU version for them.
pub(super) struct Task {
    about: String,
    dt: f64,
    allowance: Allowance,
    single: Weather<f32>,
    double: Weather<f64>,
    cpu: Made<f32>,
    truth: Made<f64>,
}

impl Task {
    /// The columns with the first of [`TIME_STEPS`], one for each allowance.
    pub(super) fn new(
        about: &str,
        columns: &Columns,
        rows: usize,
        fallout: Sedimentation,
        allowances: &[Allowance],
    ) -> Vec<Self> {
        let new = |(dt, &allowance): (f64, &Allowance)| {
            let single = Weather::of(columns, rows, 300.0);
            let double = Weather::of(columns, rows, 300.0);
            let cpu = make(&Scheme::default().with_fallout(fallout), &single, dt);
            let truth = make(&Scheme::default().with_fallout(fallout), &double, dt);
            let nz = columns.dim().0;
            let about = format!("{about}, {nz} levels, {fallout:?}, {dt} s");
            Self { about, dt, allowance, single, double, cpu, truth }
        };
        TIME_STEPS.into_iter().zip(allowances).map(new).collect()
    }

    /// Single precision is as exact as on the CPU.
    pub(super) fn check_f32(&self, engine: &impl Engine<f32>, report: &mut Report) {
        let found = make(engine, &self.single, self.dt);
        let (cpu, truth) = (&self.cpu, &self.truth);
        let fields = [&found.fields, &cpu.fields];
        expect_as_exact(&self.about, fields, &truth.fields, self.allowance, report);
        let fields = [&found.diagnosed, &cpu.diagnosed];
        expect_as_exact(&self.about, fields, &truth.diagnosed, ONE_STEP, report);
    }

    /// Double precision differs by roundings.
    pub(super) fn check_f64(&self, engine: &impl Engine<f64>, report: &mut Report) {
        let found = make(engine, &self.double, self.dt);
        let truth = &self.truth;
        expect_near(&self.about, &found.fields, &truth.fields, self.allowance, report);
        expect_near(&self.about, &found.diagnosed, &truth.diagnosed, ONE_STEP, report);
    }
}

/// Columns of the reference and fresh ones.
pub(super) fn tasks(nz: usize, fallout: Sedimentation, seed: u64) -> Vec<Task> {
    let mut tasks = Task::new("reference", &columns(nz, COLUMNS), ROWS, fallout, &LIMITS);
    let fresh = fresh::columns(nz, FRESH, &mut Random::new(seed));
    tasks.extend(Task::new(&format!("seed {seed}"), &fresh, 1, fallout, &LIMITS));
    tasks
}

/// The same for the emulated device: fewer columns, and narrower limits for those of the reference.
fn few_tasks(nz: usize, count: usize, seed: u64) -> Vec<Task> {
    let between_levels = Allowance { near: SOME_ROUNDINGS, ..ONE_STEP };
    let one_step = if nz == OWN_LEVELS { EVERY_CELL } else { between_levels };
    // The effect of several minor steps does not depend on the levels, and their kernels are others.
    let lengths = if [OWN_LEVELS, 33].contains(&nz) { 2 } else { 1 };
    let (limits, fallout) = ([one_step, IN_ANOTHER_ORDER], Sedimentation::SemiLagrangian);
    let mut tasks = Task::new("reference", &columns(nz, count), 1, fallout, &limits[..lengths]);
    let fresh = fresh::columns(nz, 203, &mut Random::new(seed));
    tasks.extend(Task::new(&format!("seed {seed}"), &fresh, 1, fallout, &LIMITS[..lengths]));
    tasks
}

fn check<R: OnDevice>(
    gpu: &Gpu,
    fallout: Sedimentation,
    tasks: &[Task],
    check: impl Fn(&Task, &GpuBackend<R>, &mut Report),
) -> Vec<(String, Report)> {
    let math = if gpu.compiler().fast_math { "fast" } else { "precise" };
    let nz = tasks[0].single.shape().nz;
    let judged = |mapping: Mapping| {
        let engine = GpuBackend::new(gpu, Scheme::default().with_fallout(fallout), mapping);
        let mut report = Report::default();
        for task in tasks {
            check(task, &engine, &mut report);
        }
        (format!("{mapping}, {}, {math}, {nz} levels, {fallout:?}", R::NAME), report)
    };
    mappings::<R>(fallout, nz).into_iter().take(sized(3, 1)).map(judged).collect()
}

/// A check of the tile for few columns on the emulated device, which compiles each kernel for seconds.
fn check_few<R: OnDevice>(
    gpu: &Gpu,
    levels: [usize; 4],
    count: usize,
    seed: u64,
    judge: impl Fn(&Task, &GpuBackend<R>, &mut Report) + Sync,
) -> Vec<(String, Report)> {
    let reports = levels.into_par_iter().flat_map_iter(|nz| {
        check::<R>(gpu, Sedimentation::SemiLagrangian, &few_tasks(nz, count, seed), &judge)
    });
    reports.collect()
}

#[test]
fn levels_agree_with_the_cpu() {
    let (Some(fast), Some(precise)) = (gpu(true), gpu(false)) else { return };
    let seed = seed();
    if is_emulated() {
        let mut reports = check_few::<f64>(&precise, [4, 27, 33, 64], 195, seed, Task::check_f64);
        reports.extend(check_few::<f32>(&precise, [5, 27, 32, 128], 120, seed, Task::check_f32));
        Report::finish_all(reports);
        return;
    }
    let setups: Vec<(usize, Sedimentation)> =
        LEVELS.iter().flat_map(|&nz| Sedimentation::ALL.map(|fallout| (nz, fallout))).collect();
    let all = |sources: fn(usize, Sedimentation) -> _| {
        setups.iter().flat_map(|&(nz, fallout)| -> Vec<_> { sources(nz, fallout) }).collect()
    };
    let single =
        |nz, fallout| sources::<f32>(nz, fallout, &mappings::<f32>(fallout, nz), &TIME_STEPS);
    let double =
        |nz, fallout| sources::<f64>(nz, fallout, &mappings::<f64>(fallout, nz), &TIME_STEPS);
    rayon::join(
        || prepare(&fast, [all(single), all(double)].concat()),
        || prepare(&precise, all(single)),
    );
    let reports = setups.into_par_iter().flat_map_iter(|(nz, fallout)| {
        let tasks = tasks(nz, fallout, seed.wrapping_add(nz as u64));
        [
            check::<f32>(&fast, fallout, &tasks, Task::check_f32),
            check::<f32>(&precise, fallout, &tasks, Task::check_f32),
            check::<f64>(&fast, fallout, &tasks, Task::check_f64),
        ]
        .into_iter()
        .flatten()
    });
    Report::finish_all(reports.collect());
}
