//! One Runge-Kutta stage: its input, and the high-order fluxes of a row of faces.

use std::ops::Range;
use std::slice;

use ndarray::{Array2, Array3};

use super::flux::FluxConstants;
use super::perturbation::{Perturbation, Term};
use super::rows::{
    Content, LayeredRows, Outflow, fifth_order_rows, linear_rows, outflow_rows, shifted,
    third_order_rows, update_rows,
};
use super::strip::Rows;
use super::{Limiter, Wind};
use crate::dry_mass::Layered;
use crate::grid::{Grid, Shape, Window};
use crate::primitives::exact_sum::ExactSum;
use crate::real::Real;

/// Half width of the fifth-order stencil: cells on either side of a face.
pub const HALO: usize = 3;

/// Cells beyond a cell that its value after a step depends on: three stages, and the scale factors of the limiter of
/// the neighbours. Without a limiter one less.
pub const MARGIN: usize = 3 * HALO + 1;

/// Results of a stage for every cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StageOutput {
    /// The new mixing ratio.
    Update,
    /// The net outflow of tracer, kg s⁻¹.
    Outflow,
}

/// Order of the flux through a row of faces.
#[derive(Clone, Copy)]
enum FluxOrder<R> {
    Closed,
    Linear([R; 2]),
    Third,
    Fifth,
}

/// Input of a stage: the air, the latest values of the tracer and the values at the start of the step.
pub(super) struct Stage<'a, R> {
    pub(super) wind: &'a Wind<'a, R>,
    /// Latest values, which the high-order fluxes carry.
    pub(super) field: &'a [R],
    /// Values at the start of the step, for the limiter and the update.
    pub(super) start: &'a [R],
    /// Length of the stage, s.
    pub(super) dt: R,
    pub(super) limiter: Limiter,
    pub(super) ending: StageOutput,
    /// The faces through which inflow is counted; `None` where it is not, in the stages before the last.
    pub(super) entrance: Option<&'a InflowFaces>,
    /// A term that is to be wrong.
    pub(super) perturbation: Option<Perturbation>,
}

/// The faces through which tracer enters the region of the budgets: those of the specified and open sides.
pub(super) struct InflowFaces {
    /// The region.
    inner: Window,
    /// The region ends at a side to the west, east, south, north; elsewhere at a cut, or nowhere.
    is_side: [bool; 4],
}

impl InflowFaces {
    pub(super) fn new(grid: &Grid) -> Self {
        Self { inner: grid.inner(), is_side: grid.boundaries().map(|side| side.is_some()) }
    }
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

    /// The cells of rows at level k.
    #[inline(always)]
    pub(super) fn cells(&self, field: &'a [R], k: usize, rows: Rows) -> &'a [R] {
        let Shape { nx, ny, .. } = self.shape();
        &field[(k * ny + rows.first) * nx..][..rows.count * nx]
    }

    /// Rows shifted by `offset` to the north, with periodic continuation.
    #[inline(always)]
    pub(super) fn shifted_rows(&self, rows: Rows, offset: isize) -> Rows {
        Rows { first: continued(rows.first, offset, self.shape().ny), ..rows }
    }

    /// Returns `true` if row j is an outermost one, which y-fluxes do not change.
    #[inline(always)]
    pub(super) fn outermost_row(&self, j: usize) -> bool {
        !self.periodic_y() && (j == 0 || j + 1 == self.shape().ny)
    }

    /// Mass fluxes through the x-faces of row j.
    #[inline(always)]
    pub(super) fn mass_x(&self, k: usize, j: usize) -> &'a [R] {
        let Shape { nx, ny, .. } = self.shape();
        &memory(&self.wind.flux.x)[(k * ny + j) * (nx + 1)..][..=nx]
    }

    /// Mass fluxes through the southern faces of rows.
    #[inline(always)]
    pub(super) fn mass_y(&self, k: usize, rows: Rows) -> &'a [R] {
        let Shape { nx, ny, .. } = self.shape();
        &memory(&self.wind.flux.y)[(k * (ny + 1) + rows.first) * nx..][..rows.count * nx]
    }

    /// Mass fluxes through the lower faces of rows at level k.
    #[inline(always)]
    pub(super) fn mass_z(&self, k: usize, rows: Rows) -> &'a [R] {
        self.cells(memory(&self.wind.flux.z), k, rows)
    }

    /// Contents of rows at the start of the step.
    #[inline(always)]
    pub(super) fn content(&self, k: usize, rows: Rows) -> Content<'a, R> {
        let mass = layered_rows(&self.wind.air.cell, k, rows);
        Content { mass, q: self.cells(self.start, k, rows), dt: self.dt }
    }

    /// Capacities of the faces of rows per time step, kg s⁻¹.
    #[inline(always)]
    pub(super) fn capacity<'b>(&self, mass: LayeredRows<'b, R>) -> LayeredRows<'b, R> {
        mass.times(self.dt.recip() * self.factor(Term::Capacity))
    }

    /// Factor of a term.
    #[inline(always)]
    fn factor(&self, term: Term) -> R {
        let mine = self.perturbation.filter(|p| p.term == term);
        mine.map_or(R::ONE, |p| R::of(p.factor))
    }

    /// Multiplies rows of a term by its factor, if it is the perturbed one.
    #[inline(always)]
    pub(super) fn perturb(&self, term: Term, rows: &mut [R]) {
        if self.perturbation.is_some_and(|p| p.term == term) {
            let factor = self.factor(term);
            for x in rows {
                *x *= factor;
            }
        }
    }

    /// Returns `true` if the scheme has no flux through y-face j (between rows j - 1 and j).
    #[inline(always)]
    pub(super) fn closed_y(&self, j: usize) -> bool {
        !self.periodic_y() && (j == 0 || j == self.shape().ny)
    }

    /// Returns `true` if z-face k is the ground or the lid.
    #[inline(always)]
    pub(super) fn closed_z(&self, k: usize) -> bool {
        k == 0 || k == self.shape().nz
    }

    /// High-order fluxes through the western faces of rows, with the mass fluxes `mass`; 0 through the first face of a
    /// row if the side is not periodic.
    #[inline(always)]
    pub(super) fn high_order_x(&self, k: usize, rows: Rows, mass: &[R], flux: &mut [R]) {
        let nx = self.shape().nx;
        let cells = self.cells(self.field, k, rows);
        // At the ends of rows the stencil reads cells of other rows; those faces are computed again below.
        let all = HALO..(cells.len() + 1).saturating_sub(HALO);
        if !all.is_empty() {
            fifth_order_rows(&mass[all.clone()], shifted(cells, all.len()), &mut flux[all]);
        }
        let periodic = self.periodic_x();
        for first in (0..rows.count).map(|row| row * nx) {
            let row = &cells[first..][..nx];
            for i in (0..HALO.min(nx)).chain((nx + 1).saturating_sub(HALO).max(HALO)..nx) {
                let cell = |s| slice::from_ref(&row[continued(i, s, nx)]);
                let face = first + i..=first + i;
                let order = lateral_order(i, nx, periodic);
                high_order_rows(order, &mass[face.clone()], cell, &mut flux[face]);
            }
        }
        self.perturb(Term::HighOrderX, flux);
    }

    /// Runs of rows whose southern faces are of the same order and whose stencils are contiguous.
    #[inline(always)]
    pub(super) fn alike_y(&self, faces: Range<usize>) -> impl Iterator<Item = Rows> {
        // Faces with a whole stencil inside the grid.
        let full = HALO..(self.shape().ny + 1).saturating_sub(HALO);
        let mut first = faces.start;
        std::iter::from_fn(move || {
            let end = if full.contains(&first) { full.end } else { first + 1 };
            let rows = Rows { first, count: end.min(faces.end).checked_sub(first)? };
            first = end;
            (rows.count > 0).then_some(rows)
        })
    }

    /// High-order fluxes through the southern faces of a run of rows from [`Stage::alike_y`].
    #[inline(always)]
    pub(super) fn high_order_y(&self, k: usize, rows: Rows, flux: &mut [R]) {
        let order = lateral_order(rows.first, self.shape().ny, self.periodic_y());
        let cell = |s| self.cells(self.field, k, self.shifted_rows(rows, s));
        high_order_rows(order, self.mass_y(k, rows), cell, flux);
        self.perturb(Term::HighOrderY, flux);
    }

    /// High-order fluxes through the lower faces of rows at level k.
    #[inline(always)]
    pub(super) fn high_order_z(&self, k: usize, rows: Rows, flux: &mut [R]) {
        let nz = self.shape().nz;
        let air = self.wind.air;
        let order = match k {
            k if self.closed_z(k) => FluxOrder::Closed,
            k if k == 1 || k == nz - 1 => {
                FluxOrder::Linear([air.weight_below[k], air.weight_above[k]])
            }
            _ => FluxOrder::Third,
        };
        let cell = |s| self.cells(self.field, k.wrapping_add_signed(s), rows);
        high_order_rows(order, self.mass_z(k, rows), cell, flux);
        self.perturb(Term::HighOrderZ, flux);
    }

    /// Writes the results of the stage for rows at level k.
    #[inline(always)]
    pub(super) fn finish(&self, k: usize, rows: Rows, flow: Outflow<'_, R>, out: &mut [R]) {
        match self.ending {
            StageOutput::Update => update_rows(self.content(k, rows), flow, out),
            StageOutput::Outflow => outflow_rows(flow, out),
        }
    }

    /// Adds the tracer that enters the region inside the outermost rows through the sides of row j in the time step, kg,
    /// with the fluxes of the row through the western, southern and northern faces.
    #[inline(always)]
    pub(super) fn count_inflow(
        &self,
        entrance: &InflowFaces,
        j: usize,
        [x, south, north]: [&[R]; 3],
        sum: &mut ExactSum,
    ) {
        let InflowFaces { inner: Window { rows, columns }, is_side } = entrance;
        let [at_west, at_east, at_south, at_north] = *is_side;
        if !rows.contains(&j) {
            return;
        }
        let dt = self.wind.dt;
        if at_west {
            sum.add(dt * x[columns.start].f64());
        }
        if at_east {
            sum.add(-dt * x[columns.end].f64());
        }
        if at_south && j == rows.start {
            sum.extend(south[columns.clone()].iter().map(|x| dt * x.f64()));
        }
        if at_north && j + 1 == rows.end {
            sum.extend(north[columns.clone()].iter().map(|x| -dt * x.f64()));
        }
    }
}

/// The values of a field in memory order.
#[inline(always)]
pub(super) fn memory<R>(field: &Array3<R>) -> &[R] {
    field.as_slice().expect("fields are in standard layout")
}

/// Row j of a plane.
#[inline(always)]
pub(super) fn row<R>(plane: &Array2<R>, j: usize) -> &[R] {
    let n = plane.ncols();
    &plane.as_slice().expect("planes are in standard layout")[j * n..][..n]
}

/// Rows of a layered field at level k.
#[inline(always)]
pub(super) fn layered_rows<R: Real>(
    field: &Layered<R>,
    k: usize,
    rows: Rows,
) -> LayeredRows<'_, R> {
    let n = field.with_mu.ncols();
    let [with_mu, without_mu] = [&field.with_mu, &field.without_mu].map(|plane| {
        let plane = plane.as_slice().expect("planes are in standard layout");
        &plane[rows.first * n..][..rows.count * n]
    });
    LayeredRows { with_mu, without_mu, c1: field.c1[k], c2: field.c2[k] }
}

/// Index `offset` after index i on an axis of n cells, with periodic continuation.
#[inline(always)]
fn continued(i: usize, offset: isize, n: usize) -> usize {
    let n = n.cast_signed();
    let mut i = i.cast_signed() + offset;
    // Offsets are short, so additions are cheaper than a division.
    while i < 0 {
        i += n;
    }
    while i >= n {
        i -= n;
    }
    i.cast_unsigned()
}

/// Order of the flux through lateral face `face` of an axis with `n` cells: lower near a side that is not periodic.
#[inline(always)]
fn lateral_order<R: Real>(face: usize, n: usize, periodic: bool) -> FluxOrder<R> {
    match face.min(n - face) {
        _ if periodic => FluxOrder::Fifth,
        0 => FluxOrder::Closed,
        1 => FluxOrder::Linear([R::HALF, R::HALF]),
        2 => FluxOrder::Third,
        _ => FluxOrder::Fifth,
    }
}

/// High-order fluxes through faces. `cell(n)` gives the cells n places beyond the faces: 0 are the cells of higher
/// index next to the faces, -1 those of lower index.
#[inline(always)]
fn high_order_rows<'c, R: FluxConstants>(
    order: FluxOrder<R>,
    mass: &[R],
    cell: impl Fn(isize) -> &'c [R],
    flux: &mut [R],
) {
    match order {
        FluxOrder::Closed => flux.fill(R::ZERO),
        FluxOrder::Linear(weights) => linear_rows(mass, [cell(-1), cell(0)], weights, flux),
        FluxOrder::Third => third_order_rows(mass, [cell(-2), cell(-1), cell(0), cell(1)], flux),
        FluxOrder::Fifth => {
            let cells = [cell(-3), cell(-2), cell(-1), cell(0), cell(1), cell(2)];
            fifth_order_rows(mass, cells, flux);
        }
    }
}
