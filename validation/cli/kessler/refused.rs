//! Input and options that the command refuses, with its messages.

use ndarray::Array2;
use nwp_mini_support::kessler::case::{Columns, INPUTS};

use super::{Scene, write_input};

/// Exit codes, as `--help` lists them.
const USAGE: i32 = 2;
const INPUT: i32 = 3;

/// Plausible columns of `nz` levels.
fn columns(nz: usize) -> Columns {
    let values = [300.0, 5e-3, 1e-4, 1e-4, 1.0, 0.95, 400.0];
    let fields = values.map(|value| Array2::from_elem((nz, 3), value)).to_vec();
    Columns { fields, tendencies: None }
}

/// The original input is valid: all others are rejected for their own reason.
#[test]
fn good_input_is_taken() {
    for nz in [2, 5, 256] {
        Scene::new(&columns(nz), 60.0, None).succeeds(&["--backend", "cpu"]);
    }
}

#[test]
fn missing_variables_and_wrong_dimensions() {
    let good: &[&str] = &["level", "column"];
    for odd in INPUTS {
        let scene = Scene { folder: tempfile::tempdir().expect("a folder") };
        let dimensions = |name: &str| (name != odd).then_some(good);
        write_input(&scene.path("in.nc"), &columns(5), 60.0, None, dimensions);
        scene.refuses(&[], INPUT, &["in.nc", &format!("variable {odd}")]);
    }
    let turned: &[&str] = &["column", "level"];
    let scene = Scene { folder: tempfile::tempdir().expect("a folder") };
    let dimensions = |name: &str| Some(if name == "qr" { turned } else { good });
    write_input(&scene.path("in.nc"), &columns(5), 60.0, None, dimensions);
    scene.refuses(&[], INPUT, &["variable qr", "(level, column)", "column, level"]);
}

#[test]
fn values_that_no_air_has() {
    for (name, value, word) in [
        ("th", -300.0, "positive"),
        ("pii", 0.0, "positive"),
        ("den", 1.0e3, "units"),
        ("delz", 0.0, "positive"),
        ("delz", 1.0e6, "units"),
        ("qr", f32::NAN, "NaN"),
    ] {
        let mut columns = columns(5);
        columns.field_mut(name)[[2, 1]] = value;
        let scene = Scene::new(&columns, 60.0, None);
        scene.refuses(&[], INPUT, &[&format!("variable {name}"), word, "column=1"]);
    }
}

#[test]
fn numbers_of_levels_and_steps() {
    for nz in [1, 257] {
        let scene = Scene::new(&columns(nz), 60.0, None);
        scene.refuses(&[], INPUT, &[&format!("{nz} levels"), "2 to 256"]);
    }
    Scene::new(&columns(5), 0.0, None).refuses(&[], INPUT, &["attribute dt", "--dt"]);
    Scene::new(&columns(5), 60.0, Some(0)).refuses(&[], INPUT, &["attribute calls", "--calls"]);
    Scene::new(&columns(5), 60.0, None).refuses(&["--dt", "-1"], USAGE, &["--dt -1", "positive"]);
}

#[test]
fn options_of_wsm5() {
    let scene = Scene::new(&columns(5), 60.0, None);
    scene.refuses(&["--fallout", "substepped"], USAGE, &["--fallout", "--physics kessler"]);
    scene.refuses(&["--mapping", "tile"], USAGE, &["--mapping", "--physics kessler"]);
    scene.refuses(&["--perturb", "psmlt"], USAGE, &["psmlt", "autoconversion"]);
}

/// Rain that would need too many sub-steps is reported, and no output is written.
#[test]
fn rain_beyond_all_measure() {
    let mut columns = columns(5);
    columns.field_mut("qr")[[3, 2]] = 1.0e30;
    let scene = Scene::new(&columns, 86_400.0, None);
    for precision in ["f32", "f64"] {
        let words = ["qr", "level=3 column=2", "-1e-3 to 1e-1 kg kg-1"];
        scene.refuses(&["--backend", "cpu", "--precision", precision], INPUT, &words);
    }
}
