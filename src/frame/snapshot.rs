//! A frame of output.

use std::sync::Arc;

use ndarray::{Array2, Array3};

use crate::state::{CloudDiagnostics, State, Surface};

/// Fields of the input that are passed through unchanged. Shapes: (nz, ny, nx), (nz + 1, ny, nx), (ny, nx).
#[derive(Clone, Debug)]
pub struct PassThrough {
    /// Perturbation and base pressure, Pa.
    pub pressure: [Array3<f32>; 2],
    /// Perturbation and base geopotential, m² s⁻².
    pub geopotential: [Array3<f32>; 2],
    /// Perturbation and base column mass, Pa.
    pub column_mass: [Array2<f32>; 2],
}

/// One time of the output.
#[derive(Clone, Debug)]
pub struct Snapshot<R> {
    /// Time since the start of the run, s.
    pub seconds: f64,
    /// Potential temperature less 300 K, and the water.
    pub state: State<R>,
    /// Projected winds on the x-, y- and z-faces, m s⁻¹. Shapes: (nz, ny, nx + 1), (nz, ny + 1, nx),
    /// (nz + 1, ny, nx).
    pub winds: Arc<[Array3<R>; 3]>,
    /// Reflectivity and effective radii.
    pub diagnostics: CloudDiagnostics<R>,
    /// Planes at the ground.
    pub surface: Surface<R>,
    /// Column contents, in the order of the fields of the state. Shape: (species, ny, nx). Units: kg m⁻².
    pub contents: Array3<R>,
    /// Mean and root mean square over the levels of the fields of the state.
    /// Shape: (field, 2, nz).
    pub profiles: Array3<f64>,
    /// Largest Courant number: the fraction of a cell's air that leaves it in a time step.
    pub max_courant: f64,
    /// Air of the input at this time.
    pub given: Arc<PassThrough>,
    /// `true` if winds and prescribed fields are the same in all frames.
    pub lasts: bool,
}
