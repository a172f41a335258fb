//! Products of an operator with the fields, from columns that several ranks own.

use std::collections::VecDeque;

use super::{are_finite, without_columns};
use crate::backend::interpolation::Operator;
use crate::backend::{ComputePrecision, Products};
use crate::error::Result;
use crate::grid::{DividedGrid, GatheredColumns};
use crate::primitives::csr::Csr;
use crate::ranks::{Ranks, of_rank};

/// An operator, and who owns the columns that it reads.
#[derive(Debug)]
pub(super) struct GatheredProducts<R> {
    /// On the columns of the whole grid.
    operator: Operator<R>,
    /// The columns of this rank among them, by their numbers in its part.
    own: Operator<R>,
    columns: GatheredColumns,
    /// Products that have not been collected.
    in_flight: VecDeque<Products<R>>,
}

impl<R: ComputePrecision> GatheredProducts<R> {
    pub(super) fn new(operator: &Csr<R>, divided: &DividedGrid) -> Self {
        let part = divided.own();
        let operator = Operator::new(operator, part.global().columns());
        let columns = GatheredColumns::new(divided, &operator.columns);
        let own = columns.own().iter().map(|[j, i]| j * part.shape.nx + i);
        let own = Operator::reading(own.collect());
        Self { operator, own, columns, in_flight: VecDeque::new() }
    }

    /// Begins products; `values` gives those of the columns that an operator of this rank reads.
    pub(super) fn begin(
        &mut self,
        ranks: &dyn Ranks,
        values: impl FnOnce(&Operator<R>) -> Result<Products<R>>,
    ) -> Result<()> {
        let (mut lists, mut planes) = (Vec::new(), 0);
        if !self.own.columns.is_empty() {
            let own = values(&self.own)?;
            planes = own.planes.len();
            lists.extend(own.volumes.into_iter().chain(own.planes));
        }
        let gathered = self.columns.gather(ranks, &lists);
        let counts = crate::ranks::all(ranks, [planes as i64]);
        let planes = counts.into_iter().map(|[count]| count as usize).max().unwrap_or_default();
        let products = gathered.map(|mut volumes| {
            let planes = volumes.split_off(volumes.len() - planes);
            self.operator.products(&Products { volumes, planes })
        });
        let is_finite = products.as_ref().is_none_or(|products| are_finite(&products.volumes));
        let [is_finite] = of_rank(ranks, 0, [is_finite.into()]);
        self.in_flight.push_back(products.unwrap_or_else(|| Products {
            volumes: without_columns(is_finite > 0),
            planes: Vec::new(),
        }));
        Ok(())
    }

    /// The oldest products.
    pub(super) fn end(&mut self) -> Option<Products<R>> {
        self.in_flight.pop_front()
    }
}
