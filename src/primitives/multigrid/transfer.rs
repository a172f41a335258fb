//! Interpolation from a grid of every second cell, by the equation of the cells between.
//!
//! The cells of the coarse grid are those of even index in each halved direction. A cell between two of them in a row
//! gets the mean of both, weighted by its couplings, each with the couplings to the neighbours north and south of that
//! cell; likewise in a column. A cell between four gets the mean of its eight neighbours, weighted by its couplings to
//! them. What couples a cell to the potential of 0 beyond a side counts as a neighbour of that value.

use rayon::prelude::*;

use super::WEIGHTS;
use super::stencil::{AROUND, Stencil};

/// Least weight of interpolation along a row or a column, before it is divided by the sum, over the diagonal.
const LEAST: f64 = 0.02;

/// Weights of the cells of a block, which are at odd index in x, in y, or in both, and of even index otherwise: from the
/// coarse cell of the block, and from those of the next blocks in x and y.
///
/// Indices of the weights: cell odd in x, from the west and from the east; odd in y, from the south and from the north;
/// odd in both, from the south-west, south-east, north-west and north-east. Weights of cells that do not exist are 0.
pub(super) type Block = [f64; WEIGHTS];

/// Interpolation to a grid.
#[derive(Clone, Debug)]
pub(super) struct Interpolation {
    /// Cells of the coarse grid in x and y.
    pub(super) extents: [usize; 2],
    /// `true` for directions in which the coarse grid has every second cell.
    pub(super) halved: [bool; 2],
    /// A block for each cell of the coarse grid. Shape: (ny, nx).
    blocks: Vec<Block>,
}

/// Coarse cells, at most four, and their weights for a cell.
pub(super) type Terms = ([([usize; 2], f64); 4], usize);

impl Interpolation {
    /// The interpolation to the grid of a matrix.
    pub(super) fn new(stencil: &Stencil, halved: [bool; 2]) -> Self {
        let extent = |at: usize| {
            let n = stencil.extents[at];
            if halved[at] { n.div_ceil(2) } else { n }
        };
        let extents = [extent(0), extent(1)];
        let mut all =
            Self { extents, halved, blocks: vec![[0.0; WEIGHTS]; extents[0] * extents[1]] };
        let [nx, ny] = stencil.extents;
        let fine = |[j, i]: [usize; 2]| [j << usize::from(halved[1]), i << usize::from(halved[0])];
        let coarse_nx = extents[0];
        // Cells in rows and columns of coarse cells first: those between four use their weights.
        all.blocks.par_iter_mut().enumerate().for_each(|(c, block)| {
            let [j, i] = fine([c / coarse_nx, c % coarse_nx]);
            if halved[0] && i + 1 < nx {
                [block[0], block[1]] = along(stencil, [j, i + 1], 1);
            }
            if halved[1] && j + 1 < ny {
                [block[2], block[3]] = along(stencil, [j + 1, i], 0);
            }
        });
        if halved == [true; 2] {
            let inner: Vec<[f64; 4]> = (0..all.blocks.len())
                .into_par_iter()
                .map(|c| {
                    let block = [c / coarse_nx, c % coarse_nx];
                    let [j, i] = fine(block);
                    let exists = i + 1 < nx && j + 1 < ny;
                    if exists { all.between(stencil, block) } else { [0.0; 4] }
                })
                .collect();
            all.blocks.par_iter_mut().zip(&inner).for_each(|(block, inner)| {
                block[4..].copy_from_slice(inner);
            });
        }
        all
    }

    /// Weights of the cell between the coarse cells of four blocks.
    fn between(&self, stencil: &Stencil, [bj, bi]: [usize; 2]) -> [f64; 4] {
        let cell = [2 * bj + 1, 2 * bi + 1];
        let c = cell[0] * stencil.extents[0] + cell[1];
        if let Some(sums) = Around::inner(stencil, cell) {
            let [nx, own] = [self.extents[0], bj * self.extents[0] + bi];
            let [own, east, north] = [own, own + 1, own + nx].map(|at| &self.blocks[at]);
            let Around { west, east: to_east, south, north: to_north, corners } = sums;
            let [sw, se, nw, ne] = corners;
            let weights = [
                west * own[2] + south * own[0] + sw,
                to_east * east[2] + south * own[1] + se,
                west * own[3] + to_north * north[0] + nw,
                to_east * east[3] + to_north * north[1] + ne,
            ];
            return divided(weights, sums.total().max(stencil.diagonal[c]));
        }
        let (mut weights, mut total) = ([0.0; 4], 0.0);
        for offset in AROUND {
            let Some((there, coupling)) = stencil.neighbour(cell, offset) else { continue };
            total += coupling;
            let (terms, count) = self.terms(there);
            for &([j, i], weight) in &terms[..count] {
                weights[2 * usize::from(j != bj) + usize::from(i != bi)] += coupling * weight;
            }
        }
        divided(weights, total.max(stencil.diagonal[c]))
    }

    /// Coarse cells that a cell is interpolated from, and the weights.
    pub(super) fn terms(&self, [j, i]: [usize; 2]) -> Terms {
        let [nx, ny] = self.extents;
        let [hx, hy] = self.halved;
        let (bi, bj) = (i >> usize::from(hx), j >> usize::from(hy));
        let (east, north) = ((bi + 1) % nx, (bj + 1) % ny);
        let block = &self.blocks[bj * nx + bi];
        let none = ([0; 2], 0.0);
        match (hx && i % 2 == 1, hy && j % 2 == 1) {
            (false, false) => ([([bj, bi], 1.0), none, none, none], 1),
            (true, false) => ([([bj, bi], block[0]), ([bj, east], block[1]), none, none], 2),
            (false, true) => ([([bj, bi], block[2]), ([north, bi], block[3]), none, none], 2),
            (true, true) => {
                let [sw, se, nw, ne] = [block[4], block[5], block[6], block[7]];
                let corners =
                    [([bj, bi], sw), ([bj, east], se), ([north, bi], nw), ([north, east], ne)];
                (corners, 4)
            }
        }
    }

    /// Weights of a coarse cell for the fine cells around it, if both directions are halved and it is not at a side. By
    /// offsets of -1 to 1 in y and x.
    pub(super) fn column(&self, [j, i]: [usize; 2]) -> [[f64; 3]; 3] {
        let nx = self.extents[0];
        let at = j * nx + i;
        let own = &self.blocks[at];
        let before = |at: usize, n: usize| self.blocks[at][n];
        [
            [
                if j > 0 && i > 0 { before(at - nx - 1, 7) } else { 0.0 },
                if j > 0 { before(at - nx, 3) } else { 0.0 },
                if j > 0 { before(at - nx, 6) } else { 0.0 },
            ],
            [if i > 0 { before(at - 1, 1) } else { 0.0 }, 1.0, own[0]],
            [if i > 0 { before(at - 1, 5) } else { 0.0 }, own[2], own[4]],
        ]
    }

    /// The weights as planes of the coarse grid, one after the other.
    pub(super) fn weights(&self) -> Vec<f32> {
        let mut planes = vec![0.0; WEIGHTS * self.blocks.len()];
        let planes_of = planes.par_chunks_mut(self.blocks.len()).enumerate();
        planes_of.for_each(|(n, plane)| {
            for (weight, block) in plane.iter_mut().zip(&self.blocks) {
                *weight = block[n] as f32;
            }
        });
        planes
    }
}

/// Couplings of a cell to its neighbours.
struct Around {
    west: f64,
    east: f64,
    south: f64,
    north: f64,
    /// To the south-west, south-east, north-west and north-east.
    corners: [f64; 4],
}

impl Around {
    /// The couplings of a cell that is not at a side.
    fn inner(stencil: &Stencil, [j, i]: [usize; 2]) -> Option<Self> {
        let [nx, ny] = stencil.extents;
        if i == 0 || j == 0 || i + 1 >= nx || j + 1 >= ny {
            return None;
        }
        let at = j * nx + i;
        let Stencil { west, south, south_west, south_east, .. } = stencil;
        let corners = if south_west.is_empty() {
            [0.0; 4]
        } else {
            [south_west[at], south_east[at], south_east[at + nx - 1], south_west[at + nx + 1]]
        };
        let [west, east, south, north] = [west[at], west[at + 1], south[at], south[at + nx]];
        Some(Self { west, east, south, north, corners })
    }

    fn total(&self) -> f64 {
        let Self { west, east, south, north, corners: [sw, se, nw, ne] } = self;
        ((west + east) + (south + north)) + ((sw + se) + (nw + ne))
    }
}

/// Weights of a cell between two coarse cells along an axis, 0 for y and 1 for x.
fn along(stencil: &Stencil, cell: [usize; 2], axis: usize) -> [f64; 2] {
    let diagonal = stencil.diagonal[cell[0] * stencil.extents[0] + cell[1]];
    if let Some(around) = Around::inner(stencil, cell) {
        let Around { west, east, south, north, corners: [sw, se, nw, ne] } = around;
        let sums = if axis == 1 {
            [west + (sw + nw), east + (se + ne)]
        } else {
            [south + (sw + se), north + (nw + ne)]
        };
        let outside = (diagonal - around.total()).max(0.0);
        let sums = sums.map(|sum| sum.max(LEAST * diagonal));
        return divided(sums, sums[0] + sums[1] + outside);
    }
    let (mut sums, mut is_there, mut all) = ([0.0; 2], [false; 2], 0.0);
    for offset in AROUND {
        let Some((_, coupling)) = stencil.neighbour(cell, offset) else { continue };
        all += coupling;
        if offset[axis] != 0 {
            let ahead = usize::from(offset[axis] > 0);
            sums[ahead] += coupling;
            is_there[ahead] |= offset[1 - axis] == 0;
        }
    }
    let outside = (diagonal - all).max(0.0);
    for (sum, is_there) in sums.iter_mut().zip(is_there) {
        *sum = if is_there { sum.max(LEAST * diagonal) } else { 0.0 };
    }
    divided(sums, sums[0] + sums[1] + outside)
}

fn divided<const N: usize>(weights: [f64; N], total: f64) -> [f64; N] {
    weights.map(|weight| if total > 0.0 { weight / total } else { 0.0 })
}
