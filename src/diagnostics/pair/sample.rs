//! What two runs are compared in.

use ndarray::{Array2, Dimension};

use crate::backend::Captured;
use crate::real::Real;
use crate::state::{CloudDiagnostics, State, Surface};

/// A run at one time: what moves with the air, what is diagnosed from it, what has fallen.
#[derive(Clone, Debug)]
pub struct Sample<R> {
    /// What moves with the air.
    pub state: State<R>,
    /// Reflectivity and effective radii.
    pub diagnostics: CloudDiagnostics<R>,
    /// Precipitation since the start, mm. Shape: (ny, nx).
    pub rain: Array2<R>,
    /// Its frozen part, mm. Shape: (ny, nx).
    pub snow: Array2<R>,
}

impl<R: Real> Sample<R> {
    /// Names of the fields, in the order of [`Sample::fields`].
    pub const NAMES: [&'static str; 12] = [
        "theta",
        "qv",
        "qc",
        "qr",
        "qi",
        "qs",
        "refl_10cm",
        "re_cloud",
        "re_ice",
        "re_snow",
        "rain",
        "snow",
    ];

    /// Where the precipitation is among them.
    pub const RAIN: usize = 10;

    /// The values of the fields: planes of all columns, as many as the field has levels.
    pub fn fields(&self) -> [&[R]; 12] {
        let [theta, qv, qc, qr, qi, qs] = self.state.fields().map(values);
        let CloudDiagnostics { refl_10cm, re_cloud, re_ice, re_snow } = &self.diagnostics;
        let [refl_10cm, re_cloud, re_ice, re_snow] =
            [refl_10cm, re_cloud, re_ice, re_snow].map(values);
        let [rain, snow] = [&self.rain, &self.snow].map(values);
        [theta, qv, qc, qr, qi, qs, refl_10cm, re_cloud, re_ice, re_snow, rain, snow]
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.rain.len()
    }

    /// The cell `[k, j, i]` of a place in a field.
    pub fn cell(&self, place: usize) -> [usize; 3] {
        let (columns, nx) = (self.columns(), self.rain.ncols());
        [place / columns, place % columns / nx, place % nx]
    }
}

impl<R> From<Captured<R>> for Sample<R> {
    fn from(frame: Captured<R>) -> Self {
        let Captured { state, diagnostics, surface: Surface { rain, snow, .. }, .. } = frame;
        Self { state, diagnostics, rain, snow }
    }
}

fn values<T, D: Dimension>(field: &ndarray::Array<T, D>) -> &[T] {
    field.as_slice().expect("fields are in standard layout")
}
