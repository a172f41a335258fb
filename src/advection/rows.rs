//! The formulas applied to rows of cells or faces: plain loops over contiguous slices.
//!
//! A slice holds one row or several contiguous ones: long loops suit vector instructions. The cells of a stencil along
//! x are the same slice shifted by one each; along y and z they are rows of different j or k.
#![expect(clippy::needless_range_loop, reason = "one index for all rows reads like the formula")]

use std::ops::Range;

use super::flux::{
    Faces, FluxConstants, courant_limited_upwind, fifth_order_flux, linear_flux, third_order_flux,
    updated, upwind_flux,
};
use super::limiter::{bounds, limiter_ratio, low_order_mass, monotonic_flux, positive_flux};
use crate::real::Real;

/// Rows of a [`Layered`](crate::dry_mass::Layered) field at one level.
#[derive(Clone, Copy)]
pub(super) struct LayeredRows<'a, R> {
    pub(super) with_mu: &'a [R],
    pub(super) without_mu: &'a [R],
    pub(super) c1: R,
    pub(super) c2: R,
}

impl<R: Real> LayeredRows<'_, R> {
    /// The values in a range of indices.
    #[inline(always)]
    pub(super) fn within(self, range: Range<usize>) -> Self {
        let (with_mu, without_mu) = (&self.with_mu[range.clone()], &self.without_mu[range]);
        Self { with_mu, without_mu, ..self }
    }

    /// Every value times a factor.
    #[inline(always)]
    pub(super) fn times(self, factor: R) -> Self {
        Self { c1: self.c1 * factor, c2: self.c2 * factor, ..self }
    }

    #[inline(always)]
    fn first(self, n: usize) -> Self {
        self.within(0..n)
    }

    #[inline(always)]
    fn at(self, i: usize) -> R {
        self.with_mu[i] * self.c1 + self.without_mu[i] * self.c2
    }
}

/// The cells of a stencil along x: the same slice, shifted by one each.
#[inline(always)]
pub(super) fn shifted<R, const N: usize>(cells: &[R], faces: usize) -> [&[R]; N] {
    let mut rows = [cells; N];
    for (s, row) in rows.iter_mut().enumerate() {
        *row = &cells[s..][..faces];
    }
    rows
}

#[inline(always)]
pub(super) fn fifth_order_rows<R: FluxConstants>(mass: &[R], cells: [&[R]; 6], flux: &mut [R]) {
    let n = flux.len();
    let [a, b, c, d, e, f] = cells.map(|row| &row[..n]);
    let mass = &mass[..n];
    for i in 0..n {
        flux[i] = fifth_order_flux(mass[i], [a[i], b[i], c[i], d[i], e[i], f[i]]);
    }
}

#[inline(always)]
pub(super) fn third_order_rows<R: FluxConstants>(mass: &[R], cells: [&[R]; 4], flux: &mut [R]) {
    let n = flux.len();
    let [a, b, c, d] = cells.map(|row| &row[..n]);
    let mass = &mass[..n];
    for i in 0..n {
        flux[i] = third_order_flux(mass[i], [a[i], b[i], c[i], d[i]]);
    }
}

#[inline(always)]
pub(super) fn linear_rows<R: Real>(mass: &[R], cells: [&[R]; 2], weights: [R; 2], flux: &mut [R]) {
    let n = flux.len();
    let [a, b] = cells.map(|row| &row[..n]);
    let mass = &mass[..n];
    for i in 0..n {
        flux[i] = linear_flux(mass[i], [a[i], b[i]], weights);
    }
}

/// Splits high-order fluxes into capped upwind ones and corrections.
#[inline(always)]
pub(super) fn split_capped_rows<R: Real>(
    mass: &[R],
    capacity: LayeredRows<'_, R>,
    cells: [&[R]; 2],
    high: &[R],
    low: &mut [R],
    correction: &mut [R],
) {
    let n = low.len();
    let [a, b] = cells.map(|row| &row[..n]);
    let (mass, capacity, correction) = (&mass[..n], capacity.first(n), &mut correction[..n]);
    let high = &high[..n];
    for i in 0..n {
        let flux = courant_limited_upwind(mass[i], capacity.at(i), [a[i], b[i]]);
        low[i] = flux;
        correction[i] = high[i] - flux;
    }
}

/// Splits high-order fluxes into upwind ones and corrections.
#[inline(always)]
pub(super) fn split_upwind_rows<R: Real>(
    mass: &[R],
    cells: [&[R]; 2],
    high: &[R],
    low: &mut [R],
    correction: &mut [R],
) {
    let n = low.len();
    let [a, b] = cells.map(|row| &row[..n]);
    let (mass, high, correction) = (&mass[..n], &high[..n], &mut correction[..n]);
    for i in 0..n {
        let flux = upwind_flux(mass[i], [a[i], b[i]]);
        low[i] = flux;
        correction[i] = high[i] - flux;
    }
}

/// Contents of cells at the start of the step.
#[derive(Clone, Copy)]
pub(super) struct Content<'a, R> {
    pub(super) mass: LayeredRows<'a, R>,
    pub(super) q: &'a [R],
    pub(super) dt: R,
}

impl<R: Real> Content<'_, R> {
    /// The contents of the cells in a range.
    #[inline(always)]
    pub(super) fn within(self, range: Range<usize>) -> Self {
        Self { mass: self.mass.within(range.clone()), q: &self.q[range], ..self }
    }
}

/// Scale factors of the outgoing corrections, positive-definite limiter.
#[inline(always)]
pub(super) fn positive_scale_rows<R: FluxConstants>(
    content: Content<'_, R>,
    low: Faces<&[R]>,
    correction: Faces<&[R]>,
    outgoing: &mut [R],
) {
    let n = outgoing.len();
    let Content { mass, q, dt } = content;
    let (mass, q) = (mass.first(n), &q[..n]);
    let (low, correction) = (low.first(n), correction.first(n));
    for i in 0..n {
        let amount = low_order_mass(mass.at(i), q[i], dt, low.at(i));
        outgoing[i] = limiter_ratio(amount, dt * correction.at(i).outgoing());
    }
}

/// Lower and upper bounds of cells, monotonic limiter.
#[inline(always)]
pub(super) fn bounds_rows<R: Real>(
    q: &[R],
    around: Faces<&[R]>,
    mass: Faces<&[R]>,
    least: &mut [R],
    most: &mut [R],
) {
    let n = least.len();
    let (q, most) = (&q[..n], &mut most[..n]);
    let (around, mass) = (around.first(n), mass.first(n));
    for i in 0..n {
        (least[i], most[i]) = bounds(q[i], around.at(i), mass.at(i));
    }
}

/// Scale factors of the corrections, monotonic limiter: `outgoing` and `incoming` hold the lower and the upper bounds
/// on entry, the factors on return; `end` is the mass at the end of the step, which the bounds are multiplied by.
#[inline(always)]
pub(super) fn monotonic_scale_rows<R: FluxConstants>(
    content: Content<'_, R>,
    end: LayeredRows<'_, R>,
    low: Faces<&[R]>,
    correction: Faces<&[R]>,
    outgoing: &mut [R],
    incoming: &mut [R],
) {
    let n = outgoing.len();
    let Content { mass, q, dt } = content;
    let (mass, end, q, incoming) = (mass.first(n), end.first(n), &q[..n], &mut incoming[..n]);
    let (low, correction) = (low.first(n), correction.first(n));
    for i in 0..n {
        let amount = low_order_mass(mass.at(i), q[i], dt, low.at(i));
        let (end, correction) = (end.at(i), correction.at(i));
        let (least, most) = (outgoing[i], incoming[i]);
        outgoing[i] = limiter_ratio(amount - end * least, dt * correction.outgoing());
        incoming[i] = limiter_ratio(end * most - amount, dt * correction.incoming());
    }
}

#[inline(always)]
pub(super) fn positive_rows<R: Real>(
    low: &[R],
    correction: &[R],
    outgoing: [&[R]; 2],
    flux: &mut [R],
) {
    let n = flux.len();
    let (low, correction) = (&low[..n], &correction[..n]);
    let [a, b] = outgoing.map(|row| &row[..n]);
    for i in 0..n {
        flux[i] = positive_flux(low[i], correction[i], [a[i], b[i]]);
    }
}

#[inline(always)]
pub(super) fn monotonic_rows<R: Real>(
    low: &[R],
    correction: &[R],
    outgoing: [&[R]; 2],
    incoming: [&[R]; 2],
    flux: &mut [R],
) {
    let n = flux.len();
    let (low, correction) = (&low[..n], &correction[..n]);
    let [a, b] = outgoing.map(|row| &row[..n]);
    let [c, d] = incoming.map(|row| &row[..n]);
    for i in 0..n {
        flux[i] = monotonic_flux(low[i], correction[i], [a[i], b[i]], [c[i], d[i]]);
    }
}

/// Net outflow through the four lateral faces of cells.
#[inline(always)]
pub(super) fn lateral_outflow_rows<R: Real>(x: [&[R]; 2], y: [&[R]; 2], net: &mut [R]) {
    let n = net.len();
    let [west, east] = x.map(|row| &row[..n]);
    let [south, north] = y.map(|row| &row[..n]);
    for i in 0..n {
        net[i] = (east[i] - west[i]) + (north[i] - south[i]);
    }
}

/// Net outflow of cells: through the lateral faces, the bottom and the top.
#[derive(Clone, Copy)]
pub(super) struct Outflow<'a, R> {
    pub(super) lateral: &'a [R],
    pub(super) bottom: &'a [R],
    pub(super) top: &'a [R],
}

impl<R: Real> Outflow<'_, R> {
    #[inline(always)]
    fn first(self, n: usize) -> Self {
        Self { lateral: &self.lateral[..n], bottom: &self.bottom[..n], top: &self.top[..n] }
    }

    #[inline(always)]
    fn at(self, i: usize) -> R {
        self.lateral[i] + (self.top[i] - self.bottom[i])
    }
}

#[inline(always)]
pub(super) fn outflow_rows<R: Real>(outflow: Outflow<'_, R>, net: &mut [R]) {
    let n = net.len();
    let outflow = outflow.first(n);
    for i in 0..n {
        net[i] = outflow.at(i);
    }
}

/// Contents of cells after the step.
#[inline(always)]
pub(super) fn update_rows<R: FluxConstants>(
    content: Content<'_, R>,
    flow: Outflow<'_, R>,
    new: &mut [R],
) {
    let n = new.len();
    let Content { mass, q, dt } = content;
    let (mass, q, flow) = (mass.first(n), &q[..n], flow.first(n));
    for i in 0..n {
        new[i] = updated(q[i], dt, flow.at(i), mass.at(i));
    }
}
