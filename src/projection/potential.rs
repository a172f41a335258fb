//! The potential whose gradient removes a given column divergence.

use ndarray::Array2;
use rayon::prelude::*;

use crate::error::Result;
use crate::grid::Grid;
use crate::primitives::conjugate_gradient::Solver;
use crate::primitives::csr::Csr;
use crate::primitives::reduce;

use super::faces::Faces;
use crate::state::memory;

/// Most iterations of the solver, per cell along the two sides of the grid.
///
/// The number of iterations grows with the longer side: 4 for each of its cells on square grids of up to a million
/// columns, more with uneven cells or masses.
const ITERATIONS_PER_CELL: usize = 100;

/// Lateral faces of a cell.
const FACES: usize = 4;

/// Finds chi with `Σ over faces of a cell K (chi - chi beyond) = divergence`, K the conductance, to residuals within
/// `limit`; returns chi and the number of iterations.
///
/// The system is symmetric and positive definite if chi is fixed to 0 beyond any side. Otherwise constants are its
/// kernel: the divergence, whose sum is 0 up to rounding, is corrected to sum 0, and chi gets the mean 0.
pub(super) fn solve(
    grid: &Grid,
    directions: [&Faces; 2],
    divergence: &Array2<f64>,
    limit: &Array2<f64>,
    solver: &dyn Solver,
) -> Result<(Array2<f64>, usize)> {
    let enclosed = grid.sides.periodic_x() && grid.sides.periodic_y();
    let mean = |values: &[f64]| {
        if enclosed { reduce::sum(values) / values.len() as f64 } else { 0.0 }
    };
    let excess = mean(memory(divergence));
    let divergence = divergence.mapv(|x| x - excess);

    let matrix = operator(grid, directions)?;
    let most = ITERATIONS_PER_CELL * (grid.shape.nx + grid.shape.ny);
    let solution = solver.solve(&matrix, memory(&divergence), memory(limit), most)?;
    let excess = mean(&solution.x);
    let chi = Array2::from_shape_vec(divergence.dim(), solution.x).expect("one value a column");
    Ok((chi.mapv(|x| x - excess), solution.iterations))
}

/// The matrix of the system: each face couples its two cells symmetrically.
fn operator(grid: &Grid, directions: [&Faces; 2]) -> Result<Csr<f64>> {
    let (nx, columns) = (grid.shape.nx, grid.shape.columns());
    let number = |[j, i]: [usize; 2]| (j * nx + i) as u32;
    // Coefficients of a cell for itself and for its neighbours, two of which may be the same cell.
    let of_cell = |cell: [usize; 2]| {
        let mut terms = Vec::with_capacity(2 * FACES);
        for faces in directions {
            let adjacent = faces.adjacent_faces(cell);
            let beyond =
                [faces.adjacent_cells(adjacent[0])[0], faces.adjacent_cells(adjacent[1])[1]];
            for (face, beyond) in adjacent.into_iter().zip(beyond) {
                let conductance = faces.conductance(face);
                terms.push((number(cell), conductance));
                terms.extend(beyond.map(|other| (number(other), -conductance)));
            }
        }
        terms.sort_by_key(|(column, _)| *column);
        let same = terms.chunk_by(|a, b| a.0 == b.0);
        let sum = |terms: &[(u32, f64)]| (terms[0].0, terms.iter().map(|(_, x)| x).sum::<f64>());
        same.map(sum).collect::<Vec<_>>()
    };
    let of_row = |j: usize| (0..nx).map(|i| of_cell([j, i])).collect::<Vec<_>>();
    let rows: Vec<_> = (0..grid.shape.ny).into_par_iter().map(of_row).collect();
    let mut starts = Vec::with_capacity(columns + 1);
    starts.push(0);
    let (mut column_of, mut values) = (Vec::new(), Vec::new());
    for cell in rows.iter().flatten() {
        column_of.extend(cell.iter().map(|(column, _)| column));
        values.extend(cell.iter().map(|(_, value)| value));
        starts.push(values.len());
    }
    Csr::from_parts(columns, starts, column_of, values)
}
