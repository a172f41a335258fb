//! Tests that see every check pass and fail.

use ndarray::{Array2, Array3};

use super::*;
use crate::grid::Shape;
use crate::physics::registry::usual_set;
use crate::real::Real;
use crate::state::{CloudDiagnostics, State, Surface};

const SHAPE: Shape = Shape { nx: 50, ny: 20, nz: 10 };

/// A value between 0.5 and 1.5 that depends on field and position.
fn value(field: usize, place: usize) -> f64 {
    1.0 + 0.5 * ((7 * field + 3 * place) as f64).sin()
}

/// A sample whose values are a function of field number and position.
fn sample<R: Real>(of: impl Fn(usize, usize) -> f64) -> RunState<R> {
    let Shape { nx, ny, .. } = SHAPE;
    let volume = |field: usize| {
        Array3::from_shape_fn(SHAPE.centre(), |(k, j, i)| R::of(of(field, (k * ny + j) * nx + i)))
    };
    let plane =
        |field: usize| Array2::from_shape_fn((ny, nx), |(j, i)| R::of(of(field, j * nx + i)));
    let set = usual_set();
    let mut surface = Surface::zeros(&set, SHAPE);
    *surface.named_mut("rain") = plane(10);
    *surface.named_mut("snow") = plane(11);
    RunState {
        diagnostics: CloudDiagnostics::of(&set, (6..10).map(volume).collect()),
        state: State::new(set, (0..6).map(volume).collect()),
        surface,
    }
}

/// A value with a rounding error of up to `units` times 1e-7 that depends on the run.
fn rounded(run: usize, units: f64) -> impl Fn(usize, usize) -> f64 {
    move |field, place| {
        value(field, place) + 1e-7 * units * ((run + 5 * place + field) as f64).cos()
    }
}

/// A reference of four runs, one of which takes another branch in column 17.
fn rounding_reference(is_smooth: bool) -> RoundingReference {
    let mut reference = RoundingReference::new(sample(value), is_smooth);
    for run in 0..3 {
        reference.add(&sample::<f32>(rounded(run, 1.0)));
    }
    reference.add(&sample::<f32>(|field, place| {
        let leaves = field == 3 && place == 2017;
        rounded(3, 1.0)(field, place) + if leaves { 0.01 } else { 0.0 }
    }));
    reference
}

/// Measures that fail in the verdicts on one field, after checking that all other fields pass.
fn failing(verdicts: &[Verdict], field: &str) -> Vec<&'static str> {
    for verdict in verdicts.iter().filter(|verdict| verdict.field != field) {
        assert!(verdict.pass, "{verdict:?}");
    }
    let verdict = verdicts.iter().find(|verdict| verdict.field == field).expect("a field");
    let failing: Vec<_> =
        verdict.checks.iter().filter(|check| !check.pass).map(|check| check.measure).collect();
    assert_eq!(verdict.pass, failing.is_empty());
    failing
}

/// Measures that fail if every `nth` value of the rain water is off by `error`.
fn with_fault(is_smooth: bool, nth: usize, first: usize, error: f64) -> Vec<&'static str> {
    let a = sample::<f32>(rounded(0, 1.0));
    let b = sample::<f32>(|field, place| {
        let is_off = field == 3 && place % nth == first;
        rounded(9, 1.0)(field, place) + if is_off { error } else { 0.0 }
    });
    failing(&rounding_reference(is_smooth).judge(&a, &b), "qr")
}

#[test]
fn each_measure_of_the_first_step_fails_by_itself() {
    const WHOLE: usize = 10_000;
    assert_eq!(with_fault(true, WHOLE, 0, 0.0), [""; 0]);
    // One run took another branch in one column, so one more column may do so.
    assert_eq!(with_fault(true, WHOLE, 5, 1e-5), [""; 0]);
    assert_eq!(with_fault(true, 5000, 5, 1e-5), [""; 0]);
    let largest = ["largest error, steady columns"];
    assert_eq!(with_fault(true, 4001, 5, 9e-6), largest);
    // If the scheme is not smooth, single cells are not judged.
    assert_eq!(with_fault(false, 4001, 5, 9e-6), [""; 0]);
    let p999 = ["largest error, steady columns", "99.9th percentile of the error"];
    assert_eq!(with_fault(true, 701, 5, 2e-6), p999);
    let p99 = [&p999[..], &["99th percentile of the error"]].concat();
    assert_eq!(with_fault(true, 37, 5, 3e-6), p99);
    assert_eq!(with_fault(true, 700, 5, 1e-4).last(), Some(&"share of values off by 1e-5"));
    assert_eq!(
        with_fault(false, 37, 5, 1e-4),
        ["99th percentile of the error", "share of values off by 1e-5"]
    );
}

#[test]
fn columns_that_leave_their_course_are_not_judged_by_the_largest_error() {
    assert!((rounding_reference(true).fragile_share() - 1e-3).abs() < 1e-12);
    // At level 4 of column 17, where the last run of the reference was off at level 2.
    let fault = |columns: [usize; 2]| {
        let a = sample::<f32>(rounded(0, 1.0));
        let b = sample::<f32>(|field, place| {
            let is_off = field == 3 && place / 1000 == 4 && columns.contains(&(place % 1000));
            rounded(9, 1.0)(field, place) + if is_off { 1e-5 } else { 0.0 }
        });
        failing(&rounding_reference(true).judge(&a, &b), "qr")
    };
    // One column is known to be unsteady, and one more may be.
    assert_eq!(fault([17, 18]), [""; 0]);
    assert_eq!(fault([18, 19]), ["largest error, steady columns"]);
}

#[test]
fn a_value_that_is_no_number_fails_and_is_found() {
    let a = sample::<f32>(rounded(0, 1.0));
    let mut b = sample::<f32>(rounded(9, 1.0));
    b.diagnostics.get_mut("re_ice").expect("a volume")[[3, 4, 5]] = f32::NAN;
    let verdicts = rounding_reference(true).judge(&a, &b);
    assert!(failing(&verdicts, "re_ice").contains(&"values that are no numbers"));
    let verdict = verdicts.iter().find(|verdict| !verdict.pass).expect("one is bad");
    assert_eq!(verdict.suspect(), Some([3, 4, 5]));
}

#[test]
fn figures_of_a_verdict_are_those_of_the_two_runs() {
    let a = sample::<f32>(|_, _| 2.0);
    let mut b = a.clone();
    b.state.named_mut("qs")[[1, 2, 3]] = 2.5;
    let mut reference = RoundingReference::new(sample(|_, _| 2.0), true);
    reference.add(&a);
    let verdicts = reference.judge(&a, &b);
    let verdict = verdicts.iter().find(|verdict| verdict.field == "qs").expect("snow");
    assert_eq!((verdict.max_abs, verdict.worst, verdict.steps), (0.5, Some([1, 2, 3]), 1));
    assert_eq!(verdict.max_ulp, Some(1 << 21));
    let rms = 0.5 / 100.0 / 2.0;
    assert!((verdict.rms_rel.expect("a number") / rms - 1.0).abs() < 1e-12);
    assert!(!verdict.pass);
    assert_eq!(verdict.suspect(), Some([1, 2, 3]));
}

#[test]
fn double_precision_has_limits_of_its_own() {
    let truth = || sample::<f64>(value);
    let judge = |is_smooth, error: f64| {
        let mut reference = RoundingReference::new(truth(), is_smooth);
        reference.add(&truth());
        let b = sample::<f64>(|field, place| {
            value(field, place) + if field == 6 && place % 50 == 0 { error } else { 0.0 }
        });
        failing(&reference.judge(&truth(), &b), "refl_10cm")
    };
    // 1e-6 of the rms, which is near 1.
    assert_eq!(judge(true, 0.9e-6), [""; 0]);
    assert_eq!(judge(true, 1.2e-6), ["largest error, steady columns"]);
    assert_eq!(judge(false, 0.9e-4), [""; 0]);
    assert_eq!(judge(false, 1.2e-4), ["99th percentile of the error"]);
}

const TOTALS: Totals = Totals { water: 1e12, rain: 1e9, area: 1e9 };

/// The verdicts after seven steps, with a reference whose runs differ by one unit.
fn later(b: &RunState<f32>, totals: Totals) -> Vec<Verdict> {
    let a = sample::<f32>(rounded(0, 1.0));
    let away = Totals { water: 1e12 + 2e6, rain: 1e9 + 3e3, ..TOTALS };
    let apart = RunSpread::of(&a, &sample(rounded(5, 1.0)), [TOTALS, away]);
    let less = RunSpread::of(&a, &sample(rounded(5, 0.5)), [TOTALS, TOTALS]);
    let verdicts = judge_later(7, [&a, b], [TOTALS, totals], &apart.larger(&less));
    assert!(verdicts.iter().all(|verdict| verdict.steps == 7));
    assert_eq!(verdicts.len(), 14);
    verdicts
}

#[test]
fn each_measure_after_many_steps_fails_by_itself() {
    let off = |nth: usize, error: f64| {
        sample::<f32>(move |field, place| {
            let is_off = field == 3 && place % nth == 0;
            rounded(9, 1.0)(field, place) + if is_off { error } else { 0.0 }
        })
    };
    assert_eq!(failing(&later(&off(1, 0.0), TOTALS), "qr"), [""; 0]);
    // Less than one value in a hundred may be off by any amount: rounding decides between finite outcomes.
    assert_eq!(failing(&later(&off(150, 0.1), TOTALS), "qr"), [""; 0]);
    assert_eq!(
        failing(&later(&off(50, 1e-5), TOTALS), "qr"),
        ["99th percentile", "rms of all but the largest 1 %"]
    );
    let none = sample::<f32>(rounded(9, 1.0));
    let water = |water| later(&none, Totals { water, ..TOTALS });
    assert_eq!(failing(&water(1e12 + 7.9e6), "water of the domain"), [""; 0]);
    assert_eq!(failing(&water(1e12 + 8.1e6), "water of the domain"), ["difference"]);
    let rain = |rain| later(&none, Totals { rain, ..TOTALS });
    assert_eq!(failing(&rain(1e9 + 11.9e3), "rain of the domain"), [""; 0]);
    assert_eq!(failing(&rain(1e9 + 12.1e3), "rain of the domain"), ["difference"]);
    assert_eq!(failing(&rain(f64::NAN), "rain of the domain"), ["difference"]);
}

#[test]
fn the_sum_of_the_rain_fails_where_columns_err_alike() {
    let names = sample::<f32>(|_, _| 0.0).names();
    let rain = names.iter().position(|name| *name == RunState::<f32>::RAIN).expect("the rain");
    // More rain, mm, in some of a thousand columns of 1e6 m².
    let of_the_sum = |columns: usize, more: f64| {
        let b = sample::<f32>(|field, place| {
            let is_off = field == rain && place < columns;
            rounded(9, 1.0)(field, place) + if is_off { more } else { 0.0 }
        });
        let rain = TOTALS.rain + more * columns as f64 * 1e6;
        let verdicts = later(&b, Totals { rain, ..TOTALS });
        verdicts.into_iter().find(|verdict| verdict.field == "rain of the domain").expect("a sum")
    };
    let one = of_the_sum(1, 0.05);
    assert!(one.pass && one.checks[0].origin.contains("random sum of differences"), "{one:?}");
    // The same total in kg, spread over all columns.
    assert!(!of_the_sum(1000, 5e-5).pass);
    // The rain is 1 mm everywhere.
    assert!(!of_the_sum(1, 1000.0).pass);
}

#[test]
fn no_field_is_held_nearer_than_the_roundings_of_each_step() {
    let a = sample::<f32>(rounded(0, 1.0));
    let b = sample::<f32>(rounded(9, 1.0));
    let all_pass = |one_step: f64, steps| {
        let none = RunSpread::of(&a, &a, [TOTALS, TOTALS]);
        let error = spread::Spread { p99: one_step, rms_inner: one_step, ..Default::default() };
        let apart = none.or_roundings(&[error; 12], steps);
        judge_later(steps, [&a, &b], [TOTALS, TOTALS], &apart).iter().all(|verdict| verdict.pass)
    };
    // The runs of the reference differ by 2.4e-7 at most.
    assert!(all_pass(0.65e-7, 1));
    assert!(!all_pass(0.3e-7, 1));
    // Errors of steps add in quadrature.
    assert!(!all_pass(0.3e-7, 3));
    assert!(all_pass(0.3e-7, 5));
}

#[test]
fn fields_that_jump_are_judged_by_a_percentile_alone() {
    let none = sample::<f32>(rounded(9, 1.0));
    for verdict in later(&none, TOTALS) {
        let count = match verdict.field {
            "refl_10cm" | "re_cloud" | "re_ice" | "re_snow" => 1,
            field if field.contains("domain") => 1,
            _ => 2,
        };
        assert_eq!(verdict.checks.len(), count, "{}", verdict.field);
        assert!(verdict.checks.iter().all(|check| !check.origin.is_empty()));
    }
}
