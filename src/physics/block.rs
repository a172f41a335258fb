//! Columns of fields, cut into blocks for threads.

use std::ops::Range;
use std::sync::Arc;

use ndarray::{ArrayView3, ArrayViewMut2, ArrayViewMut3, Axis};

use super::{Budget, ColumnPhysics, Field, MismatchMasses};
use crate::constants::Constants;
use crate::real::Real;
use crate::simd::LANES;
use crate::state::{Environment, State, Surface, surface};
use crate::threads;

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

impl<'a, R: Constants> Block<'a, R> {
    /// The columns of a run as a scheme with these tracers, fields of the air and planes takes them, with the terms of
    /// the water budget.
    ///
    /// # Panics
    ///
    /// When a run has no field of some name, or a scheme takes one twice.
    pub fn of_run(
        [tracers, air, surface]: [&[Field]; 3],
        state: &'a mut State<R>,
        environment: &'a Environment<R>,
        ground: &'a mut Surface<R>,
    ) -> Self {
        let set = Arc::clone(state.set());
        let mut fields: Vec<_> =
            state.of_scheme_mut().iter_mut().map(|field| Some(field.view_mut())).collect();
        let names: Vec<&str> = Surface::<R>::names(&set).collect();
        let planes = ground.planes_mut().iter_mut();
        let mut planes: Vec<_> = planes.map(|plane| Some(plane.view_mut())).collect();
        let tracers = tracers.iter().map(|field| {
            let found = set.column(field.name);
            taken(&mut fields[found.unwrap_or_else(|| panic!("no {} in a run", field.name))])
        });
        let air = air.iter().map(|field| {
            let found = environment.get(field.name);
            found.unwrap_or_else(|| panic!("no {} in the air of a run", field.name)).view()
        });
        let mut plane = |name: &str| {
            let found = names.iter().position(|own| *own == name);
            taken(&mut planes[found.unwrap_or_else(|| panic!("no {name} at the ground of a run"))])
        };
        let [fallen, fall_residual, clipped] = surface::TERMS.map(&mut plane);
        Self {
            theta_base: R::THETA_BASE,
            tracers: tracers.collect(),
            air: air.collect(),
            surface: surface.iter().map(|field| plane(field.name)).collect(),
            budget: Some(Budget { fallen, fall_residual, clipped, weighing: None }),
        }
    }
}

/// A view that is given to a block.
fn taken<V>(view: &mut Option<V>) -> V {
    view.take().expect("a field that a scheme takes once")
}

impl<'a, R: Real> Block<'a, R> {
    /// Numbers of levels, of rows, and of columns in a row.
    pub fn dim(&self) -> (usize, usize, usize) {
        self.tracers[0].dim()
    }

    /// The columns of the given rows and columns of the grid only.
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

    /// The same, with the mass mismatch of the changes where there is a budget.
    #[must_use]
    pub fn weighed(mut self, weighing: MismatchMasses<'a, R>) -> Self {
        if let Some(budget) = &mut self.budget {
            budget.weighing = Some(weighing);
        }
        self
    }

    /// Asserts that there are as many fields as a scheme has, all of one shape.
    pub(super) fn check<P: ColumnPhysics<R>>(&self) {
        let Self { tracers, air, surface, budget, .. } = self;
        let found = [tracers.len(), air.len(), surface.len()];
        assert_eq!(found, [P::TRACERS.len(), P::AIR.len(), P::SURFACE.len()], "fields");
        let (nz, ny, nx) = self.dim();
        for (field, values) in P::TRACERS.iter().zip(tracers) {
            assert_eq!(values.dim(), (nz, ny, nx), "shape of {} beside the first", field.name);
        }
        for (field, values) in P::AIR.iter().zip(air) {
            assert_eq!(values.dim(), (nz, ny, nx), "shape of {} beside the tracers", field.name);
        }
        for (field, values) in P::SURFACE.iter().zip(surface) {
            assert_eq!(values.dim(), (ny, nx), "shape of {} at the ground", field.name);
        }
        if let Some(budget) = budget {
            budget.check((nz, ny, nx));
        }
    }
}

/// Fields of columns that can be shared out among threads.
pub(crate) trait SplitColumns: Send + Sized {
    /// Numbers of rows and of columns of a row.
    fn rows_and_columns(&self) -> (usize, usize);

    /// The columns below and from an index along an axis of (ny, nx).
    fn divide(self, axis: usize, at: usize) -> (Self, Self);

    /// Work on all columns, shared out among the threads in blocks. The result does not depend on their size.
    fn shared_out(self, work: &(impl Fn(Self) + Sync)) {
        let [fewest, most] = BLOCK_COLUMNS;
        let (ny, nx) = self.rows_and_columns();
        let share = (ny * nx).div_ceil(BLOCKS_OF_A_THREAD * threads::count());
        halve(self, share.clamp(fewest, most), work);
    }
}

/// Work on columns, no more than `most` at a time.
fn halve<S: SplitColumns>(columns: S, most: usize, work: &(impl Fn(S) + Sync)) {
    let (ny, nx) = columns.rows_and_columns();
    let (axis, at) = match (ny, nx) {
        (ny, nx) if ny * nx <= most => return work(columns),
        (1, nx) => (1, nx / 2),
        (ny, _) => (0, ny / 2),
    };
    let (left, right) = columns.divide(axis, at);
    threads::join(|| halve(left, most, work), || halve(right, most, work));
}

/// The fewest and the most columns that a thread takes at a time; many of them, so that few of [`LANES`] places stay
/// empty.
const BLOCK_COLUMNS: [usize; 2] = [5 * LANES, 32 * LANES];
/// Blocks of each thread, which even out the work.
const BLOCKS_OF_A_THREAD: usize = 4;

impl<'a, R: Real> SplitColumns for Block<'a, R> {
    fn rows_and_columns(&self) -> (usize, usize) {
        let (_, ny, nx) = self.dim();
        (ny, nx)
    }

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
}
