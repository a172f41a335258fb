//! The V-cycle on the CPU. Kernels of `kernels/primitives/multigrid.cuh` compute the same, with the same bits.

use rayon::prelude::*;

use super::{Level, Multigrid, STEPS, WEIGHTS};

/// Fewest cells that a thread takes.
const CELLS: usize = 1 << 13;

/// Arrays of a grid in a cycle. Shape of each: (ny, nx).
#[derive(Clone, Debug)]
struct Arrays {
    /// Right-hand side.
    b: Vec<f32>,
    /// Approximate solution, and that of the step before; the residual is kept in the latter.
    x: Vec<f32>,
    other: Vec<f32>,
}

/// Memory of a cycle.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    arrays: Vec<Arrays>,
}

impl Workspace {
    /// Memory for the grids of a hierarchy.
    pub(crate) fn new(multigrid: &Multigrid) -> Self {
        let arrays = multigrid.levels.iter().map(|level| {
            let plane = || vec![0.0; level.cells()];
            Arrays { b: plane(), x: plane(), other: plane() }
        });
        Self { arrays: arrays.collect() }
    }

    /// The right-hand side of the finest grid, which the caller sets.
    pub(crate) fn right_hand_side(&mut self) -> &mut [f32] {
        &mut self.arrays[0].b
    }

    /// Applies the cycle to the right-hand side; returns the approximate solution.
    pub(crate) fn cycle(&mut self, multigrid: &Multigrid) -> &[f32] {
        descend(&multigrid.levels, &mut self.arrays);
        self.solution()
    }

    /// The approximate solution of the last cycle.
    pub(crate) fn solution(&self) -> &[f32] {
        &self.arrays[0].x
    }
}

fn descend(levels: &[Level], arrays: &mut [Arrays]) {
    let [level, coarser @ ..] = levels else { return };
    let [Arrays { b, x, other }, below @ ..] = arrays else { return };
    let Some((coarse, next)) = coarser.first().zip(below.first_mut()) else {
        // A single cell.
        x[0] = level.inverse[0] * b[0];
        return;
    };
    rows(level, other, |j, other| level.start(j, b, other));
    rows(level, x, |j, x| level.relax(j, STEPS[1], b, other, x));
    rows(level, other, |j, residual| level.residual(j, b, x, residual));
    rows(coarse, &mut next.b, |j, b| level.restrict(j, coarse.extents, other, b));
    descend(coarser, below);
    let correction = &below[0].x;
    rows(level, x, |j, x| level.correct(j, coarse.extents, correction, x));
    rows(level, other, |j, other| level.relax(j, STEPS[1], b, x, other));
    rows(level, x, |j, x| level.relax(j, STEPS[0], b, other, x));
}

/// Calls a function for each row of a plane.
fn rows(level: &Level, plane: &mut [f32], work: impl Fn(usize, &mut [f32]) + Sync) {
    let nx = level.extents[0];
    let at_once = CELLS.div_ceil(nx);
    plane.par_chunks_mut(nx).enumerate().with_min_len(at_once).for_each(|(j, row)| work(j, row));
}

/// The rows of a plane south of a row, at it, and north of it.
fn three(plane: &[f32], j: usize, [nx, ny]: [usize; 2]) -> [&[f32]; 3] {
    let south = if j == 0 { ny - 1 } else { j - 1 };
    let north = if j + 1 == ny { 0 } else { j + 1 };
    [south, j, north].map(|j| &plane[j * nx..][..nx])
}

impl Level {
    /// The first step of relaxation, from 0.
    fn start(&self, j: usize, b: &[f32], x: &mut [f32]) {
        let nx = self.extents[0];
        let (b, inverse) = (&b[j * nx..][..nx], &self.inverse[j * nx..][..nx]);
        for ((x, b), inverse) in x.iter_mut().zip(b).zip(inverse) {
            *x = STEPS[0] * (inverse * b);
        }
    }

    /// A step of relaxation.
    fn relax(&self, j: usize, step: f32, b: &[f32], x: &[f32], new: &mut [f32]) {
        let nx = self.extents[0];
        self.residual(j, b, x, new);
        let (x, inverse) = (&x[j * nx..][..nx], &self.inverse[j * nx..][..nx]);
        for ((new, x), inverse) in new.iter_mut().zip(x).zip(inverse) {
            *new = x + step * (inverse * *new);
        }
    }

    /// The residual: `b - A x`.
    fn residual(&self, j: usize, b: &[f32], x: &[f32], residual: &mut [f32]) {
        let nx = self.extents[0];
        let row = Row {
            x: three(x, j, self.extents),
            west: &self.couplings[0][j * nx..][..nx],
            south: three(&self.couplings[1], j, self.extents),
            diagonal: &self.diagonal[j * nx..][..nx],
            b: &b[j * nx..][..nx],
            corners: self.corners.each_ref().map(|plane| {
                if plane.is_empty() { [&[][..]; 3] } else { three(plane, j, self.extents) }
            }),
        };
        if self.corners[0].is_empty() {
            row.residual::<false>(residual);
        } else {
            row.residual::<true>(residual);
        }
    }

    /// The residual on the next grid, by the transposed interpolation.
    fn restrict(&self, j: usize, [nx, ny]: [usize; 2], fine: &[f32], b: &mut [f32]) {
        let [hx, hy] = self.halved.map(usize::from);
        let [fine_nx, fine_ny] = self.extents;
        // The row of a block and the one above, and that above the southern block, whose weights are 0 beyond the grid.
        let south = if j == 0 { ny - 1 } else { j - 1 };
        let row = |j: usize| &fine[j.min(fine_ny - 1) * fine_nx..][..fine_nx];
        let (own, above, below) = (row(j << hy), row((j << hy) + 1), row((south << hy) + 1));
        let weights = |n: usize, j: usize| &self.weights[(n * ny + j) * nx..][..nx];
        let [e0, e1, n0, n1] = [weights(0, j), weights(1, j), weights(2, j), weights(3, south)];
        let [c0, c1, c2, c3] = [weights(4, j), weights(5, j), weights(6, south), weights(7, south)];
        for (i, b) in b.iter_mut().enumerate() {
            let west = if i == 0 { nx - 1 } else { i - 1 };
            let column = i << hx;
            let right = (column + 1).min(fine_nx - 1);
            let left = ((west << hx) + 1).min(fine_nx - 1);
            let mut sum = own[column];
            if hx > 0 {
                sum += e0[i] * own[right] + e1[west] * own[left];
            }
            if hy > 0 {
                sum += n0[i] * above[column] + n1[i] * below[column];
            }
            if hx > 0 && hy > 0 {
                sum += (c0[i] * above[right] + c1[west] * above[left])
                    + (c2[i] * below[right] + c3[west] * below[left]);
            }
            *b = sum;
        }
    }

    /// Adds the interpolated correction of the next grid.
    fn correct(&self, j: usize, [nx, ny]: [usize; 2], coarse: &[f32], x: &mut [f32]) {
        let [hx, hy] = self.halved.map(usize::from);
        let block = j >> hy;
        let north = if block + 1 == ny { 0 } else { block + 1 };
        let weights = |n: usize| &self.weights[(n * ny + block) * nx..][..nx];
        let own = &coarse[block * nx..][..nx];
        let above = &coarse[north * nx..][..nx];
        let is_between = hy > 0 && j % 2 == 1;
        let planes: [&[f32]; WEIGHTS] = std::array::from_fn(weights);
        for (i, x) in x.iter_mut().enumerate() {
            let at = i >> hx;
            let east = if at + 1 == nx { 0 } else { at + 1 };
            let odd = hx > 0 && i % 2 == 1;
            *x += match (odd, is_between) {
                (false, false) => own[at],
                (true, false) => planes[0][at] * own[at] + planes[1][at] * own[east],
                (false, true) => planes[2][at] * own[at] + planes[3][at] * above[at],
                (true, true) => {
                    (planes[4][at] * own[at] + planes[5][at] * own[east])
                        + (planes[6][at] * above[at] + planes[7][at] * above[east])
                }
            };
        }
    }
}

/// Data of a row; of three rows from the south on where there are three.
struct Row<'a> {
    x: [&'a [f32]; 3],
    west: &'a [f32],
    south: [&'a [f32]; 3],
    diagonal: &'a [f32],
    b: &'a [f32],
    /// Couplings to the south-west and to the south-east.
    corners: [[&'a [f32]; 3]; 2],
}

impl Row<'_> {
    fn residual<const CORNERS: bool>(&self, residual: &mut [f32]) {
        let n = residual.len();
        residual[0] = self.at::<CORNERS>([n - 1, 0, 1 % n]);
        if n > 1 {
            residual[n - 1] = self.at::<CORNERS>([n - 2, n - 1, 0]);
        }
        if n < 3 {
            return;
        }
        // Slices of equal lengths, whose loop is vectorised.
        let inner = n - 2;
        let [s, o, t] = self.x.map(|row| [0, 1, 2].map(|from| &row[from..][..inner]));
        let (west, east) = (&self.west[1..][..inner], &self.west[2..][..inner]);
        let (south, north) = (&self.south[1][1..][..inner], &self.south[2][1..][..inner]);
        let (diagonal, b) = (&self.diagonal[1..][..inner], &self.b[1..][..inner]);
        let residual = &mut residual[1..][..inner];
        if CORNERS {
            let [sw, se] = [&self.corners[0][1][1..][..inner], &self.corners[1][1][1..][..inner]];
            let [ne, nw] = [&self.corners[0][2][2..][..inner], &self.corners[1][2][..inner]];
            for i in 0..inner {
                let beside = west[i] * o[0][i] + east[i] * o[2][i];
                let along = south[i] * s[1][i] + north[i] * t[1][i];
                let corners =
                    (sw[i] * s[0][i] + se[i] * s[2][i]) + (nw[i] * t[0][i] + ne[i] * t[2][i]);
                residual[i] = b[i] + (((beside + along) + corners) - diagonal[i] * o[1][i]);
            }
        } else {
            for i in 0..inner {
                let beside = west[i] * o[0][i] + east[i] * o[2][i];
                let along = south[i] * s[1][i] + north[i] * t[1][i];
                residual[i] = b[i] + ((beside + along) - diagonal[i] * o[1][i]);
            }
        }
    }

    /// The residual of a cell, with the columns of its western neighbour, its own, and its eastern neighbour.
    fn at<const CORNERS: bool>(&self, [west, own, east]: [usize; 3]) -> f32 {
        let [s, o, t] = self.x;
        let beside = self.west[own] * o[west] + self.west[east] * o[east];
        let along = self.south[1][own] * s[own] + self.south[2][own] * t[own];
        let mut sum = beside + along;
        if CORNERS {
            let [[_, sw, ne], [_, se, nw]] = self.corners;
            sum +=
                (sw[own] * s[west] + se[own] * s[east]) + (nw[west] * t[west] + ne[east] * t[east]);
        }
        self.b[own] + (sum - self.diagonal[own] * o[own])
    }
}
