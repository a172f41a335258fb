//! The place where a call of the microphysics works: state, air, and what is at the ground.

use std::ops::Range;

use crate::device::Buffer;
use crate::grid::Shape;
use crate::state::Surface;

/// Planes of what is at the ground: [`PLANES`].
pub const SURFACE_PLANES: usize = PLANES.len();
/// Planes of a step's terms of the water budget.
pub const TERMS: usize = 4;

/// The planes of what is at the ground, one after the other: those of [`Surface`], and behind them what moves
/// between layers whose rho dz is not their dry mass. The terms of the water budget are the last.
pub const PLANES: [&str; 9] = {
    let [rain, snow, rainncv, snowncv, sr, fallen, fall_residual, clipped] = Surface::<f64>::NAMES;
    [rain, snow, rainncv, snowncv, sr, fallen, fall_residual, clipped, "mass_mismatch"]
};

/// The columns of a grid that the microphysics acts in.
#[derive(Clone, Debug)]
pub struct Inside {
    /// Rows j.
    pub rows: Range<usize>,
    /// Columns i.
    pub columns: Range<usize>,
}

impl Inside {
    /// All columns of a grid.
    pub fn all(shape: Shape) -> Self {
        Self { rows: 0..shape.ny, columns: 0..shape.nx }
    }
}

/// The arrays that a call of the microphysics works on. Lengths: [`STATE_FIELDS`](crate::state::STATE_FIELDS) of each
/// state and [`AIR_FIELDS`](super::AIR_FIELDS) fields, [`SURFACE_PLANES`] planes, all with rows as the
/// [`Layout`](crate::grid::gpu::Layout) has them.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a, R> {
    /// The state, in the order and the units of [`State`](crate::state::State).
    pub state: &'a Buffer<R>,
    /// rho (kg m⁻³), exner (1), p (Pa), dz (m); longer arrays are used from their start.
    pub air: &'a Buffer<R>,
    /// [`PLANES`], in the units of [`Surface`]; behind them, where several steps end together, what all but the
    /// last have left in the planes of the terms, the last but one first.
    pub surface: &'a Buffer<R>,
}

/// Planes of the ground where so many steps end together.
pub fn planes_of(steps: usize) -> usize {
    SURFACE_PLANES + (steps - 1) * TERMS
}
