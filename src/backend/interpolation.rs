//! Products of operators with the fields, on the CPU: only the columns that an operator reads are
//! looked at.

use std::collections::VecDeque;

use ndarray::{Array3, Axis};

use super::{FRAMES_IN_FLIGHT, Products};
use crate::grid::Shape;
use crate::primitives::csr::Csr;
use crate::real::Real;
use crate::state::{CloudDiagnostics, Environment, State, Surface, memory};

/// An operator, ready to be applied.
#[derive(Debug)]
pub(super) struct Operator<R> {
    /// The columns of the grid that it reads, in rising order.
    pub(super) columns: Vec<usize>,
    /// The operator on these alone.
    matrix: Csr<R>,
    /// Products that have not been collected.
    pub(super) in_flight: VecDeque<Products<R>>,
}

/// Columns that an operator reads, side by side.
pub(super) struct GatheredColumns<R> {
    pub(super) state: State<R>,
    pub(super) air: Environment<R>,
    /// Memory for what is diagnosed from them.
    pub(super) diagnostics: CloudDiagnostics<R>,
}

impl<R: Real> Operator<R> {
    pub(super) fn new(operator: &Csr<R>, columns: usize) -> Self {
        assert_eq!(operator.columns(), columns, "columns of an operator on the grid");
        let mut place = vec![u32::MAX; columns];
        for &column in operator.column_of() {
            place[column as usize] = 0;
        }
        let mut read: Vec<usize> = (0..columns).filter(|column| place[*column] == 0).collect();
        if read.is_empty() {
            // An operator of empty rows still has products.
            read.push(0);
        }
        for (n, column) in read.iter().enumerate() {
            place[*column] = n as u32;
        }
        let column_of = operator.column_of().iter().map(|column| place[*column as usize]).collect();
        let (starts, values) = (operator.starts().to_vec(), operator.values().to_vec());
        let matrix = Csr::from_parts(read.len(), starts, column_of, values)
            .expect("the entries of a matrix that was good, in the same order");
        Self { columns: read, matrix, in_flight: VecDeque::with_capacity(FRAMES_IN_FLIGHT) }
    }

    /// An operator that reads these columns and makes no products of them.
    pub(super) fn reading(columns: Vec<usize>) -> Self {
        let matrix = Csr::from_parts(columns.len(), vec![0], Vec::new(), Vec::new());
        let matrix = matrix.expect("a matrix without rows");
        Self { columns, matrix, in_flight: VecDeque::new() }
    }

    /// The columns of a field that the operator reads, side by side. Shape: (nz, 1, columns).
    pub(super) fn columns_of(&self, field: &Array3<R>) -> Array3<R> {
        let nz = field.len_of(Axis(0));
        let plane = field.len() / nz;
        let values = memory(field);
        let level = |k: usize| self.columns.iter().map(move |c| values[k * plane + c]);
        let values: Vec<R> = (0..nz).flat_map(level).collect();
        Array3::from_shape_vec((nz, 1, self.columns.len()), values).expect("all columns")
    }

    /// The columns of a state that the operator reads, side by side.
    pub(super) fn gather(
        &self,
        state: &State<R>,
        environment: &Environment<R>,
    ) -> GatheredColumns<R> {
        let nz = state.theta().len_of(Axis(0));
        let gathered = |field: &Array3<R>| self.columns_of(field);
        let shape = Shape { nx: self.columns.len(), ny: 1, nz };
        let (state, air) = (state.map(gathered), environment.map(gathered));
        let diagnostics = CloudDiagnostics::zeros(state.set(), shape);
        GatheredColumns { state, air, diagnostics }
    }

    /// The values of these columns that the operator takes, with those of the ground below them.
    pub(super) fn values(
        &self,
        (state, diagnostics): (&State<R>, &CloudDiagnostics<R>),
        surface: &Surface<R>,
    ) -> Products<R> {
        let volumes = state.of_scheme().iter().chain(diagnostics.fields()).chain(state.passive());
        let planes = surface.shown().map(|(_, plane)| {
            let values = memory(plane);
            self.columns.iter().map(|column| values[*column]).collect()
        });
        Products {
            volumes: volumes.map(|field| memory(field).to_vec()).collect(),
            planes: planes.collect(),
        }
    }

    /// The products with such values.
    pub(super) fn products(&self, values: &Products<R>) -> Products<R> {
        let of = |lists: &Vec<Vec<R>>| lists.iter().map(|values| self.levels(values)).collect();
        Products { volumes: of(&values.volumes), planes: of(&values.planes) }
    }

    /// The products with the levels of a field.
    fn levels(&self, values: &[R]) -> Vec<R> {
        let levels = values.len() / self.columns.len();
        let mut out = vec![R::ZERO; levels * self.matrix.rows()];
        self.matrix.multiply_several(values, &mut out, levels);
        out
    }
}
