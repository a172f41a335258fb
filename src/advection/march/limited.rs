//! The march with a limiter: low-order fluxes and corrections (antidiffusive fluxes) of a level, the scale factors of
//! its cells, and the final fluxes.

use ndarray::ArrayViewMut3;

use super::scratch::Scales;
use super::{March, copy_western};
use crate::advection::Limiter;
use crate::advection::flux::{Faces, FluxConstants};
use crate::advection::perturbation::Term;
use crate::advection::rows::{
    LayeredRows, bounds_rows, monotonic_rows, monotonic_scale_rows, positive_rows,
    positive_scale_rows, split_capped_rows, split_upwind_rows,
};
use crate::advection::stage::{layered_rows, row};
use crate::advection::strip::{Rows, Stretch};
use crate::dry_mass::Layered;
use crate::grid::Shape;
use crate::real::Real;

/// Consecutive rows of the ring of a block whose neighbours along y are consecutive too.
#[derive(Clone, Copy)]
struct Run {
    /// Index of the first row in the ring.
    at: usize,
    rows: Rows,
}

impl<R: FluxConstants> March<'_, '_, R> {
    /// March with a limiter: the flux through the top of a level is final only after the scale factors of the level
    /// above are known, so every level is finished one iteration later.
    #[inline(always)]
    pub(super) fn limited(&mut self, mut out: ArrayViewMut3<'_, R>) {
        let nz = self.stage.shape().nz;
        self.begin();
        for k in 0..nz {
            self.split_level(k);
            self.scale_level(k);
            self.limit_z(k);
            if k > 0 {
                self.finish(k - 1, &mut out);
            }
            self.limit_x();
            self.limit_y();
            self.sum_lateral(k);
            let s = &mut *self.s;
            std::mem::swap(&mut s.flux_bottom, &mut s.flux_top);
            std::mem::swap(&mut s.bottom, &mut s.top);
            std::mem::swap(&mut s.below, &mut s.here);
        }
        self.s.flux_top.fill(R::ZERO);
        self.finish(nz - 1, &mut out);
    }

    /// Sets the values that are the same in all levels: the capacities along x, the fluxes 0 through closed faces, and
    /// the scale factor 1 of the outermost rows of sides that are not periodic.
    #[inline(always)]
    fn begin(&mut self) {
        let nx = self.stage.shape().nx;
        for Run { at, rows } in self.ring() {
            let s = &mut *self.s;
            let capacity = &self.stage.wind.air.capacity_x;
            let planes = [&capacity.with_mu, &capacity.without_mu];
            for (plane, mine) in planes.into_iter().zip(&mut s.capacity_x) {
                copy_western(|j| row(plane, j), rows, nx, &mut mine[at * nx..]);
            }
        }
        let s = &mut *self.s;
        s.y.fill_zero();
        s.bottom.fill_zero();
        s.below.fill_one();
        s.here.fill_one();
    }

    /// The rows whose scale factors a block needs: its own, and one halo row on either side if the grid has it.
    #[inline(always)]
    fn ring(&self) -> impl Iterator<Item = Run> + use<R> {
        let (periodic, ny) = (self.stage.periodic_y(), self.stage.shape().ny);
        let Rows { first, count } = self.rows;
        let end = count + 2;
        let mut at = usize::from(first == 0 && !periodic);
        std::iter::from_fn(move || {
            // The row before row 0 is the last one.
            let first = (first + at + ny - 1) % ny;
            if at == end || (at + 1 == end && first == 0 && !periodic) {
                return None;
            }
            // Outermost rows form runs of their own: on a periodic axis their neighbours are not adjacent in memory.
            let alone = first == 0 || first + 1 == ny;
            let count = if alone { 1 } else { (end - at).min(ny - 1 - first) };
            let run = Run { at, rows: Rows { first, count } };
            at += count;
            Some(run)
        })
    }

    /// Splits the fluxes through the lateral and the upper faces of a level.
    #[inline(always)]
    fn split_level(&mut self, k: usize) {
        let nx = self.stage.shape().nx;
        let mut ring = self.ring().peekable();
        while let Some(run) = ring.next() {
            let Run { at, rows } = run;
            let stage = self.stage;
            copy_western(|j| stage.mass_x(k, j), rows, nx, &mut self.s.mass_x[at * nx..]);
            self.split_x(k, run);
            let last = usize::from(ring.peek().is_none());
            for faces in stage.alike_y(rows.first..rows.first + rows.count + last) {
                self.split_y(k, Run { at: at + faces.first - rows.first, rows: faces });
            }
            self.split_z(k + 1, run);
        }
    }

    #[inline(always)]
    fn split_x(&mut self, k: usize, Run { at, rows }: Run) {
        let (strip, stage, s) = (self.strip(rows), self.stage, &mut *self.s);
        let cells = at * strip.nx..at * strip.nx + strip.len();
        let (low, correction) = (&mut s.x.low[cells.clone()], &mut s.x.correction[cells.clone()]);
        let mass = &s.mass_x[cells.clone()];
        let high = &mut s.high[..strip.len()];
        stage.high_order_x(k, rows, mass, high);
        let start = stage.cells(stage.start, k, rows);
        let [with_mu, without_mu] = s.capacity_x.each_ref().map(|plane| &plane[cells.clone()]);
        let Layered { c1, c2, .. } = &stage.wind.air.capacity_x;
        let capacity = stage.capacity(LayeredRows { with_mu, without_mu, c1: c1[k], c2: c2[k] });
        for at in strip.faces() {
            let cells = [at.west(start), at.here(start)];
            let capacity = capacity.within(at.here.clone());
            let split = (&mut low[at.here.clone()], &mut correction[at.here.clone()]);
            stage.limiter.split(at.here(mass), capacity, cells, at.here(high), split);
        }
        stage.perturb(Term::LowOrderX, low);
    }

    #[inline(always)]
    fn split_y(&mut self, k: usize, Run { at, rows }: Run) {
        let (stage, s) = (self.stage, &mut *self.s);
        if stage.closed_y(rows.first) {
            return;
        }
        let nx = stage.shape().nx;
        let cells = at * nx..(at + rows.count) * nx;
        let (low, correction) = (&mut s.y.low[cells.clone()], &mut s.y.correction[cells]);
        let high = &mut s.high[..rows.count * nx];
        stage.high_order_y(k, rows, high);
        let cells = [-1, 0].map(|to| stage.cells(stage.start, k, stage.shifted_rows(rows, to)));
        let capacity = stage.capacity(layered_rows(&stage.wind.air.capacity_y, k, rows));
        stage.limiter.split(stage.mass_y(k, rows), capacity, cells, high, (low, correction));
        stage.perturb(Term::LowOrderY, low);
    }

    #[inline(always)]
    fn split_z(&mut self, k: usize, Run { at, rows }: Run) {
        let (stage, s) = (self.stage, &mut *self.s);
        if stage.closed_z(k) {
            s.top.fill_zero();
            return;
        }
        let nx = stage.shape().nx;
        let cells = at * nx..(at + rows.count) * nx;
        let (low, correction) = (&mut s.top.low[cells.clone()], &mut s.top.correction[cells]);
        let high = &mut s.high[..rows.count * nx];
        stage.high_order_z(k, rows, high);
        let cells = [k - 1, k].map(|k| stage.cells(stage.start, k, rows));
        let capacity = stage.capacity(layered_rows(&stage.wind.air.capacity_z, k, rows));
        stage.limiter.split(stage.mass_z(k, rows), capacity, cells, high, (low, correction));
        stage.perturb(Term::LowOrderZ, low);
    }

    /// Scale factors of a level; 1 in the outermost cells of axes that are not periodic.
    #[inline(always)]
    fn scale_level(&mut self, k: usize) {
        let stage = self.stage;
        for run in self.ring().filter(|run| !stage.outermost_row(run.rows.first)) {
            let strip = self.strip(run.rows);
            for at in strip.cells() {
                self.scale_rows(k, run, &at);
            }
            let Scales { outgoing, incoming } = &mut self.s.here;
            let first = run.at * strip.nx;
            for (term, factors) in [(Term::Outgoing, outgoing), (Term::Incoming, incoming)] {
                let factors = &mut factors[first..][..strip.len()];
                stage.perturb(term, factors);
                if !stage.periodic_x() {
                    for end in strip.ends().flatten() {
                        factors[end] = R::ONE;
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn scale_rows(&mut self, k: usize, Run { at, rows }: Run, stretch: &Stretch) {
        let (stage, s) = (self.stage, &mut *self.s);
        let Shape { nx, nz, .. } = stage.shape();
        let here = stretch.here.clone();
        let ring = at * nx + here.start..at * nx + here.end;
        let split = [&s.x, &s.y, &s.bottom, &s.top];
        let low = faces(stretch, nx, split.map(|split| &split.low[at * nx..]));
        let correction = faces(stretch, nx, split.map(|split| &split.correction[at * nx..]));
        let content = stage.content(k, rows).within(here.clone());
        let outgoing = &mut s.here.outgoing[ring.clone()];
        if stage.limiter == Limiter::PositiveDefinite {
            positive_scale_rows(content, low, correction, outgoing);
            return;
        }
        let incoming = &mut s.here.incoming[ring];
        let start = |k, rows| stage.cells(stage.start, k, rows);
        let values = Faces {
            west: stretch.west(start(k, rows)),
            east: stretch.east(start(k, rows)),
            south: stretch.here(start(k, stage.shifted_rows(rows, -1))),
            north: stretch.here(start(k, stage.shifted_rows(rows, 1))),
            // No bound comes from beyond the ground or the lid.
            bottom: stretch.here(start(k.saturating_sub(1), rows)),
            top: stretch.here(start((k + 1).min(nz - 1), rows)),
        };
        let mass = Faces {
            west: stretch.here(&s.mass_x[at * nx..]),
            east: stretch.east(&s.mass_x[at * nx..]),
            south: stretch.here(stage.mass_y(k, rows)),
            north: stretch.here(stage.mass_y(k, Rows { first: rows.first + 1, ..rows })),
            bottom: stretch.here(stage.mass_z(k, rows)),
            top: stretch.here(stage.mass_z(k + 1, rows)),
        };
        bounds_rows(content.q, values, mass, outgoing, incoming);
        let end = layered_rows(&stage.wind.air.cell_end, k, rows).within(here);
        monotonic_scale_rows(content, end, low, correction, outgoing, incoming);
    }

    /// Final fluxes through the western faces.
    #[inline(always)]
    fn limit_x(&mut self) {
        let strip = self.strip(self.rows);
        let s = &mut *self.s;
        let first = strip.nx;
        let split = [&s.x.low[first..], &s.x.correction[first..]];
        let (outgoing, incoming) = (&s.here.outgoing[first..], &s.here.incoming[first..]);
        for at in strip.faces() {
            self.stage.limiter.limit(
                split.map(|values| at.here(values)),
                [at.west(outgoing), at.here(outgoing)],
                [at.west(incoming), at.here(incoming)],
                &mut s.flux_x[at.here.clone()],
            );
        }
    }

    /// Final fluxes through the southern faces, and the northern ones of the last row.
    #[inline(always)]
    fn limit_y(&mut self) {
        let nx = self.stage.shape().nx;
        let faces = self.cells() + nx;
        let s = &mut *self.s;
        let Scales { outgoing, incoming } = &s.here;
        self.stage.limiter.limit(
            [&s.y.low[nx..], &s.y.correction[nx..]],
            [outgoing, &outgoing[nx..]],
            [incoming, &incoming[nx..]],
            &mut s.flux_y[..faces],
        );
    }

    /// Final fluxes through the bottom of level k, the top of the level below.
    #[inline(always)]
    fn limit_z(&mut self, k: usize) {
        let (nx, cells) = (self.stage.shape().nx, self.cells());
        let s = &mut *self.s;
        let flux = &mut s.flux_top[..cells];
        if k == 0 {
            flux.fill(R::ZERO);
            return;
        }
        let scales = [&s.below, &s.here];
        self.stage.limiter.limit(
            [&s.bottom.low[nx..], &s.bottom.correction[nx..]],
            scales.map(|scales| &scales.outgoing[nx..]),
            scales.map(|scales| &scales.incoming[nx..]),
            flux,
        );
    }
}

/// Values at the faces around cells of a strip. The values at the top have an array of their own, with the indices of
/// the bottom.
#[inline(always)]
fn faces<'a, R>(at: &Stretch, nx: usize, [x, y, bottom, top]: [&'a [R]; 4]) -> Faces<&'a [R]> {
    Faces {
        west: at.here(x),
        east: at.east(x),
        south: at.here(y),
        north: at.here(&y[nx..]),
        bottom: at.here(bottom),
        top: at.here(top),
    }
}

impl Limiter {
    /// Splits high-order fluxes into low-order ones and corrections.
    #[inline(always)]
    fn split<R: FluxConstants>(
        self,
        mass: &[R],
        capacity: LayeredRows<'_, R>,
        cells: [&[R]; 2],
        high: &[R],
        (low, correction): (&mut [R], &mut [R]),
    ) {
        if self == Self::Monotonic {
            split_upwind_rows(mass, cells, high, low, correction);
        } else {
            split_capped_rows(mass, capacity, cells, high, low, correction);
        }
    }

    /// Scales corrections and adds them to the low-order fluxes.
    #[inline(always)]
    fn limit<R: Real>(
        self,
        [low, correction]: [&[R]; 2],
        outgoing: [&[R]; 2],
        incoming: [&[R]; 2],
        flux: &mut [R],
    ) {
        if self == Self::Monotonic {
            monotonic_rows(low, correction, outgoing, incoming, flux);
        } else {
            positive_rows(low, correction, outgoing, flux);
        }
    }
}
