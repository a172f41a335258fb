//! Arrays of a call of the microphysics: state, air, and planes at the ground.

use std::ops::Range;

use crate::device::Buffer;
use crate::grid::Shape;
use crate::state::Surface;

/// Number of planes at the ground: [`PLANES`].
pub const SURFACE_PLANES: usize = PLANES.len();
/// Number of planes for a step's terms of the water budget.
pub const TERMS: usize = 4;

/// The planes at the ground, contiguous: those of [`Surface`], then the mass mismatch. The terms of the water budget
/// are the last.
pub const PLANES: [&str; 9] = {
    let [rain, snow, rainncv, snowncv, sr, fallen, fall_residual, clipped] = Surface::<f64>::NAMES;
    [rain, snow, rainncv, snowncv, sr, fallen, fall_residual, clipped, "mass_mismatch"]
};

/// The columns of a grid in which the microphysics acts.
#[derive(Clone, Debug)]
pub struct ActiveColumns {
    /// Rows j.
    pub rows: Range<usize>,
    /// Columns i.
    pub columns: Range<usize>,
}

impl ActiveColumns {
    /// All columns of a grid.
    pub fn all(shape: Shape) -> Self {
        Self { rows: 0..shape.ny, columns: 0..shape.nx }
    }
}

/// The arrays of a call of the microphysics. Lengths: [`STATE_FIELDS`](crate::state::STATE_FIELDS) of each state and
/// [`AIR_FIELDS`](super::AIR_FIELDS) fields, [`SURFACE_PLANES`] planes, all with rows as in the
/// [`Layout`](crate::grid::gpu::Layout).
#[derive(Clone, Copy, Debug)]
pub struct DeviceFields<'a, R> {
    /// The state, in the order and the units of [`State`](crate::state::State).
    pub state: &'a Buffer<R>,
    /// rho (kg m⁻³), exner (1), p (Pa), dz (m); longer arrays are used from their start.
    pub air: &'a Buffer<R>,
    /// [`PLANES`], in the units of [`Surface`]. For a batch of steps the budget terms of the earlier steps follow, the
    /// last but one first.
    pub surface: &'a Buffer<R>,
}

/// Planes at the ground for a batch of so many steps.
pub fn planes_of(steps: usize) -> usize {
    SURFACE_PLANES + (steps - 1) * TERMS
}
