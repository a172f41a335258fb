//! A case from its making to the end of its run.

use ndarray::{ArrayD, IxDyn};

use super::place::{Ended, Place};
use super::result::Output;

/// All cases, each on a grid that is quick to run.
pub(crate) const CASES: [(&str, &[&str]); 8] = [
    ("warm-bubble", &["--nx", "20", "--ny", "18", "--nz", "20", "--dx", "500"]),
    ("supercell", &["--nx", "24", "--ny", "20", "--nz", "20", "--dx", "2000"]),
    ("kid-warm1", &[]),
    ("kid-mixed", &["--ny", "6"]),
    ("squall-line", &["--nx", "40", "--ny", "4", "--nz", "20", "--dx", "2000"]),
    ("rotation", &["--nx", "30", "--ny", "32"]),
    ("deformation", &["--nx", "30", "--ny", "32"]),
    ("storm", &["--nx", "40", "--ny", "36", "--nz", "14", "--dx", "50000"]),
];

/// A folder with `case.nc`, and after a run `out.nc` and `out.json`.
pub(crate) struct Story {
    pub(crate) place: Place,
}

/// Runs the program with these arguments in a folder.
pub(crate) fn command(place: &Place, arguments: &[&str]) -> Ended {
    let output = place.program(arguments).output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

impl Story {
    /// Generates a case.
    #[track_caller]
    pub(crate) fn of(case: &str, options: &[&str]) -> Self {
        let place = Place::empty();
        command(&place, &[&["init", case, "--output", "case.nc"], options].concat()).good();
        Self { place }
    }

    /// Runs it on the CPU; returns the figures and the output.
    #[track_caller]
    pub(crate) fn run(&self, options: &[&str]) -> (serde_json::Value, Output) {
        self.ended(options);
        (self.place.json("out.json"), self.place.open("out.nc"))
    }

    /// Runs it on the CPU; returns its output.
    #[track_caller]
    pub(crate) fn ended(&self, options: &[&str]) -> Ended {
        let fixed = ["--input", "case.nc", "--output", "out.nc", "--json", "out.json", "--force"];
        self.place.run(&[&fixed[..], &["--backend", "cpu"], options].concat()).good()
    }

    /// The case itself.
    pub(crate) fn case(&self) -> Output {
        self.place.open("case.nc")
    }
}

/// Height of the middle of the layers above the ground, m. Shape: (nz, ny, nx).
pub(crate) fn heights(file: &Output) -> ArrayD<f64> {
    let phi = file.frame("PH", 0) + file.frame("PHB", 0);
    let shape: Vec<usize> = file.frame("P", 0).shape().to_vec();
    ArrayD::from_shape_fn(IxDyn(&shape), |at| {
        (phi[[at[0], at[1], at[2]]] + phi[[at[0] + 1, at[1], at[2]]]) / (2.0 * 9.81)
    })
}

/// Dry mass of the layers per area, by the coordinate of the file, kg m⁻². Shape: (nz, ny, nx).
pub(crate) fn masses(file: &Output) -> ArrayD<f64> {
    let mu = file.frame("MU", 0) + file.frame("MUB", 0);
    let dnw = file.frame("DNW", 0);
    let shape: Vec<usize> = file.frame("P", 0).shape().to_vec();
    ArrayD::from_shape_fn(IxDyn(&shape), |at| mu[[at[1], at[2]]] * -dnw[at[0]] / 9.81)
}

/// Cloud water, rain, ice and snow of a frame together, kg kg⁻¹. Shape: (nz, ny, nx).
pub(crate) fn condensate(file: &Output, frame: usize) -> ArrayD<f64> {
    ["QRAIN", "QICE", "QSNOW"]
        .into_iter()
        .fold(file.frame("QCLOUD", frame), |sum, name| sum + file.frame(name, frame))
}
