//! Files of WRF itself, if they are available.

use std::path::Path;

use ndarray::{ArrayD, Axis, Slice};

use super::CLOSED;
use super::place::{Outcome, Place, field_of};
use super::real::{needed, storm};

/// Without the outermost on either side.
const INNER: Slice = Slice { start: 1, end: Some(-1), step: 1 };

/// Ten steps with the time step of the file.
fn ten_steps(path: &Path) -> Outcome {
    let place = Place::new();
    place.run(&[path.to_str().expect("a name")], &["--steps", "10"]).good();
    let outcome = place.outcome();
    println!("{}: {}", path.display(), outcome.figures["water"]);
    assert!(outcome.unexplained() < CLOSED, "{}", outcome.unexplained());
    for name in ["T", "QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW", "RAINNC", "W", "REFL_10CM"] {
        assert!(outcome.last(name).iter().all(|x| x.is_finite()), "{name}");
    }
    outcome
}

/// Correlation away from the sides, between the faces `levels`.
fn correlation(a: &ArrayD<f64>, b: &ArrayD<f64>, levels: Slice) -> f64 {
    let inner = |field: &ArrayD<f64>| {
        let mut inner = field.slice_axis(Axis(0), levels).to_owned();
        inner.slice_axis_inplace(Axis(1), INNER);
        inner.slice_axis_inplace(Axis(2), INNER);
        let mean = inner.mean().expect("not empty");
        inner - mean
    };
    let (a, b) = (inner(a), inner(b));
    (&a * &b).sum() / ((&a * &a).sum() * (&b * &b).sum()).sqrt()
}

#[test]
#[ignore = "needs files that are not shipped: NWP_MINI_REFERENCE=FOLDER"]
fn wrf_3_over_terrain_from_larger_data() {
    let path = needed("wrf_2005_30km_27lev.nc");
    let outcome = ten_steps(&path);
    let (ours, theirs) = (outcome.at("W", 0), field_of(&path, "W", 0));
    let above = correlation(&ours, &theirs, INNER);
    let ground = correlation(&ours, &theirs, Slice::from(0..1));
    println!("correlation of W: {above:.4} above the ground, {ground:.4} at it");
    // 0.73 for the motion through the coordinate surfaces only, which is zero at the ground.
    assert!(above > 0.9 && ground > 0.6, "{above} {ground}");
    assert_eq!(outcome.figures["input_frames"].as_array().map(Vec::len), Some(2));
}

#[test]
#[ignore = "needs files that are not shipped: NWP_MINI_REFERENCE=FOLDER"]
fn wrf_4_on_the_hybrid_coordinate_from_larger_data() {
    let path = needed("wrfinput_hybrid_3km.nc");
    let outcome = ten_steps(&path);
    // The file has no W; air over the Alps has some.
    let w = outcome.at("W", 0);
    let strongest = w.index_axis(Axis(0), 0).iter().fold(0.0, |most: f64, w| most.max(w.abs()));
    println!("{strongest:.2} m/s at the ground at most");
    assert!((0.1..10.0).contains(&strongest), "{strongest}");
}

#[test]
fn the_storm_has_the_vertical_wind_of_wrf() {
    let path = storm();
    let outcome = ten_steps(&path);
    let w = correlation(&outcome.at("W", 0), &field_of(&path, "W", 0), INNER);
    println!("correlation of W: {w:.4}");
    assert!(w > 0.97, "{w}");
    assert!(outcome.at("W", 0).index_axis(Axis(0), 0).iter().all(|w| *w == 0.0), "flat ground");
}

#[test]
#[ignore = "needs files that are not shipped: NWP_MINI_REFERENCE=FOLDER"]
fn the_storm_follows_its_hours_from_larger_data() {
    let path = needed("soc_series.nc");
    let place = Place::new();
    let input = path.to_str().expect("a name");
    place.run(&[input], &["--hours", "2", "--dt", "150", "--output-interval", "3600"]).good();
    let outcome = place.outcome();
    assert!(outcome.unexplained() < CLOSED, "{}", outcome.unexplained());
    assert_eq!(outcome.figures["input_frames"].as_array().map(Vec::len), Some(3));
    for time in 0..3 {
        let w = correlation(&outcome.at("W", time), &field_of(&path, "W", time), INNER);
        println!("hour {time}: correlation of W {w:.4}");
        assert!(w > 0.965, "{w}");
        assert!(outcome.at("P", time) == field_of(&path, "P", time), "P at hour {time}");
    }
}
