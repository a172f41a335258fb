//! Whole calls compared with those of WRF, with the limits of the CPU version.

use std::sync::LazyLock;

use rayon::prelude::*;

use nwp_mini::device::Gpu;
use nwp_mini::physics::wsm5::Sedimentation;
use nwp_mini::physics::wsm5::gpu::Mapping;
use nwp_mini::physics::wsm5::scheme::Scheme;

use super::case::{CASES, Reference};
use super::engine::{GpuBackend, OnDevice, mappings, sources};
use super::judge::Parting;
use super::parameters;
use super::report::Report;
use super::substepped::{self, Substepped};
use super::variant;
use crate::{IT_IS_FAST_MATH, gpu, prepare, real_gpu, sized};

/// Levels of the reference.
const LEVELS: usize = 27;
/// Of one minor step and of three, s.
const TIME_STEPS: [f64; 2] = [60.0, 300.0];

/// Why the emulated device is left out.
const IT_IS_COMPARED: &str = "there other tests compare with the CPU version more narrowly";

/// All cases, read once; on the emulated device single calls.
static REFERENCE: LazyLock<Reference> =
    LazyLock::new(|| Reference::read(&CASES, |_, calls| sized(true, calls == 1)));

/// Those of the variant.
static SUBSTEPPED: LazyLock<Reference> = LazyLock::new(substepped::reference);

/// Runs the kernels of each mapping, and hands them to `judge`.
fn each_mapping<R: OnDevice>(
    gpu: &Gpu,
    scheme: &Scheme<R>,
    judge: impl Fn(&GpuBackend<R>) -> Report + Sync,
) {
    let fallout = scheme.fallout;
    let mappings = mappings::<R>(fallout, LEVELS);
    prepare(gpu, sources::<R>(LEVELS, fallout, &mappings, &TIME_STEPS));
    let reports: Vec<(String, Report)> = mappings
        .into_par_iter()
        .map(|mapping: Mapping| {
            let math = if gpu.compiler().fast_math { "fast" } else { "precise" };
            let about = format!("{mapping}, {fallout:?}, {}, {math}", R::NAME);
            (about, judge(&GpuBackend::new(gpu, scheme.clone(), mapping)))
        })
        .collect();
    Report::finish_all(reports);
}

fn check<R: OnDevice>(fast_math: bool) {
    let Some(gpu) = gpu(fast_math) else { return };
    let limits = Parting::ON_ITS_OWN;
    each_mapping::<R>(&gpu, &Scheme::default(), |engine| REFERENCE.judge(engine, &limits));
}

#[test]
fn single_precision_with_fast_math() {
    if real_gpu(true, IT_IS_FAST_MATH).is_some() {
        check::<f32>(true);
    }
}

#[test]
fn single_precision() {
    check::<f32>(false);
}

#[test]
fn double_precision() {
    check::<f64>(true);
}

fn check_substepped<R: OnDevice>(fast_math: bool) {
    let Some(gpu) = real_gpu(fast_math, IT_IS_COMPARED) else { return };
    let limits = Substepped(Parting::ON_ITS_OWN);
    each_mapping::<R>(&gpu, &variant::parameters(), |engine| SUBSTEPPED.judge(engine, &limits));
}

#[test]
fn substepped_single_precision_with_fast_math() {
    check_substepped::<f32>(true);
}

#[test]
fn substepped_single_precision() {
    check_substepped::<f32>(false);
}

#[test]
fn substepped_double_precision() {
    check_substepped::<f64>(true);
}

/// The limits are narrow enough for the kernels too.
#[test]
fn one_per_cent_of_a_parameter_shows() {
    let Some(gpu) = real_gpu(true, IT_IS_COMPARED) else { return };
    let (reference, limits) = (parameters::reference(), Parting::ON_ITS_OWN);
    for mapping in mappings::<f32>(Sedimentation::SemiLagrangian, LEVELS) {
        let fallout = Sedimentation::SemiLagrangian;
        prepare(&gpu, sources::<f32>(LEVELS, fallout, &[mapping], &TIME_STEPS[..1]));
        let wrong = parameters::off_by_one_per_cent();
        let unnoticed: Vec<&str> = wrong
            .into_par_iter()
            .filter_map(|(name, p)| {
                let report = reference.judge(&GpuBackend::new(&gpu, p, mapping), &limits);
                report.failures.is_empty().then_some(name)
            })
            .collect();
        assert!(unnoticed.is_empty(), "{mapping}: 1 % is not noticed in {}", unnoticed.join(", "));
    }
}
