//! `nwp-mini columns --physics wsm6`: output, files without graupel, and rejected options.

use std::process::Output;

use nwp_mini::physics::wsm6::params::RimedIce;
use nwp_mini_support::program;
use nwp_mini_support::wsm6::case::{Columns, INPUTS, ON_LEVELS, OUTPUTS, OnCpu, TRACERS};

/// Exit code of wrong usage, as `--help` lists it.
const USAGE: i32 = 2;
/// That of bad input.
const BAD_INPUT: i32 = 3;

/// A folder with the columns of a case in `in.nc`.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    /// Writes all inputs that are `wanted`.
    fn new(columns: &Columns, wanted: impl Fn(&str) -> bool) -> Self {
        let scene = Self { folder: tempfile::tempdir().expect("a folder") };
        let mut file = netcdf::create(scene.folder.path().join("in.nc")).expect("a new file");
        let (nz, nx) = columns.dim();
        file.add_dimension("level", nz).expect("a dimension");
        file.add_dimension("column", nx).expect("a dimension");
        file.add_attribute("dt", 60.0).expect("an attribute");
        for name in INPUTS.into_iter().filter(|name| wanted(name)) {
            let mut variable =
                file.add_variable::<f32>(name, &["level", "column"]).expect("a variable");
            let values: Vec<f32> = columns.field(name).iter().copied().collect();
            variable.put_values(&values, ..).expect("values");
        }
        scene
    }

    fn run(&self, options: &[&str]) -> Output {
        let mut command = std::process::Command::new(program());
        command.arg("columns").arg("--input").arg(self.folder.path().join("in.nc"));
        command.arg("--output").arg(self.folder.path().join("out.nc")).args(options);
        command.output().expect("the program starts")
    }

    /// Runs the command, which must succeed, and compares its output with the library's result.
    fn has(&self, options: &[&str], columns: &Columns, kind: RimedIce) {
        let Output { status, stderr, .. } = self.run(options);
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        let file = netcdf::open(self.folder.path().join("out.nc")).expect("a NetCDF file");
        let mut names: Vec<String> = file.variables().map(|variable| variable.name()).collect();
        let mut promised = OUTPUTS.to_vec();
        names.sort();
        promised.sort_unstable();
        assert_eq!(names, promised);
        let state = OnCpu::<f32>::best(kind).run(columns, 60.0, 1);
        let levels = OUTPUTS[..TRACERS].iter().zip(&state.tracers);
        for (name, expected) in levels {
            let values: Vec<f32> =
                file.variable(name).expect("a variable").get_values(..).expect("values");
            assert!(values.iter().eq(expected), "{name} is not what the library computes");
        }
        for (name, expected) in OUTPUTS[ON_LEVELS..].iter().zip(&state.surface) {
            let values: Vec<f32> =
                file.variable(name).expect("a variable").get_values(..).expect("values");
            assert!(values.iter().eq(expected), "{name} is not what the library computes");
        }
    }
}

#[test]
fn calls_are_those_of_the_library() {
    let columns = Columns::of("hail").unforced();
    let scene = Scene::new(&columns, |_| true);
    scene.has(&["--physics", "wsm6"], &columns, RimedIce::Graupel);
    let hail = ["--physics", "wsm6", "--graupel", "hail", "--force"];
    scene.has(&hail, &columns, RimedIce::Hail);
}

/// A file of WSM5 has no graupel.
#[test]
fn a_file_without_graupel_has_none() {
    let mut columns = Columns::of("deep").unforced();
    let scene = Scene::new(&columns, |name| name != "qg");
    columns.field_mut("qg").fill(0.0);
    scene.has(&["--physics", "wsm6"], &columns, RimedIce::Graupel);
}

/// Graupel of an impossible kind, or not on the levels of the columns, is refused, and nothing is written; a little less
/// than none counts as none.
#[test]
fn impossible_graupel_is_refused() {
    let with = |value: f32| {
        let mut columns = Columns::of("deep").unforced();
        columns.field_mut("qg")[[3, 5]] = value;
        Scene::new(&columns, |_| true)
    };
    let refused = |scene: &Scene, words: &str| {
        let Output { status, stderr, .. } = scene.run(&["--physics", "wsm6", "--backend", "cpu"]);
        let said = String::from_utf8_lossy(&stderr);
        assert_eq!(status.code(), Some(BAD_INPUT), "{said}");
        assert!(said.contains("in.nc: variable qg") && said.contains(words), "{said}");
        assert!(!scene.folder.path().join("out.nc").exists(), "an output is left");
    };
    refused(&with(-0.01), "is -0.01 at level=3 column=5");
    refused(&with(f32::NAN), "is NaN at level=3 column=5");
    refused(&with(1.0), "check its units");
    let flat = Scene::new(&Columns::of("deep").unforced(), |name| name != "qg");
    let mut file = netcdf::append(flat.folder.path().join("in.nc")).expect("the file");
    let mut variable = file.add_variable::<f32>("qg", &["column"]).expect("a variable");
    variable.put_values(&vec![0.0_f32; Columns::of("deep").dim().1], ..).expect("values");
    file.close().expect("written");
    refused(&flat, "(level, column) is needed");

    let scene = with(-1e-5);
    let Output { status, .. } = scene.run(&["--physics", "wsm6", "--backend", "cpu"]);
    assert!(status.success());
    let file = netcdf::open(scene.folder.path().join("out.nc")).expect("a NetCDF file");
    let found: Vec<f32> = file.variable("qg").expect("graupel").get_values(..).expect("values");
    assert!(found.iter().all(|qg| *qg >= 0.0));
}

#[test]
fn options_of_other_schemes_are_refused() {
    let scene = Scene::new(&Columns::of("hail").unforced(), |_| true);
    for (options, words) in [
        (&["--physics", "kessler", "--graupel", "hail"][..], ["--graupel", "WSM6"]),
        (&["--graupel", "graupel"], ["--graupel", "--physics wsm5"]),
        (&["--physics", "wsm6", "--fallout", "substepped"], ["--fallout", "WSM5"]),
        (&["--physics", "wsm6", "--mapping", "column"], ["--mapping column", "WSM5"]),
        (&["--physics", "wsm6", "--perturb", "praut", "--backend", "gpu"], ["--perturb", "CPU"]),
    ] {
        let Output { status, stderr, .. } = scene.run(options);
        let said = String::from_utf8_lossy(&stderr);
        assert_eq!(status.code(), Some(USAGE), "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{words:?}: {said}");
    }
}
