//! LU factors of a sparse matrix and solutions with them, as lists of operations for all cells.
//!
//! A = L U by row-wise Gaussian elimination without pivoting: the diagonal of I/(hγ) - J is large if the step is small,
//! and a step that is too large is rejected by its error. L has a unit diagonal; both factors overwrite A, on a pattern
//! that includes the fill. The pattern depends on the mechanism only, so that the positions of all operands are listed
//! once, and a factorisation follows the lists without searching.
//!
//! Row k of A has entries in columns j < k. For each, in ascending order, the multiple m = aₖⱼ / uⱼⱼ of row j is
//! subtracted from row k; this makes the entry zero, and m, which belongs to L, is stored in its position.

use std::ops::Range;

use super::lanes::{Row, each};
use super::ordering::Pattern;

/// Maximum number of products of a factorisation, that of a full matrix of 390 rows.
pub const MOST_PRODUCTS: usize = 20_000_000;

/// The message for a mechanism whose factors are too large.
pub(crate) fn too_dense() -> String {
    format!("the factors of its Jacobian need more than {MOST_PRODUCTS} products a step")
}

/// Lists of operations of a factorisation and of solutions.
#[derive(Clone, Debug)]
pub struct SparseLu {
    /// First entry of every row, and the number of all entries.
    pub row_start: Vec<u32>,
    /// Column of every entry, ascending in each row.
    pub column: Vec<u32>,
    /// Entry on the diagonal of every row.
    pub diagonal: Vec<u32>,
    /// For each entry left of the diagonal in order, and each entry of U in the row of its column right of the
    /// diagonal: the position in the current row that the product is subtracted from.
    pub target: Vec<u32>,
    /// First target of every row.
    pub target_start: Vec<u32>,
}

impl SparseLu {
    /// Computes the lists for a pattern that includes all fill.
    ///
    /// # Errors
    ///
    /// A message if there are more than [`MOST_PRODUCTS`] products.
    pub fn new(filled: &Pattern) -> Result<Self, String> {
        let n = filled.size();
        let mut row_start = vec![0];
        let (mut column, mut diagonal) = (Vec::new(), Vec::new());
        for row in 0..n {
            for entry in filled.row(row) {
                if entry == row {
                    diagonal.push(column.len() as u32);
                }
                column.push(entry as u32);
            }
            row_start.push(column.len() as u32);
        }
        let mut lu =
            Self { row_start, column, diagonal, target: Vec::new(), target_start: Vec::new() };
        let products: usize = lu.eliminations().map(|(_, j)| lu.upper(j).len()).sum();
        if products > MOST_PRODUCTS {
            return Err(too_dense());
        }
        let mut target = Vec::with_capacity(products);
        let mut place = vec![0_u32; n];
        for row in 0..n {
            lu.target_start.push(target.len() as u32);
            let columns = &lu.column[lu.row(row)];
            columns.iter().enumerate().for_each(|(i, &c)| place[c as usize] = i as u32);
            for &j in &lu.column[lu.lower(row)] {
                target.extend(lu.upper(j as usize).map(|entry| place[lu.column[entry] as usize]));
            }
        }
        lu.target = target;
        Ok(lu)
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.diagonal.len()
    }

    /// Number of entries of both factors.
    pub fn entries(&self) -> usize {
        self.column.len()
    }

    /// Quotients and products of a factorisation.
    pub fn operations(&self) -> (usize, usize) {
        (self.eliminations().count(), self.target.len())
    }

    /// The entry of a row and a column.
    pub fn entry(&self, row: usize, column: usize) -> Option<usize> {
        let entries = self.row(row);
        let found = self.column[entries.clone()].binary_search(&(column as u32));
        found.ok().map(|i| entries.start + i)
    }

    /// Entries of a row.
    pub fn row(&self, row: usize) -> Range<usize> {
        self.row_start[row] as usize..self.row_start[row + 1] as usize
    }

    /// Entries of L in a row, left of the diagonal.
    pub fn lower(&self, row: usize) -> Range<usize> {
        self.row_start[row] as usize..self.diagonal[row] as usize
    }

    /// Entries of U in a row, right of the diagonal.
    pub fn upper(&self, row: usize) -> Range<usize> {
        self.diagonal[row] as usize + 1..self.row_start[row + 1] as usize
    }

    /// The order of the rows in a solution, and for each the entries whose products are subtracted, beginning with the x
    /// that is computed first: down with L, or up with U.
    #[cfg(feature = "gpu")]
    pub(super) fn substitution(&self, is_down: bool) -> Vec<(usize, Vec<usize>)> {
        let rows = 0..self.size();
        if is_down {
            rows.map(|row| (row, self.lower(row).collect())).collect()
        } else {
            rows.rev().map(|row| (row, self.upper(row).rev().collect())).collect()
        }
    }

    /// Rows and the earlier columns of their entries, in the order of elimination.
    fn eliminations(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.size()).flat_map(move |row| {
            self.lower(row).map(move |entry| (row, self.column[entry] as usize))
        })
    }
}

impl SparseLu {
    /// Eliminates a row of a matrix, for the cells of all lanes; the rows above are factors already. Returns the
    /// absolute value of the pivot, whose inverse is stored.
    #[inline(always)]
    pub(crate) fn eliminate(&self, row: usize, matrix: &mut [Row], inverse: &mut [Row]) -> Row {
        let start = self.row_start[row] as usize;
        let diagonal = self.diagonal[row] as usize;
        let (above, rest) = matrix.split_at_mut(start);
        let current = &mut rest[..self.row_start[row + 1] as usize - start];
        let mut targets = &self.target[self.target_start[row] as usize..];
        for (place, &column) in self.column[start..diagonal].iter().enumerate() {
            let column = column as usize;
            let (value, pivot) = (current[place], inverse[column]);
            let multiple: Row = each(|lane| value[lane] * pivot[lane]);
            current[place] = multiple;
            let upper = &above[self.upper(column)];
            let (now, later) = targets.split_at(upper.len());
            targets = later;
            for (&target, factor) in now.iter().zip(upper) {
                let entry = &mut current[target as usize];
                let before = *entry;
                *entry = each(|lane| (-multiple[lane]).mul_add(factor[lane], before[lane]));
            }
        }
        let pivot = current[diagonal - start];
        inverse[row] = each(|lane| 1.0 / pivot[lane]);
        each(|lane| pivot[lane].abs())
    }

    /// Solves L U x = b in place.
    #[inline(always)]
    pub fn solve(&self, factors: &[Row], inverse: &[Row], x: &mut [Row]) {
        for row in 0..self.size() {
            x[row] = self.reduced(factors, x, row, self.lower(row));
        }
        for row in (0..self.size()).rev() {
            // The x that was computed first comes first.
            let entries = self.upper(row).rev();
            let (sum, pivot) = (self.reduced(factors, x, row, entries), inverse[row]);
            x[row] = each(|lane| sum[lane] * pivot[lane]);
        }
    }

    /// x of a row minus the products of entries with the x of their columns.
    #[inline(always)]
    fn reduced(
        &self,
        factors: &[Row],
        x: &[Row],
        row: usize,
        entries: impl Iterator<Item = usize>,
    ) -> Row {
        let mut sum = x[row];
        for entry in entries {
            let (factor, before) = (&factors[entry], sum);
            let other = x[self.column[entry] as usize];
            sum = each(|lane| (-factor[lane]).mul_add(other[lane], before[lane]));
        }
        sum
    }
}
