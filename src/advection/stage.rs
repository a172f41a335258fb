//! One evaluation of the fluxes: what it reads, and the high-order fluxes of a row of faces.

use std::ops::Range;

use super::flux::FluxConstants;
use super::rows::{
    Content, LayeredRow, Outflow, fifth_order_row, linear_row, outflow_row, pad_row, shifted,
    third_order_row, update_row,
};
use super::terms::{Perturbation, Term};
use super::{Limiter, Wind};
use crate::grid::Shape;
use crate::mass::Layered;
use crate::real::Real;

/// Cells that the fifth-order stencil reaches to either side of a face.
pub const REACH: usize = 3;

/// What a stage hands back for every cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The new mixing ratio.
    Update,
    /// The net outflow of tracer, kg s⁻¹.
    Outflow,
}

/// The order of the flux through a row of faces.
#[derive(Clone, Copy)]
enum Order<R> {
    Closed,
    Linear([R; 2]),
    Third,
    Fifth,
}

/// What one stage reads: the air, the latest values of the tracer and those at the start.
pub(super) struct Stage<'a, R> {
    pub(super) wind: &'a Wind<'a, R>,
    /// Latest values, which the high-order fluxes carry.
    pub(super) field: &'a [R],
    /// Values at the start of the step, for the limiter and the update.
    pub(super) start: &'a [R],
    /// Length of the stage, s.
    pub(super) dt: R,
    pub(super) limiter: Limiter,
    pub(super) ending: Ending,
    /// A term that is to be wrong.
    pub(super) perturbation: Option<Perturbation>,
}

impl<'a, R: FluxConstants> Stage<'a, R> {
    #[inline(always)]
    pub(super) fn shape(&self) -> Shape {
        self.wind.grid.shape
    }

    #[inline(always)]
    pub(super) fn periodic_x(&self) -> bool {
        self.wind.grid.sides.periodic_x()
    }

    #[inline(always)]
    pub(super) fn periodic_y(&self) -> bool {
        self.wind.grid.sides.periodic_y()
    }

    /// Row j at level k of a field at cell centres.
    #[inline(always)]
    pub(super) fn row(&self, field: &'a [R], k: usize, j: usize) -> &'a [R] {
        let Shape { nx, ny, .. } = self.shape();
        &field[(k * ny + j) * nx..][..nx]
    }

    /// Row j + `offset`, continued periodically; beyond a side that is not periodic the
    /// outermost row, which nothing uses.
    #[inline(always)]
    pub(super) fn neighbour(&self, j: usize, offset: isize) -> usize {
        let ny = self.shape().ny.cast_signed();
        let j = j.cast_signed() + offset;
        if self.periodic_y() { j.rem_euclid(ny) } else { j.clamp(0, ny - 1) }.cast_unsigned()
    }

    /// Whether row j is an outermost one, which y-fluxes do not change.
    #[inline(always)]
    pub(super) fn outermost_row(&self, j: usize) -> bool {
        !self.periodic_y() && (j == 0 || j + 1 == self.shape().ny)
    }

    /// Mass fluxes through the x-faces of row j.
    #[inline(always)]
    pub(super) fn mass_x(&self, k: usize, j: usize) -> &'a [R] {
        let Shape { nx, ny, .. } = self.shape();
        &slice(&self.wind.flux.x)[(k * ny + j) * (nx + 1)..][..=nx]
    }

    /// Mass fluxes through the y-faces between rows j - 1 and j.
    #[inline(always)]
    pub(super) fn mass_y(&self, k: usize, j: usize) -> &'a [R] {
        let Shape { nx, ny, .. } = self.shape();
        &slice(&self.wind.flux.y)[(k * (ny + 1) + j) * nx..][..nx]
    }

    /// Mass fluxes through the z-faces between levels k - 1 and k.
    #[inline(always)]
    pub(super) fn mass_z(&self, k: usize, j: usize) -> &'a [R] {
        let Shape { nx, ny, .. } = self.shape();
        &slice(&self.wind.flux.z)[(k * ny + j) * nx..][..nx]
    }

    /// What row j holds at the start.
    #[inline(always)]
    pub(super) fn content(&self, k: usize, j: usize) -> Content<'a, R> {
        let mass = LayeredRow::new(&self.wind.air.cell, k, j, R::ONE);
        Content { mass, q: self.row(self.start, k, j), dt: self.dt }
    }

    /// A row of capacities as mass per second.
    #[inline(always)]
    pub(super) fn capacity(&self, field: &'a Layered<R>, k: usize, j: usize) -> LayeredRow<'a, R> {
        LayeredRow::new(field, k, j, self.dt.recip() * self.factor(Term::Capacity))
    }

    /// What a term is multiplied by.
    #[inline(always)]
    fn factor(&self, term: Term) -> R {
        let mine = self.perturbation.filter(|p| p.term == term);
        mine.map_or(R::ONE, |p| R::of(p.factor))
    }

    /// Multiplies a row of a term that is to be wrong.
    #[inline(always)]
    pub(super) fn perturb(&self, term: Term, row: &mut [R]) {
        if self.perturbation.is_some_and(|p| p.term == term) {
            let factor = self.factor(term);
            for x in row {
                *x *= factor;
            }
        }
    }

    /// Whether no tracer passes y-face j (between rows j - 1 and j) by the scheme.
    #[inline(always)]
    pub(super) fn closed_y(&self, j: usize) -> bool {
        !self.periodic_y() && (j == 0 || j == self.shape().ny)
    }

    /// Whether z-face k is the ground or the lid.
    #[inline(always)]
    pub(super) fn closed_z(&self, k: usize) -> bool {
        k == 0 || k == self.shape().nz
    }

    /// High-order fluxes through the x-faces of row j; 0 through the outer faces of sides that
    /// are not periodic.
    #[inline(always)]
    pub(super) fn high_order_x(&self, k: usize, j: usize, padded: &mut [R], flux: &mut [R]) {
        let nx = self.shape().nx;
        pad_row(self.row(self.field, k, j), REACH, padded);
        let mass = self.mass_x(k, j);
        if self.periodic_x() {
            fifth_order_row(mass, shifted(padded, 0, nx + 1), flux);
            self.perturb(Term::HighOrderX, flux);
            return;
        }
        let full = REACH..(nx + 1).saturating_sub(REACH).max(REACH);
        if !full.is_empty() {
            let cells = shifted(padded, full.start, full.len());
            fifth_order_row(&mass[full.clone()], cells, &mut flux[full.clone()]);
        }
        for i in (0..full.start).chain(full.end..=nx).filter(|i| *i <= nx) {
            let order = lateral_order(i, nx, false);
            high_order_row(order, &mass[i..=i], shifted(padded, i, 1), &mut flux[i..=i]);
        }
        self.perturb(Term::HighOrderX, flux);
    }

    /// High-order fluxes through the y-faces between rows j - 1 and j.
    #[inline(always)]
    pub(super) fn high_order_y(&self, k: usize, j: usize, flux: &mut [R]) {
        let order = lateral_order(j, self.shape().ny, self.periodic_y());
        let first = -REACH.cast_signed();
        let cell = |s| self.row(self.field, k, self.neighbour(j, first + s));
        let cells = [cell(0), cell(1), cell(2), cell(3), cell(4), cell(5)];
        high_order_row(order, self.mass_y(k, j), cells, flux);
        self.perturb(Term::HighOrderY, flux);
    }

    /// High-order fluxes through the z-faces between levels k - 1 and k.
    #[inline(always)]
    pub(super) fn high_order_z(&self, k: usize, j: usize, flux: &mut [R]) {
        let nz = self.shape().nz;
        let air = self.wind.air;
        let order = match k {
            k if self.closed_z(k) => Order::Closed,
            k if k == 1 || k == nz - 1 => Order::Linear([air.weight_below[k], air.weight_above[k]]),
            _ => Order::Third,
        };
        let cell = |s: usize| self.row(self.field, (k + s).saturating_sub(REACH).min(nz - 1), j);
        let cells = [cell(0), cell(1), cell(2), cell(3), cell(4), cell(5)];
        high_order_row(order, self.mass_z(k, j), cells, flux);
        self.perturb(Term::HighOrderZ, flux);
    }

    /// Writes what the stage is to yield for row j at level k.
    #[inline(always)]
    pub(super) fn finish(&self, k: usize, j: usize, flow: Outflow<'_, R>, out: &mut [R]) {
        match self.ending {
            Ending::Update => update_row(self.content(k, j), flow, out),
            Ending::Outflow => outflow_row(flow, out),
        }
    }

    /// Tracer that enters the region inside the outermost rows through the sides of row j, kg s⁻¹.
    #[inline(always)]
    pub(super) fn side_inflow(&self, j: usize, x: &[R], south: &[R], north: &[R]) -> f64 {
        let Shape { nx, ny, .. } = self.shape();
        let sides = self.wind.grid.sides;
        let inner: Range<usize> = sides.inner_x(nx);
        if self.outermost_row(j) {
            return 0.0;
        }
        let sum = |row: &[R]| row[inner.clone()].iter().map(|x| x.f64()).sum::<f64>();
        let mut inflow = 0.0;
        if !sides.periodic_x() {
            inflow += x[inner.start].f64() - x[inner.end].f64();
        }
        if !sides.periodic_y() && j == 1 {
            inflow += sum(south);
        }
        if !sides.periodic_y() && j + 2 == ny {
            inflow -= sum(north);
        }
        inflow
    }
}

/// The values of an array in memory order.
#[inline(always)]
fn slice<R>(array: &ndarray::Array3<R>) -> &[R] {
    array.as_slice().expect("fields are in standard layout")
}

/// Order of the flux through lateral face `face` of an axis with `n` cells, which falls toward a
/// side that is not periodic.
#[inline(always)]
fn lateral_order<R: Real>(face: usize, n: usize, periodic: bool) -> Order<R> {
    match face.min(n - face) {
        _ if periodic => Order::Fifth,
        0 => Order::Closed,
        1 => Order::Linear([R::HALF, R::HALF]),
        2 => Order::Third,
        _ => Order::Fifth,
    }
}

#[inline(always)]
fn high_order_row<R: FluxConstants>(order: Order<R>, mass: &[R], cells: [&[R]; 6], flux: &mut [R]) {
    let [_, b, c, d, e, _] = cells;
    match order {
        Order::Closed => flux.fill(R::ZERO),
        Order::Linear(weights) => linear_row(mass, [c, d], weights, flux),
        Order::Third => third_order_row(mass, [b, c, d, e], flux),
        Order::Fifth => fifth_order_row(mass, cells, flux),
    }
}
