//! Columns of fields, cut into blocks for threads.

use std::ops::Range;

use ndarray::{ArrayView3, ArrayViewMut2, ArrayViewMut3, Axis};

use super::{Budget, ColumnPhysics};
use crate::real::Real;

/// A block of columns of the fields that a scheme works on. Shapes: (nz, ny, nx) and (ny, nx).
#[derive(Debug)]
pub struct Block<'a, R> {
    /// Potential temperature minus the first tracer, K.
    pub theta_base: R,
    /// [`ColumnPhysics::TRACERS`] in order, in their units; input and output.
    pub tracers: Vec<ArrayViewMut3<'a, R>>,
    /// [`ColumnPhysics::AIR`] in order, in their units; read only.
    pub air: Vec<ArrayView3<'a, R>>,
    /// [`ColumnPhysics::SURFACE`] in order, in their units.
    pub surface: Vec<ArrayViewMut2<'a, R>>,
    /// The water budget, if requested.
    pub budget: Option<Budget<'a, R>>,
}

impl<'a, R: Real> Block<'a, R> {
    /// Numbers of levels, of rows, and of columns in a row.
    pub fn dim(&self) -> (usize, usize, usize) {
        self.tracers[0].dim()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        let (_, ny, nx) = self.dim();
        ny * nx
    }

    /// Restricts the block to the given rows and columns of the grid.
    ///
    /// # Panics
    ///
    /// When the ranges exceed the grid.
    pub fn within(mut self, rows: Range<usize>, columns: Range<usize>) -> Self {
        for (axis, range) in [(0, rows), (1, columns)] {
            self = self.divide(axis, range.end).0.divide(axis, range.start).1;
        }
        self
    }

    /// Panics unless the numbers of fields are those of a scheme.
    pub(super) fn check<P: ColumnPhysics<R>>(&self) {
        let found = [self.tracers.len(), self.air.len(), self.surface.len()];
        assert_eq!(found, [P::TRACERS.len(), P::AIR.len(), P::SURFACE.len()], "fields");
    }

    /// The fields below and from index `at` on along an axis of (ny, nx).
    fn divide(self, axis: usize, at: usize) -> (Self, Self) {
        let Self { theta_base, tracers, air, surface, budget } = self;
        let split = |field: ArrayViewMut3<'a, R>| field.split_at(Axis(axis + 1), at);
        let (tracers, tracers_from) = tracers.into_iter().map(split).unzip();
        let split = |field: ArrayView3<'a, R>| field.split_at(Axis(axis + 1), at);
        let (air, air_from) = air.into_iter().map(split).unzip();
        let split = |plane: ArrayViewMut2<'a, R>| plane.split_at(Axis(axis), at);
        let (surface, surface_from) = surface.into_iter().map(split).unzip();
        let (budget, budget_from) = match budget.map(|budget| budget.divide(Axis(axis), at)) {
            Some((below, from)) => (Some(below), Some(from)),
            None => (None, None),
        };
        (
            Self { theta_base, tracers, air, surface, budget },
            Self {
                theta_base,
                tracers: tracers_from,
                air: air_from,
                surface: surface_from,
                budget: budget_from,
            },
        )
    }

    /// Calls `work` for all columns, in blocks of at most `most` distributed among the threads.
    pub(super) fn shared_out(self, most: usize, work: &(impl Fn(Self) + Sync)) {
        let (_, ny, nx) = self.dim();
        let (axis, at) = match (ny, nx) {
            (ny, nx) if ny * nx <= most => return work(self),
            (1, nx) => (1, nx / 2),
            (ny, _) => (0, ny / 2),
        };
        let (left, right) = self.divide(axis, at);
        rayon::join(|| left.shared_out(most, work), || right.shared_out(most, work));
    }
}
