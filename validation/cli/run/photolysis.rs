//! Photolysis frequencies of the input, under both names, in one frame and between two.

use super::place::Place;
use super::small::{Field, Small};

/// A goes at the pace of one frequency; the other is there to be needed.
const MECHANISM: &str = "#DEFVAR A = IGNORE; B = IGNORE; \
                         #EQUATIONS A = B : j(Pj_no2); B = A : 1e-9*j(Pj_o31d);";
const BACKGROUND: &str =
    "[[species]]\nname = \"a\"\nheight = [0.0]\nvalue = [1.0]\nsource = \"none\"\n";

/// A field of one value in all cells.
fn uniform(small: &Small, value: f32, units: Option<&'static str>) -> Field {
    let mut field = small.fields["QVAPOR"].clone();
    field.values.fill(value);
    field.units = units;
    field
}

/// A file with the light of one frequency of NO2, s⁻¹, in the names of the mechanism or of WRF-Chem.
fn lit(frequency: f32, stamp: &'static str, is_of_wrf_chem: bool) -> Small {
    let mut small = Small::new();
    small.stamp = stamp;
    let fields = if is_of_wrf_chem {
        let per_minute = Some("min{-1}");
        // Those of other species are left alone.
        [("PHOTR2", 6e-4, per_minute), ("PHOTR3", -1.0, None), ("PHOTR4", 60.0 * frequency, None)]
    } else {
        let per_second = Some("s-1");
        [("Pj_o31d", 1e-5, per_second), ("PHOTR3", -1.0, None), ("Pj_no2", frequency, None)]
    };
    for (name, value, units) in fields {
        small.fields.insert(name, uniform(&small, value, units));
    }
    small
}

fn place(files: &[(&str, Small)]) -> Place {
    let place = Place::empty();
    for (name, small) in files {
        small.write(&place.path(name));
    }
    std::fs::write(place.path("ab.kpp"), MECHANISM).expect("a file");
    std::fs::write(place.path("ab.background.toml"), BACKGROUND).expect("a file");
    place
}

const NOON: &str = "2005-06-21_12:00:00";
const LATER: &str = "2005-06-21_12:04:00";

/// Far from the sides, where A flows in.
const INSIDE: [usize; 3] = [1, 5, 6];

/// Options of a run at night, which the light of the input does not know of.
const RUN: [&str; 12] = [
    "--chemistry",
    "ab.kpp",
    "--date",
    "2005-06-21_00:00:00",
    "--longitude",
    "0",
    "--dt",
    "60",
    "--backend",
    "cpu",
    "--precision",
    "f64",
];

#[test]
fn the_light_is_that_of_the_input_between_its_frames() {
    let files = [
        ("a.nc", lit(1e-3, NOON, false)),
        ("b.nc", lit(3e-3, LATER, false)),
        ("c.nc", lit(1e-3, NOON, true)),
        ("d.nc", lit(3e-3, LATER, true)),
    ];
    let place = place(&files);
    let run = |inputs: &[&str], output: &str, options: &[&str]| {
        let all = [&["--input"][..], inputs, &RUN, &["--output", output], options].concat();
        let ended = place.run(&all).good();
        assert!(ended.stderr.contains("in the light of the input"), "{}", ended.stderr);
        ended
    };
    let left = |output: &str| place.open(output).last("a")[INSIDE];
    let is_near = |found: f64, expected: f64| {
        // The tolerance of a call is 1e-3, and four calls follow one another.
        assert!((found / expected - 1.0).abs() < 4e-3, "{found} {expected}");
    };
    // One frame holds: exp(-0.001 x 240).
    let ended = run(&["a.nc"], "one.nc", &["--steps", "4"]);
    assert!(ended.stderr.contains("Pj_no2, Pj_o31d"), "{}", ended.stderr);
    is_near(left("one.nc"), (-0.24_f64).exp());
    // Two: the mean of the middles of the steps is that of the frames, and beyond the last one it holds.
    run(&["a.nc", "b.nc"], "two.nc", &["--steps", "4"]);
    is_near(left("two.nc"), (-0.48_f64).exp());
    run(&["a.nc", "b.nc"], "beyond.nc", &["--steps", "6"]);
    is_near(left("beyond.nc"), (-0.48_f64 - 0.36).exp());
    // One call for all steps has the light of its middle.
    run(&["a.nc", "b.nc"], "seldom.nc", &["--steps", "4", "--chem-dt", "240"]);
    is_near(left("seldom.nc"), (-0.48_f64).exp());
    // Frequencies per minute are the same to the digits that the file keeps of them.
    let ended = run(&["c.nc", "d.nc"], "wrf.nc", &["--steps", "4", "--photolysis", "input"]);
    assert!(!ended.stderr.contains("PHOTR3"), "{}", ended.stderr);
    assert!((left("wrf.nc") / left("two.nc") - 1.0).abs() < 1e-6);
    // A restart keeps the light of the frames that are left.
    run(&["c.nc", "d.nc"], "half.nc", &["--steps", "2", "--restart-output", "r.nc"]);
    std::fs::remove_file(place.path("d.nc")).expect("a file");
    let go_on = ["--restart", "r.nc", "--steps", "2", "--output", "rest.nc", "--backend", "cpu"];
    place.run(&go_on).good();
    assert_eq!(place.open("wrf.nc").last_bits(), place.open("rest.nc").last_bits());
    // The light of the input is one of three.
    for (choice, words) in [("clear-sky", "under a clear sky"), ("none", "in the dark")] {
        let options = ["--photolysis", choice, "--steps", "1", "--output", "dark.nc", "--force"];
        let ended = place.run(&[&["--input", "a.nc"][..], &RUN, &options].concat()).good();
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
        // A constant stays one but for what the projection of the winds leaves.
        assert!((left("dark.nc") - 1.0).abs() < 1e-6, "{choice} at night");
    }
}

/// A finer grid has the light of the cells that it divides.
#[test]
fn a_refined_grid_has_the_light_too() {
    let place = place(&[("a.nc", lit(1e-3, NOON, false))]);
    let options = ["--refine", "2", "--steps", "2", "--output", "o.nc"];
    place.run(&[&["--input", "a.nc"][..], &RUN, &options].concat()).good();
    let left = place.open("o.nc").last("a")[[1, 10, 12]];
    assert!((left / (-0.12_f64).exp() - 1.0).abs() < 2e-3, "{left}");
}

#[test]
fn light_that_is_missing_or_bad_is_refused() {
    let good = lit(1e-3, NOON, true);
    let without = |name: &str| {
        let mut small = good.clone();
        small.remove(name);
        small
    };
    let with = |value: f32, units: &'static str| {
        let mut small = good.clone();
        small.fields.insert("PHOTR4", uniform(&small, value, Some(units)));
        small
    };
    let mut later = without("PHOTR2");
    later.stamp = LATER;
    let files = [
        ("good.nc", good.clone()),
        ("missing.nc", without("PHOTR4")),
        ("later.nc", later),
        ("units.nc", with(0.1, "W m-2")),
        ("negative.nc", with(-0.1, "min-1")),
        ("fast.nc", with(1e3, "min-1")),
    ];
    let place = place(&files);
    let fixed = ["--steps", "1", "--output", "o.nc"];
    let refuses = |inputs: &[&str], options: &[&str], words: &[&str]| {
        let all = [&["--input"][..], inputs, &RUN, &fixed, options].concat();
        place.run(&all).refused(3, words);
        assert!(!place.path("o.nc").exists());
    };
    let asked = ["--photolysis", "input"];
    refuses(&["missing.nc"], &asked, &["missing.nc", "--photolysis input", "Pj_no2 (PHOTR4)"]);
    refuses(&["units.nc"], &[], &["units.nc", "PHOTR4", "W m-2", "min-1"]);
    refuses(&["negative.nc"], &asked, &["negative.nc", "PHOTR4", "between"]);
    refuses(&["fast.nc"], &[], &["fast.nc", "PHOTR4", "1.666667e1"]);
    refuses(&["good.nc", "later.nc"], &[], &["later.nc", "PHOTR2"]);
    // Without a choice a file that lacks some has a clear sky, and a line tells so.
    let all = [&["--input", "missing.nc"][..], &RUN, &fixed].concat();
    let ended = place.run(&all).good();
    for words in ["no field of Pj_no2 (PHOTR4)", "under a clear sky"] {
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
}
