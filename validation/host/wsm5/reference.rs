//! Whole calls of the scheme against those of WRF.

use nwp_mini::wsm5::factors::Factors;
use nwp_mini::wsm5::scheme::Scheme;

use super::case::{CASES, OUTPUTS, Precision, Stage, group};
use super::judge::{Case, LIKE_WRF, judge};
use super::parameters;
use super::support;
use super::yardstick::{Spread, Yardstick, rms};

fn check<R: Precision>(thin: usize) {
    let cases = Case::read(&support::reference("wsm5"), &CASES, thin, |_, _| true);
    judge(&cases, &Scheme::<R>::default(), LIKE_WRF).finish();
}

#[test]
fn single_precision() {
    check::<f32>(1);
}

/// The limits hold on a part of the columns, as the subset that is shipped with the project.
#[test]
fn single_precision_of_fewer_columns() {
    check::<f32>(9);
}

#[test]
fn double_precision() {
    check::<f64>(1);
}

#[test]
fn double_precision_of_fewer_columns() {
    check::<f64>(9);
}

/// The limits are narrow enough: with any parameter of the scheme off by one per cent, they are
/// exceeded.
#[test]
fn one_per_cent_of_a_parameter_shows() {
    expect_noticed(parameters::off_by_one_per_cent());
}

/// And so they are with any process off by one per cent.
#[test]
fn one_per_cent_of_a_process_shows() {
    expect_noticed(Factors::<f32>::NAMES.iter().map(|&name| {
        let mut p = Scheme::default();
        *p.factors.of(name).expect("a process") *= 1.01;
        (name, p)
    }));
}

/// Judges wrong parameters, each by name; every one must exceed a limit.
fn expect_noticed(wrong: impl IntoIterator<Item = (&'static str, Scheme<f32>)>) {
    let cases = parameters::cases();
    let mut unnoticed = Vec::new();
    for (name, p) in wrong {
        let report = judge(&cases, &p, LIKE_WRF);
        let (count, most) = (report.failures.len(), report.most());
        println!("{name} + 1 %: {count} limits exceeded, by up to {most:.0}");
        if report.failures.is_empty() {
            unnoticed.push(name);
        }
    }
    assert!(unnoticed.is_empty(), "a change by 1 % is not noticed in {}", unnoticed.join(", "));
}

/// The yardstick is read and counted as it was made: the stored build has just the spread that the
/// table gives it, where the whole case is at hand.
#[test]
fn yardstick_describes_the_stored_build() {
    let file = support::reference("wsm5");
    let mut compared = 0;
    for case in CASES {
        let group = group(&file, case);
        for stage in Stage::read(&group, &OUTPUTS, |_, _| true) {
            for (name, truth) in &stage.truths {
                let y = Yardstick::of(case, stage.dt, stage.calls, name);
                let about = format!("{case} dt={} calls={} {name}", stage.dt, stage.calls);
                // The table has four digits, and the errors six bits.
                let near = |a: f64, b: f64| (a - b).abs() <= 0.02 * b.abs();
                if truth.exact.len() == y.cells {
                    let spread = Spread::of(&truth.off, &truth.exact);
                    assert!(near(spread.p99, y.stored.p99), "{about}: {spread:?} {y:?}");
                    assert!(near(rms(&truth.exact), y.rms), "{about}: {y:?}");
                    compared += 1;
                }
                assert!(y.most.p99 >= y.stored.p99 && y.most.share >= y.stored.share, "{about}");
            }
        }
    }
    println!("{compared} fields compared in full");
}
