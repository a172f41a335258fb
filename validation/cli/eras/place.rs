//! A folder for a test to run the program in.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use ndarray::{ArrayD, Axis};
use serde_json::Value;
use tempfile::TempDir;

use super::cut::Cut;

pub(crate) struct Place(TempDir);

/// Exit status and output of the program.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// Checks that the input was refused, with all these words.
    #[track_caller]
    pub(crate) fn refused(&self, words: &[&str]) {
        assert_eq!(self.code, Some(3), "{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "{word}: {}", self.stderr);
        }
    }
}

impl Place {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Ended {
        self.command_with(&[], arguments)
    }

    /// A command with variables of the environment.
    pub(crate) fn command_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ended {
        let mut command = Command::cargo_bin("nwp-mini").expect("built by cargo for this test");
        command.envs(variables.iter().copied());
        let output = command.current_dir(self.0.path()).args(arguments).output().expect("starts");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Ended {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// `run`, into `out.nc` and `out.json`.
    pub(crate) fn run(&self, inputs: &[&str], options: &[&str]) -> Ended {
        let fixed = ["--output", "out.nc", "--json", "out.json", "--force"];
        self.command(&[&["run", "--input"], inputs, &fixed, options].concat())
    }

    /// Runs three steps from a file; returns the results.
    #[track_caller]
    pub(crate) fn result_of(&self, cut: &Cut) -> Outcome {
        cut.write(&self.path("in.nc"));
        let ended = self.run(&["in.nc"], &["--steps", "3"]).good();
        Outcome { stderr: ended.stderr, ..self.outcome() }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        Outcome {
            file: netcdf::open(self.path("out.nc")).expect("an output"),
            figures: self.json("out.json"),
            stderr: String::new(),
        }
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        let text = std::fs::read_to_string(self.path(name)).expect("a JSON file");
        serde_json::from_str(&text).expect("JSON")
    }
}

/// Results of a run.
pub(crate) struct Outcome {
    file: netcdf::File,
    pub(crate) figures: Value,
    pub(crate) stderr: String,
}

impl Outcome {
    /// A variable at one time.
    pub(crate) fn at(&self, name: &str, time: usize) -> ArrayD<f64> {
        field(&self.file, name, time)
    }

    /// A variable at the last time.
    pub(crate) fn last(&self, name: &str) -> ArrayD<f64> {
        self.at(name, self.file.dimension_len("Time").expect("Time") - 1)
    }

    pub(crate) fn number(&self, pointer: &str) -> f64 {
        self.figures.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}"))
    }

    /// Residual of the water budget.
    pub(crate) fn unexplained(&self) -> f64 {
        self.number("/water/closure_rel").abs()
    }
}

/// A variable of a file at one time.
pub(crate) fn field(file: &netcdf::File, name: &str, time: usize) -> ArrayD<f64> {
    let variable = file.variable(name).unwrap_or_else(|| panic!("no {name}"));
    variable.get::<f64, _>(..).expect("numbers").index_axis_move(Axis(0), time)
}

/// A variable of an existing file.
pub(crate) fn field_of(path: &Path, name: &str, time: usize) -> ArrayD<f64> {
    field(&netcdf::open(path).expect("a NetCDF file"), name, time)
}

pub(crate) fn largest_difference(a: &ArrayD<f64>, b: &ArrayD<f64>) -> f64 {
    a.iter().zip(b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
}
