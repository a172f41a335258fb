//! The potential whose gradient removes a given column divergence.

use ndarray::{Array2, Axis, Slice};

use crate::error::Result;
use crate::grid::Grid;
use crate::primitives::conjugate_gradient::{Solver, System};
use crate::primitives::multigrid::{Conductances, Multigrid};
use crate::primitives::reduce;

use super::faces::{Faces, X, Y};
use crate::state::memory;

/// Most iterations of the solver.
///
/// It takes 8 for smooth coefficients and 30 for random ones of a contrast of 100, on any grid.
const MOST_ITERATIONS: usize = 1000;

/// Finds chi with `Σ over faces of a cell K (chi - chi beyond) = divergence`, K the conductance, to residuals within
/// `limit`; returns chi and the number of iterations.
///
/// The system is symmetric and positive definite if chi is fixed to 0 beyond any side. Otherwise constants are its
/// kernel: the divergence, whose sum is 0 up to rounding, is corrected to sum 0, and chi gets the mean 0.
pub(super) fn solve(
    grid: &Grid,
    [x, y]: [&Faces; 2],
    divergence: &Array2<f64>,
    limit: &Array2<f64>,
    solver: &dyn Solver,
) -> Result<(Array2<f64>, usize)> {
    let periodic = [grid.sides.periodic_x(), grid.sides.periodic_y()];
    let mean = |values: &[f64]| {
        if periodic == [true; 2] { reduce::sum(values) / values.len() as f64 } else { 0.0 }
    };
    let excess = mean(memory(divergence));
    let mut planes = Planes {
        x: x.conductances(),
        y: y.conductances(),
        divergence: divergence.mapv(|x| x - excess),
        limit: limit.clone(),
    };
    for (axis, periodic) in [(X, periodic[0]), (Y, periodic[1])] {
        if periodic && planes.are_alike(Axis(axis)) {
            planes.keep_first(axis);
        }
    }
    let Planes { x, y, divergence, limit } = planes;
    let (ny, nx) = divergence.dim();
    let [x, y] = [x, y].map(|plane| plane.into_raw_vec_and_offset().0);
    let conductances = Conductances { extents: [nx, ny], periodic, x, y };
    let (matrix, multigrid) =
        rayon::join(|| conductances.matrix(), || Multigrid::new(&conductances));
    let system = System { matrix: &matrix?, multigrid: &multigrid };
    let solution = solver.solve(system, memory(&divergence), memory(&limit), MOST_ITERATIONS)?;
    let excess = mean(&solution.x);
    let chi = Array2::from_shape_vec((ny, nx), solution.x).expect("one value a column");
    let whole = chi.broadcast((grid.shape.ny, grid.shape.nx)).expect("alike rows or columns");
    Ok((whole.mapv(|x| x - excess), solution.iterations))
}

/// The equation of the potential: conductances of the faces in x and y, right-hand side, and limit of the residual.
struct Planes {
    x: Array2<f64>,
    y: Array2<f64>,
    divergence: Array2<f64>,
    limit: Array2<f64>,
}

impl Planes {
    /// `true` if nothing varies along an axis. Such an axis, if periodic, has one cell for all: they get the same bits,
    /// which multigrid would not give them.
    fn are_alike(&self, axis: Axis) -> bool {
        [&self.x, &self.y, &self.divergence, &self.limit].into_iter().all(|plane| {
            let first = plane.index_axis(axis, 0);
            plane.axis_iter(axis).all(|lane| lane == first)
        })
    }

    /// Keeps the first cell of an axis with its faces.
    fn keep_first(&mut self, axis: usize) {
        let Self { x, y, divergence, limit } = self;
        let (normal, parallel) = if axis == X { (x, y) } else { (y, x) };
        for (plane, count) in [(normal, 2), (parallel, 1), (divergence, 1), (limit, 1)] {
            *plane = plane.slice_axis(Axis(axis), Slice::from(..count)).to_owned();
        }
    }
}
