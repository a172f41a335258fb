//! The matrix of a coarse grid by Galerkin's method, `Pᵀ A P`.

use rayon::prelude::*;

use super::stencil::{AROUND, Stencil};
use super::transfer::Interpolation;

/// Entries of a row of the result, by offsets of -1 to 1 in y and x.
type Row = [[f64; 3]; 3];

/// The coarse matrix of a fine one, with an interpolation from the coarse grid.
pub(super) fn coarse_matrix(fine: &Stencil, interpolation: &Interpolation) -> Stencil {
    let nx = interpolation.extents[0];
    let mut coarse = Stencil::zeros(interpolation.extents, fine.wraps);
    let (extents, wraps) = (coarse.extents, coarse.wraps);
    let row = |c: usize| {
        let cell = [c / nx, c % nx];
        inner_row(fine, interpolation, cell)
            .unwrap_or_else(|| row(fine, interpolation, (extents, wraps), cell))
    };
    let Stencil { west, south, south_west, south_east, diagonal, .. } = &mut coarse;
    let planes = west.par_iter_mut().zip(south).zip(south_west).zip(south_east).zip(diagonal);
    planes.enumerate().for_each(|(c, ((((west, south), south_west), south_east), diagonal))| {
        let row = row(c);
        *diagonal = row[1][1];
        [*south_west, *south, *south_east, *west] =
            [-row[0][0], -row[0][1], -row[0][2], -row[1][0]];
    });
    coarse
}

/// The entries of a coarse cell for itself and for its neighbours in the west and in the south, if both directions are
/// halved and no neighbour of its neighbours is beyond the grid; the same sums as by [`row`], in another order.
fn inner_row(fine: &Stencil, interpolation: &Interpolation, [j, i]: [usize; 2]) -> Option<Row> {
    /// Fine cells along a side of the square that the matrix times a column of the interpolation covers.
    const SIDE: usize = 5;
    let [nx, ny] = fine.extents;
    let [fine_i, fine_j] = [2 * i, 2 * j];
    let is_inner = interpolation.halved == [true; 2]
        && fine_i >= 2
        && fine_j >= 2
        && fine_i + 2 < nx
        && fine_j + 2 < ny;
    if !is_inner {
        return None;
    }
    let own = interpolation.column([j, i]);
    let has_corners = !fine.south_west.is_empty();
    let mut product = [[0.0; SIDE]; SIDE];
    for (oy, weights) in own.iter().enumerate() {
        for (ox, &weight) in weights.iter().enumerate() {
            let [y, x] = [oy + 1, ox + 1];
            let at = (fine_j + oy - 1) * nx + fine_i + ox - 1;
            product[y][x] += weight * fine.diagonal[at];
            product[y][x - 1] -= weight * fine.west[at];
            product[y][x + 1] -= weight * fine.west[at + 1];
            product[y - 1][x] -= weight * fine.south[at];
            product[y + 1][x] -= weight * fine.south[at + nx];
            if has_corners {
                product[y - 1][x - 1] -= weight * fine.south_west[at];
                product[y + 1][x + 1] -= weight * fine.south_west[at + nx + 1];
                product[y - 1][x + 1] -= weight * fine.south_east[at];
                product[y + 1][x - 1] -= weight * fine.south_east[at + nx - 1];
            }
        }
    }
    let mut row = [[0.0; 3]; 3];
    for (oy, ox) in [(1, 1), (0, 0), (0, 1), (0, 2), (1, 0)] {
        let other = interpolation.column([j + oy - 1, i + ox - 1]);
        // The column's cells from twice the offset on, less those outside of the square.
        let mut sum = 0.0;
        for (y, weights) in other.iter().enumerate() {
            for (x, weight) in weights.iter().enumerate() {
                let place = [(2 * oy + y).checked_sub(1), (2 * ox + x).checked_sub(1)];
                if let [Some(y @ 0..SIDE), Some(x @ 0..SIDE)] = place {
                    sum += weight * product[y][x];
                }
            }
        }
        row[oy][ox] = sum;
    }
    Some(row)
}

/// The entries of a coarse cell.
fn row(
    fine: &Stencil,
    interpolation: &Interpolation,
    (extents, wraps): ([usize; 2], [bool; 2]),
    cell: [usize; 2],
) -> Row {
    let [hx, hy] = interpolation.halved.map(usize::from);
    let centre = [cell[0] << hy, cell[1] << hx];
    let mut row = [[0.0; 3]; 3];
    let mut add = |there: [usize; 2], value: f64| {
        let (terms, count) = interpolation.terms(there);
        for &(other, weight) in &terms[..count] {
            let oy = offset(cell[0], other[0], extents[1], wraps[1]);
            let ox = offset(cell[1], other[1], extents[0], wraps[0]);
            row[oy][ox] += value * weight;
        }
    };
    for oy in -1..=1 {
        for ox in -1..=1 {
            let place = match [oy, ox] {
                [0, 0] => centre,
                offset => match fine.neighbour(centre, offset) {
                    Some((there, _)) => there,
                    None => continue,
                },
            };
            // The weight of this coarse cell for the fine cell.
            let (terms, count) = interpolation.terms(place);
            let weight: f64 =
                terms[..count].iter().filter(|term| term.0 == cell).map(|term| term.1).sum();
            if weight == 0.0 {
                continue;
            }
            add(place, weight * fine.diagonal[place[0] * fine.extents[0] + place[1]]);
            for offset in AROUND {
                if let Some((there, coupling)) = fine.neighbour(place, offset)
                    && coupling != 0.0
                {
                    add(there, -weight * coupling);
                }
            }
        }
    }
    row
}

/// Index of an offset: 0 behind, 1 here, 2 ahead.
fn offset(from: usize, to: usize, n: usize, wraps: bool) -> usize {
    if from == to {
        1
    } else if wraps {
        if (from + 1) % n == to { 2 } else { 0 }
    } else {
        usize::from(to > from) * 2
    }
}
