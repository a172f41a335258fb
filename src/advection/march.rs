//! The march upward through a block of rows, each face computed once.
//!
//! A block computes the rows that it owns and, for the limiter, the scale factors of one row
//! more on either side. Faces at its seams are computed by both neighbours with the same
//! arithmetic, so the result depends neither on the size of the blocks nor on the threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use ndarray::{Array3, ArrayViewMut3, Axis};
use rayon::prelude::*;

use super::Limiter;
use super::boundary::add_open_sides;
use super::flux::{Faces, FluxConstants};
use super::rows::{
    LayeredRow, Outflow, Rows, bounds_row, lateral_outflow_row, monotonic_row, monotonic_scale_row,
    pad_row, positive_row, positive_scale_row, shifted, split_capped_row, split_upwind_row,
};
use super::stage::{REACH, Stage};
use super::terms::Term;
use crate::grid::Shape;
use crate::lanes::{Task, run_best};
use crate::mass::Layered;
use crate::real::Real;

/// Rows of a block.
pub(super) const BLOCK: usize = 8;
/// Rows whose scale factors a block needs: one more on either side.
const RING: usize = BLOCK + 2;

/// Low-order fluxes and corrections of several rows of faces.
#[derive(Debug)]
struct Split<R> {
    low: Rows<R>,
    correction: Rows<R>,
}

impl<R: Real> Split<R> {
    fn new(count: usize, width: usize) -> Self {
        Self { low: Rows::new(count, width), correction: Rows::new(count, width) }
    }

    fn fill_zero(&mut self, r: usize) {
        self.low.row_mut(r).fill(R::ZERO);
        self.correction.row_mut(r).fill(R::ZERO);
    }
}

/// Scale factors of one level, with one cell more on either side of a row.
#[derive(Debug)]
struct Scales<R> {
    outgoing: Rows<R>,
    incoming: Rows<R>,
}

impl<R: Real> Scales<R> {
    fn new(nx: usize) -> Self {
        Self { outgoing: Rows::new(RING, nx + 2), incoming: Rows::new(RING, nx + 2) }
    }
}

/// What one thread needs to march through a block, on cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Scratch<R> {
    /// A row of cells with [`REACH`] more on either side.
    padded: Vec<R>,
    /// Rows at the start of the step with one cell more on either side.
    start: Rows<R>,
    x: Split<R>,
    y: Split<R>,
    bottom: Split<R>,
    top: Split<R>,
    /// Scale factors of the level below and of this one.
    below: Scales<R>,
    here: Scales<R>,
    /// Final fluxes of a row.
    flux_x: Vec<R>,
    south: Vec<R>,
    north: Vec<R>,
    /// Final fluxes through the bottom of the rows, and through their top.
    flux_bottom: Rows<R>,
    flux_top: Rows<R>,
    /// Net lateral outflow of the rows.
    lateral: Rows<R>,
}

impl<R: Real> Scratch<R> {
    pub(super) fn new(nx: usize) -> Self {
        let row = |width| vec![R::ZERO; width];
        Self {
            padded: row(nx + 2 * REACH),
            start: Rows::new(RING, nx + 2),
            x: Split::new(RING, nx + 1),
            y: Split::new(RING + 1, nx),
            bottom: Split::new(RING, nx),
            top: Split::new(RING, nx),
            below: Scales::new(nx),
            here: Scales::new(nx),
            flux_x: row(nx + 1),
            south: row(nx),
            north: row(nx),
            flux_bottom: Rows::new(BLOCK, nx),
            flux_top: Rows::new(BLOCK, nx),
            lateral: Rows::new(BLOCK, nx),
        }
    }
}

/// Runs one stage over all blocks of `out`.
///
/// Returns the tracer that entered the region inside the outermost rows, kg s⁻¹, summed from
/// block to block in their order.
pub(super) fn run<R: FluxConstants>(
    stage: &Stage<'_, R>,
    scratch: &[Mutex<Scratch<R>>],
    inflow: &mut [f64],
    out: &mut Array3<R>,
) -> f64 {
    out.axis_chunks_iter_mut(Axis(1), BLOCK)
        .into_par_iter()
        .zip(inflow.par_iter_mut())
        .enumerate()
        .for_each(|(block, (out, inflow))| {
            // A thread finds its own scratch free unless the pool grew since it was made.
            let mine = rayon::current_thread_index().unwrap_or(0) % scratch.len();
            let mut scratch = scratch[mine].lock().unwrap_or_else(PoisonError::into_inner);
            let rows = block * BLOCK..block * BLOCK + out.len_of(Axis(1));
            let march = March { stage, rows, s: &mut scratch };
            *inflow = run_best(OneBlock { march, out });
        });
    inflow.iter().sum()
}

/// The march through one block, to be compiled for vector instructions.
struct OneBlock<'a, 's, 'o, R> {
    march: March<'a, 's, R>,
    out: ArrayViewMut3<'o, R>,
}

impl<R: FluxConstants> Task for OneBlock<'_, '_, '_, R> {
    type Output = f64;

    #[inline(always)]
    fn run(mut self) -> f64 {
        if self.march.stage.limiter == Limiter::None {
            self.march.plain(self.out)
        } else {
            self.march.limited(self.out)
        }
    }
}

/// The march of one block.
struct March<'a, 's, R> {
    stage: &'a Stage<'a, R>,
    rows: Range<usize>,
    s: &'s mut Scratch<R>,
}

impl<R: FluxConstants> March<'_, '_, R> {
    #[inline(always)]
    fn plain(&mut self, mut out: ArrayViewMut3<'_, R>) -> f64 {
        let Shape { nz, .. } = self.stage.shape();
        let mut inflow = 0.0;
        for r in 0..self.rows.len() {
            self.s.flux_bottom.row_mut(r).fill(R::ZERO);
        }
        for k in 0..nz {
            self.stage.high_order_y(k, self.rows.start, &mut self.s.south);
            for (r, j) in self.rows.clone().enumerate() {
                let s = &mut *self.s;
                self.stage.high_order_x(k, j, &mut s.padded, &mut s.flux_x);
                self.stage.high_order_y(k, j + 1, &mut s.north);
                self.stage.high_order_z(k + 1, j, s.flux_top.row_mut(r));
                inflow += self.sum_lateral(k, r, j);
                self.finish(k, r, j, &mut out);
            }
            std::mem::swap(&mut self.s.flux_bottom, &mut self.s.flux_top);
        }
        inflow
    }

    /// Sums the final lateral fluxes of row j, and makes its northern face the next southern one.
    ///
    /// The outermost cells of an axis that is not periodic are not changed along it: their outer
    /// face is given what their inner one carries. Returns the inflow into the region.
    #[inline(always)]
    fn sum_lateral(&mut self, k: usize, r: usize, j: usize) -> f64 {
        let (stage, s) = (self.stage, &mut *self.s);
        let nx = stage.shape().nx;
        if !stage.periodic_x() {
            s.flux_x[0] = s.flux_x[1];
            s.flux_x[nx] = s.flux_x[nx - 1];
        }
        let south = if stage.closed_y(j) { &s.north } else { &s.south };
        let north = if stage.closed_y(j + 1) { &s.south } else { &s.north };
        let lateral = s.lateral.row_mut(r);
        lateral_outflow_row(&s.flux_x, south, north, lateral);
        add_open_sides(stage, k, j, lateral);
        let inflow = stage.side_inflow(j, &s.flux_x, south, north);
        std::mem::swap(&mut s.south, &mut s.north);
        inflow
    }

    #[inline(always)]
    fn finish(&mut self, k: usize, r: usize, j: usize, out: &mut ArrayViewMut3<'_, R>) {
        let flow = Outflow {
            lateral: self.s.lateral.row(r),
            bottom: self.s.flux_bottom.row(r),
            top: self.s.flux_top.row(r),
        };
        let mut level = out.index_axis_mut(Axis(0), k);
        let row = level.row_mut(r).into_slice().expect("rows are contiguous");
        self.stage.finish(k, j, flow, row);
    }

    /// With a limiter the top of a level is final only when the scale factors of the level above
    /// are known, so every level is finished one step later.
    #[inline(always)]
    fn limited(&mut self, mut out: ArrayViewMut3<'_, R>) -> f64 {
        let nz = self.stage.shape().nz;
        let mut inflow = 0.0;
        for r in 0..RING {
            self.s.bottom.fill_zero(r);
        }
        for k in 0..nz {
            self.split_level(k);
            self.scale_level(k);
            self.limit_y(0);
            std::mem::swap(&mut self.s.south, &mut self.s.north);
            for (r, j) in self.rows.clone().enumerate() {
                self.limit_z(k, r);
                if k > 0 {
                    self.finish(k - 1, r, j, &mut out);
                }
                self.limit_x(r);
                self.limit_y(r + 1);
                inflow += self.sum_lateral(k, r, j);
            }
            let s = &mut *self.s;
            std::mem::swap(&mut s.flux_bottom, &mut s.flux_top);
            std::mem::swap(&mut s.bottom, &mut s.top);
            std::mem::swap(&mut s.below, &mut s.here);
        }
        for (r, j) in self.rows.clone().enumerate() {
            self.s.flux_top.row_mut(r).fill(R::ZERO);
            self.finish(nz - 1, r, j, &mut out);
        }
        inflow
    }

    /// The rows j whose scale factors are needed, with their place in the ring.
    #[inline(always)]
    fn ring(&self) -> impl Iterator<Item = (usize, usize)> + use<R> {
        let (periodic, ny) = (self.stage.periodic_y(), self.stage.shape().ny);
        let first = self.rows.start;
        (0..self.rows.len() + 2).filter_map(move |r| match (first + r).checked_sub(1) {
            None => periodic.then(|| (r, ny - 1)),
            Some(j) if j >= ny => periodic.then_some((r, 0)),
            Some(j) => Some((r, j)),
        })
    }

    /// Splits the fluxes through the lateral and the upper faces of a level.
    #[inline(always)]
    fn split_level(&mut self, k: usize) {
        let nx = self.stage.shape().nx;
        for (r, j) in self.ring() {
            let stage = self.stage;
            let row = stage.row(stage.start, k, j);
            pad_row(row, 1, self.s.start.row_mut(r));
            self.split_x(k, j, r, nx);
            self.split_y(k, j, r);
            self.split_z(k + 1, j, r);
        }
        let (r, j) = self.ring().last().expect("a block has rows");
        self.split_y(k, j + 1, r + 1);
    }

    #[inline(always)]
    fn split_x(&mut self, k: usize, j: usize, r: usize, nx: usize) {
        let (stage, s) = (self.stage, &mut *self.s);
        let (low, correction) = (s.x.low.row_mut(r), s.x.correction.row_mut(r));
        stage.high_order_x(k, j, &mut s.padded, correction);
        let cells = shifted(s.start.row(r), 0, nx + 1);
        let capacity = &stage.wind.air.capacity_x;
        stage.limiter.split(stage, stage.mass_x(k, j), (capacity, k, j), cells, (low, correction));
        stage.perturb(Term::LowOrderX, low);
        if !stage.periodic_x() {
            for face in [0, nx] {
                low[face] = R::ZERO;
                correction[face] = R::ZERO;
            }
        }
    }

    #[inline(always)]
    fn split_y(&mut self, k: usize, j: usize, r: usize) {
        let (stage, s) = (self.stage, &mut *self.s);
        if stage.closed_y(j) {
            s.y.fill_zero(r);
            return;
        }
        let (low, correction) = (s.y.low.row_mut(r), s.y.correction.row_mut(r));
        stage.high_order_y(k, j, correction);
        let cells =
            [stage.neighbour(j, -1), stage.neighbour(j, 0)].map(|j| stage.row(stage.start, k, j));
        let capacity = &stage.wind.air.capacity_y;
        stage.limiter.split(stage, stage.mass_y(k, j), (capacity, k, j), cells, (low, correction));
        stage.perturb(Term::LowOrderY, low);
    }

    #[inline(always)]
    fn split_z(&mut self, k: usize, j: usize, r: usize) {
        let (stage, s) = (self.stage, &mut *self.s);
        if stage.closed_z(k) {
            s.top.fill_zero(r);
            return;
        }
        let (low, correction) = (s.top.low.row_mut(r), s.top.correction.row_mut(r));
        stage.high_order_z(k, j, correction);
        let cells = [k - 1, k].map(|k| stage.row(stage.start, k, j));
        let capacity = &stage.wind.air.capacity_z;
        stage.limiter.split(stage, stage.mass_z(k, j), (capacity, k, j), cells, (low, correction));
        stage.perturb(Term::LowOrderZ, low);
    }

    /// Scale factors of a level; 1 in the outermost cells of axes that are not periodic.
    #[inline(always)]
    fn scale_level(&mut self, k: usize) {
        let stage = self.stage;
        let nx = stage.shape().nx;
        for (r, j) in self.ring() {
            if stage.outermost_row(j) {
                self.s.here.outgoing.row_mut(r).fill(R::ONE);
                self.s.here.incoming.row_mut(r).fill(R::ONE);
                continue;
            }
            self.scale_row(k, j, r);
            let Scales { outgoing, incoming } = &mut self.s.here;
            stage.perturb(Term::Outgoing, outgoing.row_mut(r));
            stage.perturb(Term::Incoming, incoming.row_mut(r));
            for row in [outgoing.row_mut(r), incoming.row_mut(r)] {
                if !stage.periodic_x() {
                    row[1] = R::ONE;
                    row[nx] = R::ONE;
                }
                row[0] = row[nx];
                row[nx + 1] = row[1];
            }
        }
    }

    #[inline(always)]
    fn scale_row(&mut self, k: usize, j: usize, r: usize) {
        let (stage, s) = (self.stage, &mut *self.s);
        let nx = stage.shape().nx;
        let content = stage.content(k, j);
        let low = faces(&s.x.low, &s.y.low, &s.bottom.low, &s.top.low, r, nx);
        let correction =
            faces(&s.x.correction, &s.y.correction, &s.bottom.correction, &s.top.correction, r, nx);
        let outgoing = &mut s.here.outgoing.row_mut(r)[1..=nx];
        if stage.limiter == Limiter::PositiveDefinite {
            positive_scale_row(content, low, correction, outgoing);
            return;
        }
        let incoming = &mut s.here.incoming.row_mut(r)[1..=nx];
        let start = s.start.row(r);
        let nz = stage.shape().nz;
        let around = Faces {
            west: &start[..nx],
            east: &start[2..],
            south: stage.row(stage.start, k, stage.neighbour(j, -1)),
            north: stage.row(stage.start, k, stage.neighbour(j, 1)),
            // The ground and the lid bring in nothing new.
            bottom: stage.row(stage.start, k.saturating_sub(1), j),
            top: stage.row(stage.start, (k + 1).min(nz - 1), j),
        };
        let x = stage.mass_x(k, j);
        let mass = Faces {
            west: &x[..nx],
            east: &x[1..],
            south: stage.mass_y(k, j),
            north: stage.mass_y(k, j + 1),
            bottom: stage.mass_z(k, j),
            top: stage.mass_z(k + 1, j),
        };
        bounds_row(content.q, around, mass, outgoing, incoming);
        let end = LayeredRow::new(&stage.wind.air.cell_end, k, j, R::ONE);
        monotonic_scale_row(content, end, low, correction, outgoing, incoming);
    }

    /// Final fluxes through the x-faces of block row r.
    #[inline(always)]
    fn limit_x(&mut self, r: usize) {
        let (s, ring) = (&mut *self.s, r + 1);
        let faces = s.flux_x.len();
        let outgoing = shifted(s.here.outgoing.row(ring), 0, faces);
        let incoming = shifted(s.here.incoming.row(ring), 0, faces);
        let (low, correction) = (s.x.low.row(ring), s.x.correction.row(ring));
        self.stage.limiter.limit(low, correction, outgoing, incoming, &mut s.flux_x);
    }

    /// Final fluxes through the northern y-faces: those south of block row r.
    #[inline(always)]
    fn limit_y(&mut self, r: usize) {
        let (s, face) = (&mut *self.s, r + 1);
        let nx = s.north.len();
        let outgoing = [face - 1, face].map(|r| &s.here.outgoing.row(r)[1..=nx]);
        let incoming = [face - 1, face].map(|r| &s.here.incoming.row(r)[1..=nx]);
        let (low, correction) = (s.y.low.row(face), s.y.correction.row(face));
        self.stage.limiter.limit(low, correction, outgoing, incoming, &mut s.north);
    }

    /// Final fluxes through the bottom of block row r at level k, the top of the level below.
    #[inline(always)]
    fn limit_z(&mut self, k: usize, r: usize) {
        let (s, ring) = (&mut *self.s, r + 1);
        let nx = s.north.len();
        let outgoing = [&s.below, &s.here].map(|scales| &scales.outgoing.row(ring)[1..=nx]);
        let incoming = [&s.below, &s.here].map(|scales| &scales.incoming.row(ring)[1..=nx]);
        let (low, correction) = (s.bottom.low.row(ring), s.bottom.correction.row(ring));
        let flux = s.flux_top.row_mut(r);
        if k == 0 {
            flux.fill(R::ZERO);
        } else {
            self.stage.limiter.limit(low, correction, outgoing, incoming, flux);
        }
    }
}

/// The rows of faces around ring row r.
#[inline(always)]
fn faces<'a, R: Real>(
    x: &'a Rows<R>,
    y: &'a Rows<R>,
    bottom: &'a Rows<R>,
    top: &'a Rows<R>,
    r: usize,
    nx: usize,
) -> Faces<&'a [R]> {
    let x = x.row(r);
    Faces {
        west: &x[..nx],
        east: &x[1..],
        south: y.row(r),
        north: y.row(r + 1),
        bottom: bottom.row(r),
        top: top.row(r),
    }
}

impl Limiter {
    /// Splits high-order fluxes, given in `correction`, into low-order ones and corrections.
    #[inline(always)]
    fn split<'a, R: FluxConstants>(
        self,
        stage: &Stage<'a, R>,
        mass: &[R],
        (capacity, k, j): (&'a Layered<R>, usize, usize),
        cells: [&[R]; 2],
        (low, correction): (&mut [R], &mut [R]),
    ) {
        if self == Self::Monotonic {
            split_upwind_row(mass, cells, low, correction);
        } else {
            let capacity = stage.capacity(capacity, k, j);
            split_capped_row(mass, capacity, cells, low, correction);
        }
    }

    /// Scales corrections and adds them to the low-order fluxes.
    #[inline(always)]
    fn limit<R: Real>(
        self,
        low: &[R],
        correction: &[R],
        outgoing: [&[R]; 2],
        incoming: [&[R]; 2],
        flux: &mut [R],
    ) {
        if self == Self::Monotonic {
            monotonic_row(low, correction, outgoing, incoming, flux);
        } else {
            positive_row(low, correction, outgoing, flux);
        }
    }
}
