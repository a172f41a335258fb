//! `run --refine N`: the same air on a finer grid.

use super::place::Place;
use super::small::Small;

const STATE: [&str; 6] = ["T", "QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW"];

/// Most that means over the grid move by, relative: half a coarse cell at the sides counts more.
const MEANS: f64 = 0.02;

#[test]
fn a_finer_grid_holds_the_same_air() {
    for (boundary, hybrid) in
        [("specified", false), ("periodic", true), ("open", true), ("open,periodic", false)]
    {
        let place = Place::with(&Small::of([12, 10, 8], hybrid));
        let run = |refine: &str| {
            place.figures(&["--steps", "3", "--boundary", boundary, "--refine", refine])
        };
        let (coarse_figures, coarse) = run("1");
        let (figures, fine) = run("3");
        assert_eq!(figures["grid"], serde_json::json!([36, 30, 8]), "{boundary}");
        assert_eq!(figures["refine"], 3);
        // The file's step, divided alike.
        assert!((figures["dt"].as_f64().expect("a time") - 20.0).abs() < 1e-9, "{figures}");
        for (name, length) in [("DX", 20_000.0), ("DY", 18_000.0)] {
            assert!((fine.number(name) - length / 3.0).abs() < 1e-3, "{name}");
        }
        let close = |what: &str, pointer: &str| {
            let [a, b] = [&coarse_figures, &figures]
                .map(|figures| figures.pointer(pointer).and_then(serde_json::Value::as_f64))
                .map(|value| value.expect("a number"));
            assert!((b / a - 1.0).abs() < MEANS, "{boundary}: {what} {a} {b}");
        };
        if boundary == "periodic" {
            // Elsewhere the outermost rows, which do not count, are narrower.
            close("water", "/water/start");
        }
        let residual = figures["projection"]["residual_after"].as_f64().expect("a number");
        assert!(residual <= 1e-3, "{boundary}: {residual}");
        let closure = figures["water"]["closure_rel"].as_f64().expect("a number");
        assert!(closure.abs() < 1e-6, "{boundary}: {closure}");
        // No new extremes, and the middle of three cells is the coarse one.
        for name in STATE.iter().chain(&["P", "PB", "PH", "PHB", "MU", "MUB", "HGT", "XLAT"]) {
            let [a, b] = [&coarse, &fine].map(|output| output.frame(name, 0));
            let range = |field: &ndarray::ArrayD<f64>| {
                field.fold([f64::MAX, f64::MIN], |[low, high], &x| [low.min(x), high.max(x)])
            };
            let ([low, high], [lowest, highest]) = (range(&a), range(&b));
            assert!(low <= lowest && highest <= high, "{boundary} {name}");
            let middles = b.slice_each_axis(|axis| match axis.axis.index() + 2 - b.ndim() {
                0 | 1 if axis.axis.index() + 2 >= b.ndim() => ndarray::Slice::new(1, None, 3),
                _ => ndarray::Slice::from(..),
            });
            assert!(a == middles, "{boundary} {name}");
        }
    }
}

/// One part is the input itself, and a refined file is an input like any other.
#[test]
fn refined_files_are_input() {
    let place = Place::with(&Small::new());
    let (_, plain) = place.figures(&["--steps", "3"]);
    let bits = plain.bits();
    let (_, one) = place.figures(&["--steps", "3", "--refine", "1"]);
    assert!(one.bits() == bits, "--refine 1 changes something");
    place.figures(&["--steps", "1", "--refine", "2"]);
    let again = place.run(&["-q", "--input", "out.nc", "--steps", "2", "--json", "again.json"]);
    again.good();
    assert_eq!(place.json("again.json")["grid"], serde_json::json!([24, 20, 8]));
}

/// Every frame of a series is divided alike.
#[test]
fn frames_are_refined_one_by_one() {
    let place = Place::with(&Small::new());
    place.figures(&["--steps", "4", "--dt", "60", "--output-interval", "60"]);
    let arguments = ["-q", "--refine", "2", "--hours", "0.05", "--json", "fine.json"];
    let arguments = [&["--input", "out.nc", "--output", "fine.nc"], &arguments[..]].concat();
    place.run(&arguments).good();
    let figures = place.json("fine.json");
    assert_eq!(figures["input_frames"].as_array().map(Vec::len), Some(4), "{figures}");
    let closure = figures["water"]["closure_rel"].as_f64().expect("a number");
    assert!(closure.abs() < 1e-6, "{closure}");
}

#[test]
fn more_than_the_memory_holds_is_refused() {
    let place = Place::with(&Small::new());
    place.run_small(&["--refine", "60000"]).refused(2, &["--refine 60000", "GB", "or less"]);
    place.run_small(&["--refine", "0"]).refused(2, &["--refine", "0"]);
    assert_eq!(place.files(), ["small.nc"]);
}
