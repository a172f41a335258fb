//! Whole calls of the scheme against those of WRF.

use nwp_mini::wsm5::factors::Factors;
use nwp_mini::wsm5::scheme::Scheme;

use crate::case::{CASES, Columns, OUTPUTS, Outcome, Precision, Stage, group};
use crate::judge::{LIKE_WRF, Report, each_field, judge_f32, judge_f64};
use crate::support;
use crate::yardstick::{Spread, Yardstick, rms};

/// The scheme on the CPU.
fn on_cpu<R: Precision>(p: &Scheme<R>) -> impl Fn(&Columns, f64, usize) -> Outcome<R> {
    |columns, dt, calls| columns.run_with(p, dt, calls)
}

fn check_f32(cases: &[&str], thin: usize) {
    let mut report = Report::default();
    let p = Scheme::default();
    each_field::<f32>(
        on_cpu(&p),
        cases,
        thin,
        |_| true,
        |field, stage, name, y, fragile| {
            judge_f32(field, stage, name, y, (fragile, LIKE_WRF), &mut report);
        },
    );
    report.finish();
}

#[test]
fn single_precision() {
    check_f32(&CASES, 1);
}

/// The limits hold on a part of the columns, as the subset that is shipped with the project.
#[test]
fn single_precision_of_fewer_columns() {
    check_f32(&CASES, 9);
}

fn check_f64(cases: &[&str], thin: usize) {
    let mut report = Report::default();
    let p = Scheme::default();
    each_field::<f64>(
        on_cpu(&p),
        cases,
        thin,
        |_| true,
        |field, stage, name, y, _| {
            judge_f64(field, stage, name, y, LIKE_WRF, &mut report);
        },
    );
    report.finish();
}

#[test]
fn double_precision() {
    check_f64(&CASES, 1);
}

#[test]
fn double_precision_of_fewer_columns() {
    check_f64(&CASES, 9);
}

/// The limits are narrow enough: with any parameter of the scheme off by one per cent, they are
/// exceeded.
#[test]
fn one_per_cent_of_a_parameter_shows() {
    type Change = fn(&mut Scheme<f32>) -> &mut f32;
    let parameters: [(&str, Change); 22] = [
        ("n0r", |p| &mut p.n0r),
        ("n0s", |p| &mut p.n0s),
        ("alpha", |p| &mut p.alpha),
        ("bvtr", |p| &mut p.bvtr),
        ("bvts", |p| &mut p.bvts),
        ("dicon", |p| &mut p.dicon),
        ("dimax", |p| &mut p.dimax),
        ("xncr", |p| &mut p.xncr),
        ("pfrz1", |p| &mut p.pfrz1),
        ("pfrz2", |p| &mut p.pfrz2),
        ("qc0", |p| &mut p.qc0),
        ("qck1", |p| &mut p.qck1),
        ("pidnc", |p| &mut p.pidnc),
        ("pvtr", |p| &mut p.pvtr),
        ("pvts", |p| &mut p.pvts),
        ("pacrr", |p| &mut p.pacrr),
        ("pacrc", |p| &mut p.pacrc),
        ("precr1", |p| &mut p.precr1),
        ("precs2", |p| &mut p.precs2),
        ("roqimax", |p| &mut p.roqimax),
        ("pidn0r", |p| &mut p.pidn0r),
        ("pidn0s", |p| &mut p.pidn0s),
    ];
    expect_noticed(parameters.map(|(name, parameter)| {
        let mut p = Scheme::default();
        *parameter(&mut p) *= 1.01;
        (name, p)
    }));
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
    let mut unnoticed = Vec::new();
    for (name, p) in wrong {
        let mut report = Report::default();
        let smooth = |stage: &Stage<'_>| stage.is_smooth() && stage.dt > 50.0;
        let cases = ["warm", "mixed", "cold", "edge", "storm"];
        each_field::<f32>(on_cpu(&p), &cases, 1, smooth, |field, stage, name, y, fragile| {
            judge_f32(field, stage, name, y, (fragile, LIKE_WRF), &mut report);
        });
        let most = report.nearest.iter().map(|(_, ratio, _)| *ratio).fold(0.0, f64::max);
        println!("{name} + 1 %: {} limits exceeded, by up to {most:.0}", report.failures.len());
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
        for stage in Stage::all(&group) {
            for (output, name) in OUTPUTS.into_iter().enumerate() {
                let y = Yardstick::of(case, stage.dt, stage.calls, name);
                let truth = stage.truth(output);
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
