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
    /// Precipitation since the start, all and frozen parts.
    pub surface: Surface<R>,
}

impl<R: Real> RunState<R> {
    /// Name of the precipitation.
    pub const RAIN: &'static str = "rain";

    /// Planes of precipitation since the start, mm, with their names.
    fn fallen(&self) -> impl Iterator<Item = (&'static str, &Array2<R>)> {
        let set = self.state.set();
        let gathered = set.planes().iter().zip(self.surface.planes());
        gathered.filter(|(plane, _)| plane.gathers.is_some()).map(|(about, x)| (about.name, x))
    }

    /// Names of the fields, in the order of [`RunState::fields`]: state, diagnostics, precipitation.
    pub fn names(&self) -> Vec<&'static str> {
        let tracers = self.state.set().iter().map(|tracer| tracer.name);
        let diagnosed = self.diagnostics.iter().map(|(name, _)| name);
        tracers.chain(diagnosed).chain(self.fallen().map(|(name, _)| name)).collect()
    }

    /// Values of the fields: planes of all columns, one for each level of a field.
    pub fn fields(&self) -> Vec<&[R]> {
        let volumes = self.state.fields().iter().chain(self.diagnostics.fields()).map(memory);
        volumes.chain(self.fallen().map(|(_, plane)| memory(plane))).collect()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        let (_, ny, nx) = self.state.theta().dim();
        ny * nx
    }

    /// Number of columns of a row.
    pub fn row(&self) -> usize {
        let (_, _, nx) = self.state.theta().dim();
        nx
    }

    /// The cell `[k, j, i]` of a linear index in a field.
    pub fn cell(&self, place: usize) -> [usize; 3] {
        let (columns, nx) = (self.columns(), self.row());
        [place / columns, place % columns / nx, place % nx]
    }
}

impl<R> From<CapturedFrame<R>> for RunState<R> {
    fn from(frame: CapturedFrame<R>) -> Self {
        let CapturedFrame { state, diagnostics, surface, .. } = frame;
        Self { state, diagnostics, surface }
    }
}
