//! Quantities in which two runs are compared.

use ndarray::Array2;

use crate::backend::CapturedFrame;
use crate::real::Real;
use crate::state::{CloudDiagnostics, State, Surface, memory};

/// A run at one time: transported fields, diagnostics, precipitation.
#[derive(Clone, Debug)]
pub struct RunState<R> {
    /// Transported fields.
    pub state: State<R>,
    /// Reflectivity and effective radii.
    pub diagnostics: CloudDiagnostics<R>,
    /// Precipitation since the start, mm. Shape: (ny, nx).
    pub rain: Array2<R>,
    /// Frozen precipitation since the start, mm. Shape: (ny, nx).
    pub snow: Array2<R>,
}

impl<R: Real> RunState<R> {
    /// Names of diagnostics and precipitation.
    const NOT_TRACERS: [&'static str; 6] =
        ["refl_10cm", "re_cloud", "re_ice", "re_snow", Self::RAIN, "snow"];

    /// Name of the precipitation.
    pub const RAIN: &'static str = "rain";

    /// Names of the fields, in the order of [`RunState::fields`]: state, diagnostics, precipitation.
    pub fn names(&self) -> Vec<&'static str> {
        let tracers = self.state.set().iter().map(|tracer| tracer.name);
        tracers.chain(Self::NOT_TRACERS).collect()
    }

    /// Values of the fields: planes of all columns, one for each level of a field.
    pub fn fields(&self) -> Vec<&[R]> {
        let volumes = self.state.fields().iter().chain(self.diagnostics.fields()).map(memory);
        volumes.chain([&self.rain, &self.snow].map(memory)).collect()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.rain.len()
    }

    /// The cell `[k, j, i]` of a linear index in a field.
    pub fn cell(&self, place: usize) -> [usize; 3] {
        let (columns, nx) = (self.columns(), self.rain.ncols());
        [place / columns, place % columns / nx, place % nx]
    }
}

impl<R> From<CapturedFrame<R>> for RunState<R> {
    fn from(frame: CapturedFrame<R>) -> Self {
        let CapturedFrame { state, diagnostics, surface: Surface { rain, snow, .. }, .. } = frame;
        Self { state, diagnostics, rain, snow }
    }
}
