//! Some columns of a divided grid, gathered on the first rank from their owners.

use super::{DividedGrid, Window};
use crate::ranks::packing::{pack, unpack};
use crate::ranks::{Ranks, gather, of_rank};
use crate::real::Real;

/// Columns, and who owns them.
#[derive(Debug)]
pub struct GatheredColumns {
    /// Row and column, in the part of this rank, of those that it owns, in their order.
    own: Vec<[usize; 2]>,
    /// The owner of each column.
    owners: Vec<usize>,
}

impl GatheredColumns {
    /// Columns by their numbers in the whole grid, `c = j nx + i`.
    ///
    /// # Panics
    ///
    /// When the grid has no such column.
    pub fn new(divided: &DividedGrid, columns: &[usize]) -> Self {
        let nx = divided.own().global().nx;
        let layout = divided.layout([0, 0]);
        let ranks = divided.ranks();
        let has = |window: &Window, [j, i]: [usize; 2]| {
            window.rows.contains(&j) && window.columns.contains(&i)
        };
        let places = columns.iter().map(|column| [column / nx, column % nx]);
        let owner = |place: [usize; 2]| {
            let mut owners = 0..ranks.size();
            owners.find(|rank| has(layout.window(*rank), place)).expect("every column has an owner")
        };
        let owners: Vec<usize> = places.clone().map(owner).collect();
        let (global, local) = (layout.window(ranks.rank()), divided.own().owned());
        let own =
            places.zip(&owners).filter(|(_, owner)| **owner == ranks.rank()).map(|([j, i], _)| {
                [
                    local.rows.start + j - global.rows.start,
                    local.columns.start + i - global.columns.start,
                ]
            });
        Self { own: own.collect(), owners }
    }

    /// Row and column, in the part of this rank, of those that it owns, in their order.
    pub fn own(&self) -> &[[usize; 2]] {
        &self.own
    }

    /// Lists of values on the first rank, of lists of the own columns; none elsewhere. A rank that owns no column may give
    /// no list. Shape of each: (levels, columns).
    pub fn gather<R: Real>(&self, ranks: &dyn Ranks, lists: &[Vec<R>]) -> Option<Vec<Vec<R>>> {
        let mut message = Vec::new();
        for values in lists {
            pack(values, &mut message);
        }
        let messages = gather(ranks, &message);
        // How many there are, and their levels, as the first rank that owns columns has it.
        let own = self.own.len().max(1);
        let first = self.owners.first().copied().unwrap_or_default();
        let [count] = of_rank(ranks, first, [lists.len() as i64]);
        let mut levels = vec![0; count as usize];
        if ranks.rank() == first {
            levels.iter_mut().zip(lists).for_each(|(n, list)| *n = (list.len() / own) as i64);
        }
        ranks.sum(&mut levels);
        if ranks.rank() > 0 {
            return None;
        }
        let mut rests: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
        let list = |levels: i64| {
            let mut values = vec![R::ZERO; levels as usize * self.owners.len()];
            for level in values.chunks_exact_mut(self.owners.len().max(1)) {
                for (value, owner) in level.iter_mut().zip(&self.owners) {
                    rests[*owner] = unpack(rests[*owner], [value]);
                }
            }
            values
        };
        Some(levels.into_iter().map(list).collect())
    }
}
