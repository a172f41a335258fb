//! Contiguous rows, and the neighbours of their cells along x.
//!
//! The neighbour of a cell is the next element in memory, except at the ends of rows. So all cells of such a strip are
//! computed as if it were a single row, and the ends of its rows are then computed again.

use std::ops::Range;

/// Consecutive rows of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) first: usize,
    pub(super) count: usize,
}

impl Rows {
    #[inline(always)]
    pub(super) fn range(self) -> Range<usize> {
        self.first..self.first + self.count
    }
}

/// A range of consecutive cells of a strip, with the indices of its first western and its first eastern neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) here: Range<usize>,
    west: usize,
    east: usize,
}

impl Stretch {
    #[inline(always)]
    fn one(here: usize, west: usize, east: usize) -> Self {
        Self { here: here..here + 1, west, east }
    }

    /// The values of the western neighbours.
    #[inline(always)]
    pub(super) fn west<'a, R>(&self, values: &'a [R]) -> &'a [R] {
        &values[self.west..][..self.here.len()]
    }

    /// The values of the cells themselves.
    #[inline(always)]
    pub(super) fn here<'a, R>(&self, values: &'a [R]) -> &'a [R] {
        &values[self.here.clone()]
    }

    /// The values of the eastern neighbours.
    #[inline(always)]
    pub(super) fn east<'a, R>(&self, values: &'a [R]) -> &'a [R] {
        &values[self.east..][..self.here.len()]
    }
}

/// A strip of `count` rows of `nx` cells; a face has the index of the cell to its east.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strip {
    pub(super) nx: usize,
    pub(super) count: usize,
    pub(super) periodic: bool,
}

impl Strip {
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.count * self.nx
    }

    /// All faces but the first one of the strip; then, on a periodic axis, the first face of every row with its true
    /// neighbours. On other axes the values at the first face of a row are meaningless and must not be used.
    #[inline(always)]
    pub(super) fn faces(self) -> impl Iterator<Item = Stretch> {
        let all = Stretch { here: 1..self.len().max(1), west: 0, east: 2 };
        let firsts = self.joined_ends().map(|[first, last]| Stretch::one(first, last, first + 1));
        (!all.here.is_empty()).then_some(all).into_iter().chain(firsts)
    }

    /// All cells but the first and the last one of the strip; then, on a periodic axis, the first and last cell of
    /// every row with their true neighbours. On other axes the caller sets the ends.
    #[inline(always)]
    pub(super) fn cells(self) -> impl Iterator<Item = Stretch> {
        let all = Stretch { here: 1..self.len().max(2) - 1, west: 0, east: 2 };
        let ends = self.joined_ends().flat_map(|[first, last]| {
            let [second, second_last] = [last.min(first + 1), first.max(last.saturating_sub(1))];
            [Stretch::one(first, last, second), Stretch::one(last, second_last, first)]
        });
        (!all.here.is_empty()).then_some(all).into_iter().chain(ends)
    }

    /// The first and the last cell of every row.
    #[inline(always)]
    pub(super) fn ends(self) -> impl Iterator<Item = [usize; 2]> {
        (0..self.count).map(move |row| [row * self.nx, row * self.nx + self.nx - 1])
    }

    /// The first and the last cell of every row on a periodic axis; nothing on other axes.
    #[inline(always)]
    fn joined_ends(self) -> impl Iterator<Item = [usize; 2]> {
        Self { count: if self.periodic { self.count } else { 0 }, ..self }.ends()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last evaluation of each cell of a strip; `None` if there is none.
    fn last_word(
        strip: Strip,
        stretches: impl Iterator<Item = Stretch>,
    ) -> Vec<Option<[usize; 3]>> {
        let places: Vec<usize> = (0..=strip.len()).collect();
        let mut found = vec![None; strip.len()];
        for at in stretches {
            let (west, east) = (at.west(&places), at.east(&places));
            for (n, here) in at.here(&places).iter().enumerate() {
                found[*here] = Some([west[n], *here, east[n]]);
            }
        }
        found
    }

    #[test]
    fn rows_end_where_they_end() {
        for (nx, count) in [(1, 1), (1, 3), (2, 1), (2, 3), (3, 2), (5, 1), (5, 4)] {
            let strip = Strip { nx, count, periodic: true };
            for (here, found) in last_word(strip, strip.cells()).into_iter().enumerate() {
                let first = here / nx * nx;
                let wrapped = |offset| first + (here - first + nx + offset - 1) % nx;
                assert_eq!(found, Some([wrapped(0), here, wrapped(2)]), "{nx} x {count}");
            }
            for (here, found) in last_word(strip, strip.faces()).into_iter().enumerate() {
                let west = if here % nx == 0 { here + nx - 1 } else { here - 1 };
                assert_eq!(found.map(|[west, ..]| west), Some(west), "{nx} x {count}");
            }
            let strip = Strip { periodic: false, ..strip };
            let ends: Vec<usize> = strip.ends().flatten().collect();
            for (here, found) in last_word(strip, strip.cells()).into_iter().enumerate() {
                let is_end = here % nx == 0 || here % nx == nx - 1;
                assert_eq!(ends.contains(&here), is_end, "{nx} x {count}");
                assert!(is_end || found == Some([here - 1, here, here + 1]), "{nx} x {count}");
            }
        }
    }
}
