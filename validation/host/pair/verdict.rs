//! Verdicts on whole pairs.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::Backend;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::diagnostics::difference::Value;
use nwp_mini::forcing::TimeInterpolant;
use nwp_mini::frame::FrameSource;
use nwp_mini::io::wrf;
use nwp_mini::io::wrf::series::{Overlap, Series};
use nwp_mini::model::backend_comparison::{self, ComparisonReport, Pair};
use nwp_mini::model::{Frames, NullSink, RunInput, RunPrecision};
use nwp_mini::physics::registry::usual_set;
use nwp_mini::physics::scheme::Scheme;
use nwp_mini::physics::wsm5::factors::Factors;
use nwp_mini::physics::wsm5::{Sedimentation, Wsm5};
use nwp_mini::state::State;
use nwp_mini::time_steps::{Past, Plan};
use rayon::ThreadPoolBuilder;

use super::stand_in::{Pooled, Wide};

const SCHEMES: [Sedimentation; 2] = [Sedimentation::SemiLagrangian, Sedimentation::Substepped];

/// WSM5 with one process multiplied by a factor.
fn perturbed(fallout: Sedimentation, process: &str, factor: f64) -> Wsm5 {
    let mut scheme = Wsm5::from(fallout);
    scheme.scale(process, factor).expect("a process");
    scheme
}

/// The storm, and the state that it starts from.
pub(super) fn storm<R: RunPrecision>() -> (RunInput<R>, State<R>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/soc.nc");
    let (domain, frame) = wrf::read(&path, None).expect("the storm");
    let mut case = RunInput::new(domain, frame).expect("the storm's winds");
    let state = case.take_state();
    (case, state)
}

pub(super) fn cpu<R: RunPrecision>(
    case: &RunInput<R>,
    state: &State<R>,
    scheme: &dyn Scheme,
) -> Cpu<R> {
    let domain = &case.domain;
    let limiter = Limiter::PositiveDefinite;
    let state = state.clone();
    Cpu::new(&domain.grid, &domain.coordinate, limiter, scheme, &case.forcing, state)
}

pub(super) fn compare<R: RunPrecision + Value>(
    case: &mut RunInput<R>,
    start: &State<R>,
    scheme: &dyn Scheme,
    (steps, dt): (usize, f64),
    other: &mut dyn Backend<R>,
) -> ComparisonReport {
    let stop = AtomicBool::new(false);
    let pair = Pair {
        case,
        start,
        plan: Plan { dt, steps, last_dt: dt, max_dt: 200.0, past: Past::default() },
        frames: Frames::default(),
        limiter: Limiter::PositiveDefinite,
        scheme,
        stop: &stop,
    };
    let report =
        backend_comparison::run(pair, other, &mut NullSink, &mut |_| ()).expect("two runs");
    assert!(!report.interrupted);
    // Twelve fields after the first step, and with two totals after the last.
    let count = if steps > 1 { 26 } else { 12 };
    assert_eq!(report.verdicts.len(), count);
    report
}

/// The fields of the bad verdicts, each with the steps after which it is bad.
pub(super) fn bad(report: &ComparisonReport) -> Vec<String> {
    let bad = report.verdicts.iter().filter(|verdict| !verdict.pass);
    bad.map(|verdict| {
        let checks = verdict.checks.iter().filter(|check| !check.pass);
        let checks: Vec<String> = checks
            .map(|c| format!("{} {:.2e} of {:.2e}, {}", c.measure, c.found, c.limit, c.origin))
            .collect();
        format!("{} after {}: {}", verdict.field, verdict.steps, checks.join("; "))
    })
    .collect()
}

pub(super) fn passes(report: &ComparisonReport, about: &str) {
    assert!(bad(report).is_empty(), "{about}:\n{}", bad(report).join("\n"));
    assert!(report.suspects.is_empty(), "{about}");
}

#[test]
fn other_threads_are_no_other_backend() {
    let (mut case, start) = storm::<f32>();
    let pool = ThreadPoolBuilder::new().num_threads(3).build().expect("three threads");
    let cpu = pool.install(|| cpu(&case, &start, &Wsm5::default()));
    let mut other = Pooled { pool, cpu };
    let report = compare(&mut case, &start, &Wsm5::default(), (3, 60.0), &mut other);
    passes(&report, "three threads");
    for verdict in &report.verdicts {
        assert_eq!((verdict.max_abs, verdict.rms_rel), (0.0, Some(0.0)), "{}", verdict.field);
        assert_eq!(verdict.worst, None, "{}", verdict.field);
    }
    // The runs: one core if there are more, all cores, and the other backend last.
    let [.., all, other] = &report.runs[..] else { panic!("{:?}", report.runs) };
    assert!(all.name.starts_with("CPU") && other.name.contains("3 threads"), "{:?}", report.runs);
    for run in &report.runs {
        assert_eq!((run.steps, run.cells), (3, 71 * 58 * 27));
        assert!(0.0 < run.kernels() && run.kernels() <= run.end_to_end(), "{run:?}");
    }
    for ratio in &report.ratios {
        assert_eq!(ratio.a, other.name);
        assert!(ratio.ratio > 0.0, "{ratio:?}");
    }
}

/// Rounding of another kind in every step, as on another machine, does not fail a backend.
#[test]
fn other_rounding_passes() {
    let (mut case, start) = storm::<f32>();
    for fallout in SCHEMES {
        for (steps, dt) in [(1, 60.0), (10, 60.0), (24, 150.0)] {
            let mut other = cpu(&case, &start, &Wsm5::from(fallout));
            other.disturb(Some(20_081_114));
            let report = compare(&mut case, &start, &Wsm5::from(fallout), (steps, dt), &mut other);
            passes(&report, &format!("{fallout:?}, {steps} steps of {dt} s"));
        }
    }
}

/// Nor is it that a backend does not round at all.
#[test]
fn the_truth_passes() {
    let (mut case, start) = storm::<f32>();
    let wide = TimeInterpolant::lasting(&case.forcing).widened();
    let domain = &case.domain;
    let mut other = Wide(Cpu::new(
        &domain.grid,
        &domain.coordinate,
        Limiter::PositiveDefinite,
        &Wsm5::default(),
        &wide.before,
        start.widened(),
    ));
    let report = compare(&mut case, &start, &Wsm5::default(), (24, 150.0), &mut other);
    passes(&report, "double precision");
}

/// Processes that freeze cloud water and rain in few columns of this storm, or in none; the reference cases of the
/// scheme cover them.
const FREEZING: [&str; 3] = ["pihmf", "pihtf", "psfrz"];

/// One per cent too much in any other process fails after the first step already, and the columns that
/// are shown hold the fields that are named.
#[test]
fn one_per_cent_of_a_process_fails() {
    let (mut case, start) = storm::<f32>();
    for fallout in SCHEMES {
        for name in Factors::<f32>::NAMES {
            let mut other = cpu(&case, &start, &perturbed(fallout, name, 1.01));
            let report = compare(&mut case, &start, &Wsm5::from(fallout), (1, 60.0), &mut other);
            let fields: Vec<&str> = report
                .verdicts
                .iter()
                .filter(|verdict| !verdict.pass)
                .map(|verdict| verdict.field)
                .collect();
            println!("{fallout:?} {name}: {}", fields.join(" "));
            if FREEZING.contains(name) {
                continue;
            }
            assert!(!fields.is_empty(), "{fallout:?}: 1 % of {name} is not noticed");
            let shown: Vec<&str> = report
                .suspects
                .iter()
                .flat_map(|suspect| suspect.fields.iter().map(|(field, _)| *field))
                .collect();
            for field in &fields {
                assert!(shown.contains(field), "{field} in {shown:?}");
            }
            if *name == "praut" {
                assert!(fields.contains(&"qr") && fields.contains(&"qc"), "{fields:?}");
            }
        }
    }
}

/// The values shown of a column are those of the runs.
#[test]
fn suspects_hold_the_inputs_and_both_outputs() {
    let (mut case, start) = storm::<f32>();
    let mut other = cpu(&case, &start, &perturbed(SCHEMES[0], "prevp", 1.01));
    let report = compare(&mut case, &start, &Wsm5::default(), (2, 60.0), &mut other);
    let suspect = &report.suspects[0];
    assert_eq!(suspect.steps, 1);
    let (field, [k, j, i]) = suspect.fields[0];
    let find = |profiles: &[nwp_mini::model::divergent_columns::QuantityProfile], name: &str| {
        profiles.iter().find(|profile| profile.name == name).expect("a profile").values.clone()
    };
    let inputs = suspect.inputs.as_ref().expect("the inputs of the first step");
    let names: Vec<&str> = inputs.iter().map(|profile| profile.name).collect();
    assert_eq!(names, ["th", "q", "qc", "qr", "qi", "qs", "den", "pii", "p", "delz"]);
    assert_eq!(find(inputs, "q")[k], f64::from(start.qv()[[k, j, i]]));
    assert_eq!(find(inputs, "th")[k], f64::from(start.theta()[[k, j, i]] + 300.0));
    assert_eq!(find(inputs, "p")[k], f64::from(case.forcing.environment.p[[k, j, i]]));
    assert_ne!(find(&suspect.a, field)[k], find(&suspect.b, field)[k], "{field}");
    // After the last step there is no input to show: it is 2 steps away.
    let later = report.suspects.iter().find(|suspect| suspect.steps == 2).expect("both are bad");
    assert!(later.inputs.is_none());
}

#[test]
fn double_precision_has_narrower_limits() {
    let (mut case, start) = storm::<f64>();
    let mut other = cpu(&case, &start, &Wsm5::default());
    other.disturb(Some(7));
    let report = compare(&mut case, &start, &Wsm5::default(), (3, 60.0), &mut other);
    passes(&report, "other rounding");
    // Differences that single precision would hide.
    let mut other = cpu(&case, &start, &perturbed(SCHEMES[0], "praut", 1.0 + 1e-6));
    let report = compare(&mut case, &start, &Wsm5::default(), (1, 60.0), &mut other);
    assert!(bad(&report).iter().any(|text| text.starts_with("qr")), "{:?}", bad(&report));
}

/// Every run of a pair goes through all frames of the input from the first on.
#[test]
fn all_runs_are_driven_alike() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("frames.nc");
    let storm = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/soc.nc");
    let mut program = Command::new(env!("CARGO_BIN_EXE_nwp-mini"));
    program.args(["run", "-q", "--steps", "3", "--dt", "100", "--output-interval", "100"]);
    program.arg("--input").arg(&storm).arg("--output").arg(&path);
    assert!(program.env_remove("NWP_BACKEND").output().expect("the program").status.success());

    let (domain, frame) = wrf::read(&path, None).expect("frames");
    let series = Series::open(&[path], &domain, (Overlap::Refuse, &usual_set())).expect("frames");
    assert_eq!(series.len(), 4);
    let case = RunInput::<f32>::new(domain, frame).expect("winds");
    let mut case = case.follow(series, 240.0).expect("winds");
    let start = case.take_state();
    let pool = ThreadPoolBuilder::new().num_threads(3).build().expect("three threads");
    let cpu = pool.install(|| cpu(&case, &start, &Wsm5::default()));
    let mut other = Pooled { pool, cpu };
    let report = compare(&mut case, &start, &Wsm5::default(), (6, 40.0), &mut other);
    passes(&report, "several frames");
    for verdict in &report.verdicts {
        assert_eq!(verdict.max_abs, 0.0, "{} after {}", verdict.field, verdict.steps);
    }
    fs::remove_dir_all(folder.path()).expect("the folder is ours");
}
