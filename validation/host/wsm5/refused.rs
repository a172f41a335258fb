//! Input that `nwp-mini columns` rejects, with which messages, and without leaving files.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use ndarray::Array2;

use super::case::{Columns, INPUTS};
use super::command::{command, write_input};

/// Exit codes, as `--help` lists them.
const USAGE: i32 = 2;
const INPUT: i32 = 3;
const GPU: i32 = 4;

/// Plausible columns of `nz` levels.
fn columns(nz: usize) -> Columns {
    let values = [300.0, 5e-3, 1e-4, 1e-4, 0.0, 0.0, 1.0, 0.95, 8.0e4, 400.0];
    let fields = values.map(|value| Array2::from_elem((nz, 3), value)).to_vec();
    Columns { fields, tendencies: None }
}

/// A folder with an input file.
struct Scene {
    folder: tempfile::TempDir,
    input: PathBuf,
    output: PathBuf,
}

impl Scene {
    /// A folder with a good input file.
    fn good() -> Self {
        Self::with(&columns(5))
    }

    fn with(columns: &Columns) -> Self {
        let scene = Self::empty();
        write_input(&scene.input, columns, Some(60.0), None);
        scene
    }

    fn empty() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (input, output) = (folder.path().join("in.nc"), folder.path().join("out.nc"));
        Self { folder, input, output }
    }

    /// Names and contents of all that is in the folder.
    fn contents(&self) -> Vec<(OsString, Vec<u8>)> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let mut contents: Vec<_> = entries
            .map(|entry| entry.expect("an entry"))
            .map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap_or_default()))
            .collect();
        contents.sort();
        contents
    }

    /// The command must fail with this code and all of these words, and leave the folder unchanged.
    fn refuses(&self, options: &[&str], code: i32, words: &[&str]) {
        self.refuses_output(&self.output, options, code, words);
    }

    fn refuses_output(&self, output: &Path, options: &[&str], code: i32, words: &[&str]) {
        let before = self.contents();
        let result = command(&self.input, output).args(options).output().expect("it starts");
        let said = String::from_utf8_lossy(&result.stderr);
        assert_eq!(result.status.code(), Some(code), "{said}");
        for word in words {
            assert!(said.contains(word), "nothing of {word:?} in: {said}");
        }
        assert!(result.stdout.is_empty(), "{}", String::from_utf8_lossy(&result.stdout));
        assert!(self.contents() == before, "the folder has changed: {said}");
    }
}

/// The original input is valid, so that the others are rejected for their own reason.
#[test]
fn good_input_is_taken() {
    for nz in [4, 5, 256] {
        let scene = Scene::with(&columns(nz));
        let result = command(&scene.input, &scene.output).output().expect("it starts");
        assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    }
}

#[test]
fn input_that_is_not_netcdf() {
    let scene = Scene::empty();
    scene.refuses(&[], INPUT, &["in.nc"]);
    fs::write(&scene.input, "").expect("a file");
    scene.refuses(&[], INPUT, &["in.nc", "empty"]);
    fs::write(&scene.input, "th q qc\n300 0.01 0\n").expect("a file");
    scene.refuses(&[], INPUT, &["in.nc", "NetCDF"]);
}

#[test]
fn truncated_input() {
    let scene = Scene::good();
    let bytes = fs::read(&scene.input).expect("a file");
    fs::write(&scene.input, &bytes[..bytes.len() / 2]).expect("a file");
    scene.refuses(&[], INPUT, &["in.nc"]);
}

#[test]
fn input_that_is_a_folder() {
    let scene = Scene::empty();
    fs::create_dir(&scene.input).expect("a folder");
    scene.refuses(&[], INPUT, &["in.nc", "folder"]);
}

/// Writes a valid file except for one variable, which has these dimensions or is missing.
fn write_but(path: &Path, odd: &str, dimensions: Option<&[&str]>) {
    let mut file = netcdf::create(path).expect("a new file");
    file.add_dimension("level", 5).expect("a dimension");
    file.add_dimension("column", 3).expect("a dimension");
    file.add_attribute("dt", 60.0).expect("an attribute");
    let columns = columns(5);
    for name in INPUTS {
        let dimensions = if name == odd { dimensions } else { Some(&["level", "column"][..]) };
        let Some(dimensions) = dimensions else { continue };
        let mut variable = file.add_variable::<f32>(name, dimensions).expect("a variable");
        let values: Vec<f32> = columns.field(name).iter().copied().take(variable.len()).collect();
        variable.put_values(&values, ..).expect("values");
    }
}

#[test]
fn missing_variables() {
    for name in INPUTS {
        let scene = Scene::empty();
        write_but(&scene.input, name, None);
        scene.refuses(&[], INPUT, &[&format!("variable {name}")]);
    }
}

#[test]
fn wrong_dimensions() {
    for dimensions in [&["column", "level"][..], &["column"], &["level"]] {
        let scene = Scene::empty();
        write_but(&scene.input, "qr", Some(dimensions));
        scene.refuses(&[], INPUT, &["variable qr", "(level, column)", &dimensions.join(", ")]);
    }
    let scene = Scene::empty();
    let mut file = netcdf::create(&scene.input).expect("a new file");
    file.add_dimension("height", 5).expect("a dimension");
    drop(file);
    scene.refuses(&[], INPUT, &["level", "height"]);
}

#[test]
fn values_that_are_not_finite() {
    for (name, value) in [("q", f32::NAN), ("th", f32::INFINITY), ("qs", f32::NEG_INFINITY)] {
        let mut columns = columns(5);
        columns.field_mut(name)[[2, 1]] = value;
        let words = [&format!("variable {name}"), "level=2", "column=1"];
        Scene::with(&columns).refuses(&[], INPUT, &words);
    }
}

#[test]
fn values_that_must_be_positive() {
    for name in ["th", "den", "pii", "p", "delz"] {
        for value in [0.0, -1.0] {
            let mut columns = columns(5);
            columns.field_mut(name)[[4, 2]] = value;
            let words = [&format!("variable {name}"), "level=4", "column=2", "positive"];
            Scene::with(&columns).refuses(&[], INPUT, &words);
        }
    }
}

#[test]
fn too_few_or_too_many_levels() {
    for nz in [3, 257] {
        let words = [&format!("{nz} levels"), "4 to 256"];
        Scene::with(&columns(nz)).refuses(&[], INPUT, &words);
    }
}

#[test]
fn time_steps_and_calls() {
    let scene = Scene::empty();
    write_input(&scene.input, &columns(5), None, None);
    scene.refuses(&[], INPUT, &["dt"]);
    for dt in ["0", "-60", "NaN", "inf"] {
        Scene::good().refuses(&[&format!("--dt={dt}")], USAGE, &["dt"]);
    }
    for calls in ["0", "-1", "1.5"] {
        Scene::good().refuses(&[&format!("--calls={calls}")], USAGE, &["calls"]);
    }
    for (dt, calls, word) in [(-60.0, 1, "dt"), (60.0, 0, "calls")] {
        let scene = Scene::empty();
        write_input(&scene.input, &columns(5), Some(dt), Some(calls));
        scene.refuses(&[], INPUT, &[word]);
    }
}

#[test]
fn output_that_exists() {
    let scene = Scene::good();
    fs::write(&scene.output, "precious").expect("a file");
    scene.refuses(&[], INPUT, &["out.nc", "--force"]);
}

#[test]
fn output_that_cannot_be() {
    let scene = Scene::good();
    let missing = scene.folder.path().join("nowhere").join("out.nc");
    scene.refuses_output(&missing, &[], INPUT, &["nowhere"]);
    let folder = scene.folder.path().join("folder");
    fs::create_dir(&folder).expect("a folder");
    scene.refuses_output(&folder, &["--force"], INPUT, &["folder"]);
}

#[test]
fn wrong_usage() {
    let scene = Scene::good();
    scene.refuses(&["--colour", "red"], USAGE, &["--colour"]);
    scene.refuses(&["--precision", "f16"], USAGE, &["f16", "f32", "f64"]);
    scene.refuses(&["--fallout", "quick"], USAGE, &["quick", "semi-lagrangian"]);
}

#[test]
fn gpu_that_cannot_be_used() {
    Scene::good().refuses(&["--backend", "gpu"], GPU, &["GPU"]);
}

/// Numbers that the scheme cannot digest end the command, and are named.
#[test]
fn blow_up() {
    let mut columns = columns(5);
    columns.tendencies = Some([Array2::from_elem((5, 3), 1e38), Array2::zeros((5, 3))]);
    Scene::with(&columns).refuses(&["--dt", "100"], 5, &["th became NaN", "step 1"]);
}
