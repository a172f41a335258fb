//! `--physics kessler` of `nwp-mini columns` and `run`: output and rejected input.

mod refused;
mod run;
mod written;

use std::path::{Path, PathBuf};
use std::process::Output;

use ndarray::Array2;

use nwp_mini_support::kessler::case::{Columns, INPUTS};
use nwp_mini_support::program;

/// A folder with an input file, `in.nc`.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new(columns: &Columns, dt: f64, calls: Option<i32>) -> Self {
        let scene = Self { folder: tempfile::tempdir().expect("a folder") };
        write_input(&scene.path("in.nc"), columns, dt, calls, |_| Some(&["level", "column"]));
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the command on `in.nc`; it is to write `out.nc`.
    fn run(&self, options: &[&str]) -> Output {
        let mut command = std::process::Command::new(program());
        command.args(["columns", "--physics", "kessler", "--input"]).arg(self.path("in.nc"));
        command.arg("--output").arg(self.path("out.nc")).args(options);
        command.output().expect("the program starts")
    }

    /// Runs the command, which must succeed.
    fn succeeds(&self, options: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.run(options);
        assert!(status.success(), "{status:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).expect("text")
    }

    /// Runs the command, which must fail with this code and all of these words, and write nothing.
    fn refuses(&self, options: &[&str], code: i32, words: &[&str]) {
        let Output { status, stdout, stderr } = self.run(options);
        let said = String::from_utf8_lossy(&stderr);
        assert_eq!(status.code(), Some(code), "{said}");
        for word in words {
            assert!(said.contains(word), "nothing of {word:?} in: {said}");
        }
        assert!(stdout.is_empty(), "{}", String::from_utf8_lossy(&stdout));
        let entries = std::fs::read_dir(self.folder.path()).expect("a folder");
        let names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
        assert_eq!(names, ["in.nc"], "{said}");
    }
}

/// Writes the input of the scheme for columns; `dimensions` returns those of a variable, `None` to omit it.
fn write_input<'a>(
    path: &Path,
    columns: &Columns,
    dt: f64,
    calls: Option<i32>,
    dimensions: impl Fn(&str) -> Option<&'a [&'a str]>,
) {
    let mut file = netcdf::create(path).expect("a new file");
    let (nz, nx) = columns.dim();
    file.add_dimension("level", nz).expect("a dimension");
    file.add_dimension("column", nx).expect("a dimension");
    file.add_attribute("dt", dt).expect("an attribute");
    if let Some(calls) = calls {
        file.add_attribute("calls", calls).expect("an attribute");
    }
    let mut add = |name: &str, values: &Array2<f32>| {
        let Some(dimensions) = dimensions(name) else { return };
        let mut variable = file.add_variable::<f32>(name, dimensions).expect("a variable");
        let values: Vec<f32> = values.iter().copied().take(variable.len()).collect();
        variable.put_values(&values, ..).expect("values");
    };
    for name in INPUTS {
        add(name, columns.field(name));
    }
    if let Some([theta, qv]) = &columns.tendencies {
        add("th_tend", theta);
        add("q_tend", qv);
    }
}
