//! Products of an operator with the fields, from columns that several ranks own.

use std::collections::VecDeque;

use super::{are_finite, without_columns};
use crate::backend::interpolation::Operator;
use crate::backend::{ComputePrecision, Products};
use crate::grid::{Parts, Window};
use crate::primitives::csr::Csr;
use crate::ranks::packing::{pack, unpack};
use crate::ranks::{Ranks, gather, of_rank};

/// An operator, and who owns the columns that it reads.
#[derive(Debug)]
pub(super) struct GatheredProducts<R> {
    /// On the columns of the whole grid.
    operator: Operator<R>,
    /// The columns of this rank among them, by their numbers in its part.
    own: Operator<R>,
    /// The owner of each column that the operator reads.
    owners: Vec<usize>,
    /// Products that have not been collected.
    in_flight: VecDeque<Products<R>>,
}

impl<R: ComputePrecision> GatheredProducts<R> {
    pub(super) fn new(operator: &Csr<R>, parts: &Parts, rank: usize) -> Self {
        let grids = parts.grids();
        let global = grids[0].global();
        let operator = Operator::new(operator, global.columns());
        // For each column of the whole: its owner, and its number there.
        let mut places = vec![(0, 0); global.columns()];
        for (owner, part) in grids.iter().enumerate() {
            let Window { rows, columns } = part.owned();
            for [j, i] in rows.flat_map(|j| columns.clone().map(move |i| [j, i])) {
                let [row, column] = part.global_column([j, i]);
                places[row * global.nx + column] = (owner, j * part.shape.nx + i);
            }
        }
        let places: Vec<_> = operator.columns.iter().map(|column| places[*column]).collect();
        let own = places.iter().filter(|(owner, _)| *owner == rank).map(|(_, place)| *place);
        Self {
            own: Operator::reading(own.collect()),
            operator,
            owners: places.iter().map(|(owner, _)| *owner).collect(),
            in_flight: VecDeque::new(),
        }
    }

    /// Begins products; `values` gives those of the columns that an operator of this rank reads.
    pub(super) fn begin(
        &mut self,
        ranks: &dyn Ranks,
        values: impl FnOnce(&Operator<R>) -> Products<R>,
    ) {
        let mut message = Vec::new();
        let mut lengths = [0; 3];
        if !self.own.columns.is_empty() {
            let own = values(&self.own);
            own.volumes.iter().chain(&own.planes).for_each(|values| pack(values, &mut message));
            let levels = own.volumes.first().map_or(0, Vec::len) / self.own.columns.len();
            lengths = [own.volumes.len(), own.planes.len(), levels].map(|length| length as i64);
        }
        let messages = gather(ranks, &message);
        // As the first rank that owns columns has it.
        let first = self.owners[0];
        let [volumes, planes, levels] =
            of_rank(ranks, first, lengths).map(|length| length as usize);
        let products = (ranks.rank() == 0).then(|| {
            let rests: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
            self.assembled(rests, [volumes, planes, levels])
        });
        let is_finite = products.as_ref().is_none_or(|products| are_finite(&products.volumes));
        let [is_finite] = of_rank(ranks, 0, [is_finite.into()]);
        self.in_flight.push_back(products.unwrap_or_else(|| Products {
            volumes: without_columns(is_finite > 0),
            planes: Vec::new(),
        }));
    }

    /// The products, from the messages of all ranks.
    fn assembled(
        &self,
        mut rests: Vec<&[u8]>,
        [volumes, planes, levels]: [usize; 3],
    ) -> Products<R> {
        let mut list = |levels: usize| {
            let mut values = vec![R::ZERO; levels * self.owners.len()];
            // The columns of a rank are in the order in which the operator reads them.
            for level in values.chunks_exact_mut(self.owners.len()) {
                for (value, owner) in level.iter_mut().zip(&self.owners) {
                    rests[*owner] = unpack(rests[*owner], [value]);
                }
            }
            values
        };
        let volumes = (0..volumes).map(|_| list(levels)).collect();
        let planes = (0..planes).map(|_| list(1)).collect();
        self.operator.products(&Products { volumes, planes })
    }

    /// The oldest products.
    pub(super) fn end(&mut self) -> Option<Products<R>> {
        self.in_flight.pop_front()
    }
}
