//! The file of an ensemble: mean and spread, its metadata, and other commands on it.

use ndarray::{ArrayD, Axis};

use super::ensemble;
use super::place::Place;

fn run(place: &Place, more: &[&str]) {
    let fixed = ["-q", "--steps", "3", "--ensemble", "e.toml", "-o", "e.nc", "--force"];
    place.run_small(&[&fixed, more].concat()).good();
}

/// The largest difference over the largest value.
fn off(found: &ArrayD<f64>, expected: &ArrayD<f64>) -> f64 {
    assert_eq!(found.shape(), expected.shape());
    let most = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let differences = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    differences.fold(0.0_f64, |a, b| if b <= a { a } else { b }) / most.max(f64::MIN_POSITIVE)
}

/// True if a number of a JSON file equals this one except for the reader's rounding.
fn is_same(found: &serde_json::Value, expected: f64) -> bool {
    found.as_f64().is_some_and(|found| (found - expected).abs() <= 1e-15 * expected.abs())
}

#[test]
fn mean_and_spread_are_those_of_the_members() {
    let place = ensemble(5, "");
    for precision in ["f32", "f64"] {
        run(&place, &["--precision", precision, "--output-interval", "120", "--json", "e.json"]);
        let output = place.open("e.nc");
        let limit = if precision == "f32" { 1e-7 } else { 1e-14 };
        let mut checked = 0;
        for name in output.names() {
            let Some(of) = name.strip_suffix("_ENSEMBLE_MEAN") else { continue };
            let values = output.values(of);
            let dimensions: Vec<_> =
                output.variable(of).dimensions().iter().map(netcdf::Dimension::name).collect();
            assert_eq!(dimensions[..2], ["Time", "member"], "{of}");
            assert_eq!(values.len_of(Axis(0)), 3, "{of}");
            let mean = values.mean_axis(Axis(1)).expect("members");
            // If all members are nearly equal, the difference to the mean is as small as its rounding error.
            let scale = values.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            let spread = values.std_axis(Axis(1), 1.0);
            assert!(off(&output.values(&name), &mean) < limit, "{precision} {name}");
            let found = output.values(&format!("{of}_ENSEMBLE_SPREAD"));
            let error = (&found - &spread).iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            assert!(error <= limit * scale, "{precision} {of}: {error:e} of {scale:e}");
            checked += 1;
        }
        assert_eq!(checked, 18);
        // The members differ from the start, but not in unperturbed variables.
        let spread = output.frame("QVAPOR_ENSEMBLE_SPREAD", 0);
        for (k, level) in spread.axis_iter(Axis(0)).enumerate() {
            assert_eq!(level.iter().all(|x| *x == 0.0), k >= 5, "level {k}");
        }
        assert!(output.frame("QRAIN_ENSEMBLE_SPREAD", 0).iter().all(|x| *x == 0.0));
        assert!(output.last("QRAIN_ENSEMBLE_SPREAD").iter().any(|x| *x > 0.0));
        let water = ["QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW"];
        assert!(water.iter().all(|name| output.frame(name, 0).iter().all(|x| *x >= 0.0)));
    }
}

#[test]
fn the_file_tells_its_members_and_the_figures_agree() {
    let place = ensemble(4, "");
    run(&place, &["--json", "e.json", "--precision", "f64"]);
    let (output, figures) = (place.open("e.nc"), place.json("e.json"));
    let about = &figures["ensemble"];
    assert_eq!(output.values("member").iter().copied().collect::<Vec<_>>(), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(output.text_of("member", "standard_name"), "realization");
    assert_eq!(output.text_of("PARAM_N0R", "units"), "m-4");
    assert_eq!(output.text("ensemble_seed"), "7");
    assert!(output.text("ensemble_file").contains("[initial.QVAPOR]"));
    assert_eq!(
        output.text_of("RAINNC_ENSEMBLE_MEAN", "cell_methods"),
        "XTIME: sum realization: mean"
    );
    for (parameter, name) in [(0, "PARAM_ALPHA"), (1, "PARAM_N0R")] {
        let values = output.values(name);
        assert_eq!(values.len(), 4);
        for (member, value) in values.iter().enumerate() {
            assert!(is_same(&about["parameters"][parameter]["values"][member], *value));
        }
    }
    assert_eq!(output.values("PARAM_N0R")[[0]], 8e6);
    assert_eq!(output.values("PARAM_ALPHA")[[0]], 0.12);
    // The maximum of the precipitation of all columns is the largest value of its field.
    let rain = output.last("RAINNC");
    let most = rain.axis_iter(Axis(0)).map(|rain| rain.iter().fold(0.0_f64, |a, b| a.max(*b)));
    for (member, most) in most.enumerate() {
        let of = &about["precipitation_mm"][member];
        assert!(is_same(&of["most"], most), "{of}, not {most}");
        assert!(of["mean"].as_f64() < Some(most) && most > 0.0);
        let closure = about["water"][member]["closure_rel"].as_f64().expect("a number");
        assert!(closure.abs() < 1e-10, "member {member}: {closure}");
    }
    let means: Vec<f64> =
        (0..4).filter_map(|n| about["precipitation_mm"][n]["mean"].as_f64()).collect();
    let mean = means.iter().sum::<f64>() / 4.0;
    let spread = (means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
    for (name, expected) in [("precipitation_mean_mm", mean), ("precipitation_spread_mm", spread)] {
        let found = about[name]["mean"].as_f64().expect("a number");
        assert!((found - expected).abs() < 1e-12 * mean && found > 0.0, "{name}: {found}");
    }
}

/// Statistics without members are those of a file with members; the fields of the members are omitted.
#[test]
fn statistics_alone_are_the_same() {
    let all = ensemble(3, "");
    run(&all, &[]);
    let few = ensemble(3, "output = \"statistics\"\n");
    run(&few, &[]);
    let [all, few] = [all, few].map(|place| place.open("e.nc"));
    let with_members = |name: &String| {
        all.variable(name).dimensions().iter().any(|d| d.name() == "member")
            && name != "member"
            && !name.starts_with("PARAM_")
    };
    let (left_out, kept): (Vec<_>, Vec<_>) = all.names().into_iter().partition(with_members);
    assert_eq!(few.names(), kept);
    assert!(left_out.len() > 20 && left_out.contains(&"T".to_owned()), "{left_out:?}");
    for name in kept.iter().filter(|name| *name != "Times") {
        assert_eq!(all.values(name), few.values(name), "{name}");
    }
}

/// Commands for single runs reject a file with members; `diff` and `plot` accept it.
#[test]
fn other_commands_answer() {
    let place = ensemble(3, "");
    run(&place, &[]);
    place.run(&["--input", "e.nc", "--steps", "1"]).refused(3, &["e.nc", "member = 3"]);
    for (command, code) in [
        (&["diff", "e.nc", "e.nc"][..], 0),
        (&["diff", "e.nc", "small.nc"], 1),
        (&["plot", "e.nc", "--output", "pictures"], 0),
    ] {
        let ended = place.program(command).output().expect("the program starts");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{command:?}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
    assert!(place.path("pictures").join("reflectivity.png").exists(), "{:?}", place.files());
}
