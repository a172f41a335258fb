//! The march (vertical sweep) through a block of rows from the ground up, each face computed once.
//!
//! A block computes the rows that it owns and, for the limiter, the scale factors of one halo row on either side. Faces
//! at its seams are computed by both neighbours with the same arithmetic, so the result depends neither on the size of
//! the blocks nor on the threads. All rows of a block are computed in one go, as a strip.

mod limited;
mod scratch;

use std::sync::{Mutex, PoisonError};

use ndarray::{Array3, ArrayViewMut3, Axis};
use rayon::prelude::*;

use super::Limiter;
use super::boundary::add_open_sides;
use super::flux::FluxConstants;
use super::rows::{Outflow, lateral_outflow_rows};
use super::stage::Stage;
use super::strip::{Rows, Strip};
use crate::grid::Shape;
use crate::primitives::exact_sum::ExactSum;
use crate::simd::{Task, run_best};
pub(super) use scratch::Scratch;

/// Fewest rows of a block, if the grid has as many.
const LEAST_ROWS: usize = 8;
/// Most rows of a block: more rows gain nothing.
const MOST_ROWS: usize = 32;
/// Cells of a level of a block for which the caches hold the working set.
const MOST_CELLS: usize = 32 * 1024;

/// Rows of a block: many, since the cells next to the seams are computed twice, but few enough to give every thread
/// about two blocks.
pub(super) fn block_rows(shape: Shape, threads: usize) -> usize {
    let Shape { nx, ny, .. } = shape;
    let most = (MOST_CELLS / nx).min(MOST_ROWS).min(ny.div_ceil(2 * threads)).max(LEAST_ROWS);
    // Equal numbers of rows in all blocks but the last one.
    ny.div_ceil(ny.div_ceil(most))
}

/// One stage of one tracer, and the array for its results.
pub(super) struct Pass<'a, R> {
    pub(super) stage: Stage<'a, R>,
    pub(super) out: &'a mut Array3<R>,
}

/// Runs a stage of several tracers in blocks of `block` rows: all tracers of a block, then the next block. So the tracers
/// find the mass fluxes of the block in the caches.
///
/// Returns for each tracer what of it entered the region inside the outermost rows in the time step, kg, where the stage
/// counts it.
pub(super) fn run<R: FluxConstants>(
    passes: &mut [Pass<'_, R>],
    block: usize,
    scratch: &[Mutex<Scratch<R>>],
) -> Vec<ExactSum> {
    let mut sums = vec![ExactSum::default(); passes.len()];
    let pieces = in_blocks(passes, block).into_par_iter();
    let inflow: Vec<_> = pieces.map(|piece| (piece.tracer, piece.run(scratch))).collect();
    // The sums are exact, so their order does not matter.
    for (tracer, inflow) in &inflow {
        sums[*tracer] += inflow;
    }
    sums
}

/// One block of one tracer.
struct Piece<'a, R> {
    tracer: usize,
    stage: &'a Stage<'a, R>,
    rows: Rows,
    out: ArrayViewMut3<'a, R>,
}

impl<R: FluxConstants> Piece<'_, R> {
    /// Returns the inflow through the sides of the rows.
    fn run(self, scratch: &[Mutex<Scratch<R>>]) -> ExactSum {
        let Self { stage, rows, out, .. } = self;
        // Each thread uses its own scratch without waiting, unless the thread pool has grown since the scratch was
        // allocated.
        let mine = rayon::current_thread_index().unwrap_or(0) % scratch.len();
        let mut scratch = scratch[mine].lock().unwrap_or_else(PoisonError::into_inner);
        let march = March { stage, rows, inflow: ExactSum::default(), s: &mut scratch };
        run_best(OneBlock { march, out })
    }
}

/// The blocks of all tracers, those of the same rows one after the other.
fn in_blocks<'a, R: FluxConstants>(
    passes: &'a mut [Pass<'_, R>],
    block: usize,
) -> Vec<Piece<'a, R>> {
    let mut pieces = Vec::new();
    for (tracer, Pass { stage, out }) in passes.iter_mut().enumerate() {
        let stage: &Stage<'_, R> = stage;
        for (at, out) in out.axis_chunks_iter_mut(Axis(1), block).enumerate() {
            let rows = Rows { first: at * block, count: out.len_of(Axis(1)) };
            pieces.push(Piece { tracer, stage, rows, out });
        }
    }
    pieces.sort_by_key(|piece| piece.rows.first);
    pieces
}

/// The march through one block, to be compiled for vector instructions.
struct OneBlock<'a, 's, 'o, R> {
    march: March<'a, 's, R>,
    out: ArrayViewMut3<'o, R>,
}

impl<R: FluxConstants> Task for OneBlock<'_, '_, '_, R> {
    type Output = ExactSum;

    #[inline(always)]
    fn run(mut self) -> ExactSum {
        if self.march.stage.limiter == Limiter::None {
            self.march.plain(self.out);
        } else {
            self.march.limited(self.out);
        }
        self.march.inflow
    }
}

/// The march of one block.
struct March<'a, 's, R> {
    stage: &'a Stage<'a, R>,
    rows: Rows,
    /// Inflow into the region through the sides of the rows.
    inflow: ExactSum,
    s: &'s mut Scratch<R>,
}

impl<R: FluxConstants> March<'_, '_, R> {
    /// Cells of the block at a level.
    #[inline(always)]
    fn cells(&self) -> usize {
        self.rows.count * self.stage.shape().nx
    }

    #[inline(always)]
    fn strip(&self, rows: Rows) -> Strip {
        let (nx, periodic) = (self.stage.shape().nx, self.stage.periodic_x());
        Strip { nx, count: rows.count, periodic }
    }

    #[inline(always)]
    fn plain(&mut self, mut out: ArrayViewMut3<'_, R>) {
        let Shape { nx, nz, .. } = self.stage.shape();
        let (stage, rows, cells) = (self.stage, self.rows, self.cells());
        self.s.flux_bottom.fill(R::ZERO);
        for k in 0..nz {
            let s = &mut *self.s;
            copy_western(|j| stage.mass_x(k, j), rows, nx, &mut s.mass_x);
            stage.high_order_x(k, rows, &s.mass_x, &mut s.flux_x[..cells]);
            for faces in stage.alike_y(rows.first..rows.first + rows.count + 1) {
                let first = (faces.first - rows.first) * nx;
                stage.high_order_y(k, faces, &mut s.flux_y[first..][..faces.count * nx]);
            }
            stage.high_order_z(k + 1, rows, &mut s.flux_top[..cells]);
            self.sum_lateral(k);
            self.finish(k, &mut out);
            std::mem::swap(&mut self.s.flux_bottom, &mut self.s.flux_top);
        }
    }

    /// Sums the final lateral fluxes.
    ///
    /// The outermost cells of an axis that is not periodic do not change by fluxes along it: their outer face gets the
    /// flux of their inner face.
    #[inline(always)]
    fn sum_lateral(&mut self, k: usize) {
        let (strip, cells) = (self.strip(self.rows), self.cells());
        let (stage, rows, s) = (self.stage, self.rows, &mut *self.s);
        let nx = strip.nx;
        if stage.closed_y(rows.first) {
            s.flux_y.copy_within(nx..2 * nx, 0);
        }
        if stage.closed_y(rows.first + rows.count) {
            s.flux_y.copy_within(cells - nx..cells, cells);
        }
        let (x, south, north) = (&s.flux_x[..cells], &s.flux_y[..], &s.flux_y[nx..]);
        for at in strip.cells() {
            let y = [at.here(south), at.here(north)];
            lateral_outflow_rows([at.here(x), at.east(x)], y, &mut s.lateral[at.here]);
        }
        if !stage.periodic_x() {
            for at in strip.ends().flatten() {
                let unchanged = [&x[at..=at]; 2];
                let y = [&south[at..=at], &north[at..=at]];
                lateral_outflow_rows(unchanged, y, &mut s.lateral[at..=at]);
            }
        }
        for (row, j) in rows.range().enumerate() {
            let cells = row * nx..(row + 1) * nx;
            add_open_sides(stage, k, j, &mut s.lateral[cells.clone()]);
            if let Some(entrance) = stage.entrance {
                let faces = [&x[cells.clone()], &south[cells.clone()], &north[cells]];
                stage.count_inflow(entrance, j, faces, &mut self.inflow);
            }
        }
    }

    #[inline(always)]
    fn finish(&mut self, k: usize, out: &mut ArrayViewMut3<'_, R>) {
        let s = &*self.s;
        let flow = Outflow { lateral: &s.lateral, bottom: &s.flux_bottom, top: &s.flux_top };
        let level = out.index_axis_mut(Axis(0), k).into_slice().expect("rows are contiguous");
        self.stage.finish(k, self.rows, flow, level);
    }
}

/// Copies values of the western faces of rows, omitting the last face of every row.
#[inline(always)]
fn copy_western<'a, R: Copy + 'a>(
    faces: impl Fn(usize) -> &'a [R],
    rows: Rows,
    nx: usize,
    western: &mut [R],
) {
    for (j, row) in rows.range().zip(western.chunks_exact_mut(nx)) {
        row.copy_from_slice(&faces(j)[..nx]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_alike_and_serve_every_thread() {
        let rows = |nx, ny, threads| block_rows(Shape { nx, ny, nz: 27 }, threads);
        assert_eq!(rows(71, 58, 1), 29);
        assert_eq!(rows(71, 58, 2), 15);
        assert_eq!(rows(71, 58, 96), 8);
        // The last block has a single row.
        assert_eq!(rows(19, 57, 8), 8);
        assert_eq!(rows(71, 7, 2), 7);
        assert_eq!(rows(71, 1, 2), 1);
        assert_eq!(rows(1024, 1024, 4), 32);
        // In wide rows the caches hold few rows.
        assert_eq!(rows(4096, 4096, 4), 8);
        assert_eq!(rows(1 << 20, 64, 1), 8);
    }
}
