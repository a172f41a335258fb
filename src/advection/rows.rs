//! The formulas applied to rows of cells: plain loops over contiguous slices.
//!
//! A row of faces along x is one longer than a row of cells; the stencil's rows are then the same
//! padded row, each shifted by one. Along y and z they are rows of different j or k.
#![expect(clippy::needless_range_loop, reason = "one index for all rows reads like the formula")]

use super::flux::{
    Faces, FluxConstants, capped_flux, fifth_order_flux, linear_flux, third_order_flux, updated,
    upwind_flux,
};
use super::limiter::{affordable, bounds, monotonic_flux, positive_flux, provisional_amount};
use crate::mass::Layered;
use crate::real::Real;

/// Rows of equal width in one piece of memory.
#[derive(Debug)]
pub(super) struct Rows<R> {
    width: usize,
    values: Vec<R>,
}

impl<R: Real> Rows<R> {
    #[inline(always)]
    pub(super) fn new(count: usize, width: usize) -> Self {
        Self { width, values: vec![R::ZERO; count * width] }
    }

    #[inline(always)]
    pub(super) fn row(&self, r: usize) -> &[R] {
        &self.values[r * self.width..][..self.width]
    }

    #[inline(always)]
    pub(super) fn row_mut(&mut self, r: usize) -> &mut [R] {
        &mut self.values[r * self.width..][..self.width]
    }
}

/// One row of a [`Layered`] field.
#[derive(Clone, Copy)]
pub(super) struct LayeredRow<'a, R> {
    with_mu: &'a [R],
    without_mu: &'a [R],
    c1: R,
    c2: R,
}

impl<'a, R: Real> LayeredRow<'a, R> {
    /// Row j at level k, every value times `factor`.
    #[inline(always)]
    pub(super) fn new(field: &'a Layered<R>, k: usize, j: usize, factor: R) -> Self {
        let n = field.with_mu.ncols();
        let row = |plane: &'a ndarray::Array2<R>| {
            &plane.as_slice().expect("planes are in standard layout")[j * n..][..n]
        };
        Self {
            with_mu: row(&field.with_mu),
            without_mu: row(&field.without_mu),
            c1: field.c1[k] * factor,
            c2: field.c2[k] * factor,
        }
    }

    #[inline(always)]
    fn first(self, n: usize) -> Self {
        Self { with_mu: &self.with_mu[..n], without_mu: &self.without_mu[..n], ..self }
    }

    #[inline(always)]
    fn at(self, i: usize) -> R {
        self.with_mu[i] * self.c1 + self.without_mu[i] * self.c2
    }
}

/// Copies a row of cells between `pad` cells on either side, which continue it periodically.
///
/// Beyond a side that is not periodic the same cells stand there, but no flux reads them.
#[inline(always)]
pub(super) fn pad_row<R: Real>(row: &[R], pad: usize, padded: &mut [R]) {
    let n = row.len();
    padded[pad..pad + n].copy_from_slice(row);
    for p in 0..pad {
        padded[pad - 1 - p] = row[n - 1 - p % n];
        padded[pad + n + p] = row[p % n];
    }
}

/// The rows of an x stencil: the padded row, shifted by one cell each.
#[inline(always)]
pub(super) fn shifted<R, const N: usize>(padded: &[R], first: usize, faces: usize) -> [&[R]; N] {
    let mut rows = [padded; N];
    for (s, row) in rows.iter_mut().enumerate() {
        *row = &padded[first + s..][..faces];
    }
    rows
}

#[inline(always)]
pub(super) fn fifth_order_row<R: FluxConstants>(mass: &[R], cells: [&[R]; 6], flux: &mut [R]) {
    let n = flux.len();
    let [a, b, c, d, e, f] = cells.map(|row| &row[..n]);
    let mass = &mass[..n];
    for i in 0..n {
        flux[i] = fifth_order_flux(mass[i], [a[i], b[i], c[i], d[i], e[i], f[i]]);
    }
}

#[inline(always)]
pub(super) fn third_order_row<R: FluxConstants>(mass: &[R], cells: [&[R]; 4], flux: &mut [R]) {
    let n = flux.len();
    let [a, b, c, d] = cells.map(|row| &row[..n]);
    let mass = &mass[..n];
    for i in 0..n {
        flux[i] = third_order_flux(mass[i], [a[i], b[i], c[i], d[i]]);
    }
}

#[inline(always)]
pub(super) fn linear_row<R: Real>(mass: &[R], cells: [&[R]; 2], weights: [R; 2], flux: &mut [R]) {
    let n = flux.len();
    let [a, b] = cells.map(|row| &row[..n]);
    let mass = &mass[..n];
    for i in 0..n {
        flux[i] = linear_flux(mass[i], [a[i], b[i]], weights);
    }
}

/// Splits high-order fluxes into capped upwind ones and corrections, the latter in place.
#[inline(always)]
pub(super) fn split_capped_row<R: Real>(
    mass: &[R],
    capacity: LayeredRow<'_, R>,
    cells: [&[R]; 2],
    low: &mut [R],
    correction: &mut [R],
) {
    let n = low.len();
    let [a, b] = cells.map(|row| &row[..n]);
    let (mass, capacity, correction) = (&mass[..n], capacity.first(n), &mut correction[..n]);
    for i in 0..n {
        let flux = capped_flux(mass[i], capacity.at(i), [a[i], b[i]]);
        low[i] = flux;
        correction[i] -= flux;
    }
}

/// Splits high-order fluxes into upwind ones and corrections, the latter in place.
#[inline(always)]
pub(super) fn split_upwind_row<R: Real>(
    mass: &[R],
    cells: [&[R]; 2],
    low: &mut [R],
    correction: &mut [R],
) {
    let n = low.len();
    let [a, b] = cells.map(|row| &row[..n]);
    let (mass, correction) = (&mass[..n], &mut correction[..n]);
    for i in 0..n {
        let flux = upwind_flux(mass[i], [a[i], b[i]]);
        low[i] = flux;
        correction[i] -= flux;
    }
}

/// What a row of cells holds at the start of the step.
#[derive(Clone, Copy)]
pub(super) struct Content<'a, R> {
    pub(super) mass: LayeredRow<'a, R>,
    pub(super) q: &'a [R],
    pub(super) dt: R,
}

/// Scale factors of the outgoing corrections, positive-definite limiter.
#[inline(always)]
pub(super) fn positive_scale_row<R: FluxConstants>(
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
        let amount = provisional_amount(mass.at(i), q[i], dt, low.at(i));
        outgoing[i] = affordable(amount, dt * correction.at(i).outgoing());
    }
}

/// Lower and upper bounds of a row of cells, monotonic limiter.
#[inline(always)]
pub(super) fn bounds_row<R: Real>(
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

/// Scale factors of the corrections, monotonic limiter: `outgoing` and `incoming` hold the lower
/// and the upper bounds on entry, the factors on return; `end` is the mass that goes with them.
#[inline(always)]
pub(super) fn monotonic_scale_row<R: FluxConstants>(
    content: Content<'_, R>,
    end: LayeredRow<'_, R>,
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
        let amount = provisional_amount(mass.at(i), q[i], dt, low.at(i));
        let (end, correction) = (end.at(i), correction.at(i));
        let (least, most) = (outgoing[i], incoming[i]);
        outgoing[i] = affordable(amount - end * least, dt * correction.outgoing());
        incoming[i] = affordable(end * most - amount, dt * correction.incoming());
    }
}

#[inline(always)]
pub(super) fn positive_row<R: Real>(
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
pub(super) fn monotonic_row<R: Real>(
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

/// Net outflow through the four lateral faces of a row of cells.
#[inline(always)]
pub(super) fn lateral_outflow_row<R: Real>(x: &[R], south: &[R], north: &[R], net: &mut [R]) {
    let n = net.len();
    let (west, east) = (&x[..n], &x[1..=n]);
    let (south, north) = (&south[..n], &north[..n]);
    for i in 0..n {
        net[i] = (east[i] - west[i]) + (north[i] - south[i]);
    }
}

/// Net outflow of a row of cells by sides, and by the bottom and the top.
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
pub(super) fn outflow_row<R: Real>(outflow: Outflow<'_, R>, net: &mut [R]) {
    let n = net.len();
    let outflow = outflow.first(n);
    for i in 0..n {
        net[i] = outflow.at(i);
    }
}

/// What is in a row of cells afterwards.
#[inline(always)]
pub(super) fn update_row<R: FluxConstants>(
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
