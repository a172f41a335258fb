//! Whole calls of the scheme compared with those of WRF of July 2008.

use super::case::{CASES, Columns, Precision, group, values};
use super::judge::{NAME, Substepped, reference};
use super::limits::Parting;
use super::support;
use super::variant;

fn check<R: Precision>() {
    let limits = Substepped(Parting::LIKE_WRF);
    reference().judge(&variant::parameters::<R>(), &limits).finish();
}

#[test]
fn single_precision() {
    check::<f32>();
}

#[test]
fn double_precision() {
    check::<f64>();
}

fn check_substeps<R: Precision>() {
    let file = support::reference(NAME);
    let (mut compared, mut most) = (0, 0);
    for case in CASES {
        let columns = Columns::of(case);
        let stored = group(&file, case);
        for (a, &dt) in values::<f32>(&stored, "dt", ..).iter().enumerate() {
            // The number of the first minor step of a call is stored.
            let dt_cloud = dt / (dt / 120.0).round().max(1.0);
            let [rain_snow, ice] = ["m_rain_snow", "m_ice"]
                .map(|name| values::<f32>(&stored, name, (a, ..)).mapv(|count| count as usize));
            for column in 0..rain_snow.len() {
                let mut work = variant::column::<R>(&columns, column);
                let falls = work.cells.iter().any(|c| c.qr > R::ZERO || c.qs > R::ZERO);
                work.call(&variant::parameters(), R::of(dt_cloud.into()));
                let found = work.substeps();
                let about = format!("{case} dt={dt} column {column} {}", R::NAME);
                assert_eq!(found[1], ice[column], "ice, {about}");
                // Without rain and snow there is one sub-step.
                let expected = if falls { rain_snow[column] } else { 1 };
                assert_eq!(found[0], expected, "rain and snow, {about}");
                compared += usize::from(falls);
                most = most.max(found[0]);
            }
        }
    }
    println!("{compared} columns with rain or snow in {}, up to {most} sub-steps", R::NAME);
    assert!(compared > 0);
}

#[test]
fn numbers_of_substeps() {
    check_substeps::<f64>();
    check_substeps::<f32>();
}
