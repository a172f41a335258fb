//! Columns brought together on the CPU.

use std::collections::VecDeque;
use std::sync::Arc;

use ndarray::Array3;

use super::{FRAMES_IN_FLIGHT, Profiles};
use crate::grid::Shape;
use crate::primitives::reduce::{self, Number};
use crate::primitives::transpose::{Matrices, transpose};
use crate::real::Real;
use crate::state::{CloudDiagnostics, State};

/// Weights of the columns, and profiles that have not been collected.
#[derive(Debug)]
pub(super) struct ProfileExtractor<R> {
    /// Shape: (ny, nx, nz).
    weights: Arc<Vec<R>>,
    pub(super) in_flight: VecDeque<Profiles<R>>,
}

impl<R: Real + Number> ProfileExtractor<R> {
    pub(super) fn new(shape: Shape, weights: &Arc<Vec<R>>) -> Self {
        assert_eq!(weights.len(), shape.cells(), "a weight for every cell");
        Self { weights: Arc::clone(weights), in_flight: VecDeque::with_capacity(FRAMES_IN_FLIGHT) }
    }

    /// The columns of a state and of what is diagnosed from it.
    pub(super) fn profiles(
        &self,
        shape: Shape,
        state: &State<R>,
        diagnostics: &CloudDiagnostics<R>,
    ) -> Profiles<R> {
        let fields = state.of_scheme().iter().chain(diagnostics.fields()).chain(state.passive());
        let turned = |field: &Array3<R>| {
            let levels = field.as_slice().expect("fields are in standard layout");
            let mut columns = vec![R::ZERO; levels.len()];
            let Shape { nx, ny, nz } = shape;
            transpose(Matrices::levels(1, nz, ny, nx), levels, &mut columns);
            columns
        };
        let volumes: Vec<Vec<R>> = fields.map(turned).collect();
        let total = |water: &Vec<R>| {
            let columns = water.chunks(shape.nz).zip(self.weights.chunks(shape.nz));
            columns.map(|(q, weights)| R::of(reduce::dot(q, weights))).collect()
        };
        let set = state.set();
        let totals = volumes[set.water()].iter().map(total).collect();
        let most = |column: &[R]| reduce::extrema(column).map_or_else(R::nan, |found| found.max);
        let echo = set.reflectivity().map(|number| &volumes[set.carried() + number]);
        let strongest = echo.map(|echo| echo.chunks(shape.nz).map(most).collect());
        Profiles { volumes, totals, strongest }
    }
}
