//! All methods, frozen and updated rates, both precisions, against KPP's results, by the limits that KPP
//! itself keeps when it is compiled otherwise.

use nwp_mini::chemistry::cells::{Cells, Outcome, RateUpdate, integrate};

use nwp_mini_support::chemistry::{Case, RUNS, Run};

/// Limits of the agreement.
#[derive(Clone, Copy)]
struct Limits {
    /// Share of cells whose counters are all equal.
    equal: f64,
    relative: f64,
    /// Molecules cm-3.
    absolute: f64,
}

/// Frozen rates, double precision: compilers move KPP by no more.
const FROZEN: Limits = Limits { equal: 0.995, relative: 1e-9, absolute: 1e-3 };
/// Rates that follow the sun: the difference for ∂f/∂t cancels digits.
const UPDATED: Limits = Limits { equal: 0.99, relative: 1e-6, absolute: 1.0 };
/// For cells with other counters: root mean square of the differences over 1 + 1e-3 y.
const PARTED: f64 = 0.1;

/// Differences of a run from KPP's, a line for each cell, and how many cells have other counters.
pub(super) fn findings(
    case: &Case,
    run: &Run,
    cells: &Cells,
    out: &[Outcome],
) -> (Vec<String>, usize) {
    let limits = match run.settings.rates {
        RateUpdate::Frozen => FROZEN,
        RateUpdate::Updated => UPDATED,
    };
    let n = case.kinetics.variables();
    let (mut lines, mut parted) = (Vec::new(), 0);
    for (cell, outcome) in out.iter().enumerate() {
        let at = format!("{}, {}, cell {cell}", run.name, run.settings.method.name);
        if !outcome.status.is_success() {
            lines.push(format!("{at}: {}", outcome.status.reason()));
            continue;
        }
        let pairs = || cells.variable[cell * n..][..n].iter().zip(&run.y[cell * n..]);
        let counters = outcome.counters.values().map(f64::from);
        if counters != run.counters[cell * counters.len()..][..counters.len()] {
            parted += 1;
            let squares: f64 =
                pairs().map(|(a, b)| ((a - b) / (1.0 + 1e-3 * b.abs())).powi(2)).sum();
            let rms = (squares / n as f64).sqrt();
            if rms > PARTED || rms.is_nan() {
                lines.push(format!("{at}: other counters, and {rms:e} tolerances away"));
            }
            continue;
        }
        let beyond = pairs().enumerate().find(|(_, (a, b))| {
            let off = (*a - *b).abs();
            off > limits.relative * b.abs() + limits.absolute || off.is_nan()
        });
        if let Some((i, (a, b))) = beyond {
            let species = &case.mechanism.species[case.kinetics.variable[i]].name;
            lines.push(format!("{at}: {species} {a:e}, expected {b:e}"));
        }
    }
    // At least one cell may differ of the few that a clone has.
    let allowed = (((1.0 - limits.equal) * out.len() as f64) as usize).max(1);
    if parted > allowed {
        lines.push(format!("{}: {parted} of {} cells have other counters", run.name, out.len()));
    }
    (lines, parted)
}

fn agree(mode: &str) {
    for case in Case::all() {
        let cells = case.cells();
        let (mut parted, mut all, mut share) = (0, 0, 0.0);
        for name in RUNS {
            let Some(run) = case.run(mode, name) else { continue };
            let mut cells = cells.clone();
            let out = integrate(&case.kinetics, &run.settings, &mut cells);
            let (lines, differ) = findings(&case, &run, &cells, &out);
            assert!(lines.is_empty(), "{}", lines.join("\n"));
            parted += differ;
            all += out.len();
            share = if mode == "au" { FROZEN.equal } else { UPDATED.equal };
            let steps = out.iter().zip(run.steps.chunks(3));
            for (outcome, expected) in steps.filter(|_| mode == "au") {
                assert!((outcome.time - expected[0]).abs() <= 1e-9 * expected[0], "{}", run.name);
                assert!((outcome.next_step / expected[2] - 1.0).abs() < 1e-5, "{}", run.name);
            }
        }
        assert!(parted as f64 <= (1.0 - share) * all as f64, "{}: {parted} of {all}", case.name);
    }
}

#[test]
fn frozen_rates_agree_with_kpp() {
    agree("au");
}

#[test]
fn updated_rates_agree_with_kpp() {
    agree("na");
}

/// Errors against integrations of tolerance 1e-10 are no larger than KPP's own.
#[test]
fn errors_are_no_larger_than_those_of_kpp() {
    for case in Case::all() {
        let truth = case.values("au_truth_600_y");
        for name in ["ros2_600", "ros3_600", "ros4_600", "rodas3_600", "rodas4_600", "wrf_600"] {
            let run = case.run("au", name).unwrap();
            let mut cells = case.cells();
            integrate(&case.kinetics, &run.settings, &mut cells);
            // In units of the tolerance, over all cells and species.
            let error = |y: &[f64]| {
                let terms = y.iter().zip(&truth);
                let sum: f64 = terms.map(|(y, t)| ((y - t) / (1.0 + 1e-3 * t.abs())).powi(2)).sum();
                (sum / truth.len() as f64).sqrt()
            };
            let (ours, theirs) = (error(&cells.variable), error(&run.y));
            assert!(ours <= 1.1 * theirs, "{}: {ours} {theirs}", run.name);
        }
    }
}
