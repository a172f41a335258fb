//! Sparse matrices in compressed sparse rows (CSR).

use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::real::Real;

/// Fewest rows that a thread takes.
const BLOCK: usize = 512;

/// Entries from which on several threads are faster.
const PARALLEL_ENTRIES: usize = 1 << 16;

/// A matrix in compressed sparse rows.
///
/// Row r holds the entries `starts[r]..starts[r + 1]`, in rising order of their columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<R> {
    columns: usize,
    starts: Vec<usize>,
    column_of: Vec<u32>,
    values: Vec<R>,
}

impl<R: Real> Csr<R> {
    /// A matrix from its arrays, which are checked.
    ///
    /// `starts` has one entry more than there are rows, from 0 to the number of entries;
    /// `column_of` and `values` hold the entries, each row in rising order of its columns.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] when the arrays do not fit each other, when `starts` decreases, when a
    /// column is out of range, repeated or out of order, or when a value is not finite.
    pub fn from_parts(
        columns: usize,
        starts: Vec<usize>,
        column_of: Vec<u32>,
        values: Vec<R>,
    ) -> Result<Self> {
        let entries = values.len();
        if column_of.len() != entries {
            let found = column_of.len();
            return Err(invalid(&format!("{found} column indices for {entries} values")));
        }
        if starts.first() != Some(&0) || starts.last() != Some(&entries) {
            return Err(invalid(&format!(
                "row starts from {:?} to {:?}; they must run from 0 to {entries}, the number of \
                 entries",
                starts.first(),
                starts.last()
            )));
        }
        if let Some(row) = starts.windows(2).position(|pair| pair[0] > pair[1]) {
            let (from, to) = (starts[row], starts[row + 1]);
            return Err(invalid(&format!(
                "row {row} starts at entry {from} and ends at {to}; row starts must not decrease"
            )));
        }
        let matrix = Self { columns, starts, column_of, values };
        for row in 0..matrix.rows() {
            let mut next = 0;
            for at in matrix.entries_of(row) {
                let (column, value) = (matrix.column_of[at] as usize, matrix.values[at]);
                check_index("column", column, columns)?;
                if column < next {
                    return Err(invalid(&format!(
                        "column {column} of row {row} is repeated or out of order; build the \
                         matrix from triplets"
                    )));
                }
                if !value.is_finite() {
                    return Err(invalid(&format!(
                        "the value of row {row}, column {column} is {value}; it must be finite"
                    )));
                }
                next = column + 1;
            }
        }
        Ok(matrix)
    }

    /// A matrix of (row, column, value) triplets in any order. Triplets for the same entry are added, in double
    /// precision and in their order.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] when an index is out of range or a value is not finite.
    pub fn from_triplets(
        rows: usize,
        columns: usize,
        triplets: &[(usize, usize, R)],
    ) -> Result<Self> {
        if u32::try_from(columns).is_err() {
            return Err(invalid(&format!("{columns} columns; indices have 32 bits")));
        }
        let mut ends = vec![0; rows + 1];
        for &(row, column, _) in triplets {
            check_index("row", row, rows)?;
            check_index("column", column, columns)?;
            ends[row + 1] += 1;
        }
        for row in 0..rows {
            ends[row + 1] += ends[row];
        }
        // Triplets go to their rows in order; `ends[row]` moves from the start of the row to its end.
        let mut sorted = vec![(0, 0.0); triplets.len()];
        for &(row, column, value) in triplets {
            sorted[ends[row]] = (column, value.f64());
            ends[row] += 1;
        }
        let (mut starts, mut column_of, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut from = 0;
        for &to in &ends[..rows] {
            let row = &mut sorted[from..to];
            row.sort_by_key(|&(column, _)| column);
            for same in row.chunk_by(|a, b| a.0 == b.0) {
                column_of.push(same[0].0 as u32);
                values.push(R::of(same.iter().map(|&(_, value)| value).sum()));
            }
            starts.push(values.len());
            from = to;
        }
        Self::from_parts(columns, starts, column_of, values)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of stored entries.
    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// Starts of the rows among the entries; one more than there are rows.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Column of every entry.
    pub fn column_of(&self) -> &[u32] {
        &self.column_of
    }

    /// Value of every entry.
    pub fn values(&self) -> &[R] {
        &self.values
    }

    /// The entries at equal row and column, 0 where none is stored.
    pub fn diagonal(&self) -> Vec<R> {
        let entry = |row: usize| {
            let mut entries = self.entries_of(row);
            let at = entries.find(|&at| self.column_of[at] as usize == row);
            at.map_or(R::ZERO, |at| self.values[at])
        };
        (0..self.rows().min(self.columns)).map(entry).collect()
    }

    /// The product of the matrix and a vector, `y = A x`.
    ///
    /// Each row is summed in the order of its columns, so the result has the same bits on any
    /// number of threads; its error is at most `n u Σ|a x|` for n entries in the row and the
    /// unit roundoff u of `R`.
    ///
    /// # Panics
    ///
    /// When the vectors do not have the lengths of a row and of a column.
    pub fn multiply(&self, x: &[R], y: &mut [R]) {
        if self.nonzeros() < PARALLEL_ENTRIES {
            return self.multiply_serial(x, y);
        }
        self.check_lengths(x.len(), y.len());
        y.par_chunks_mut(BLOCK)
            .enumerate()
            .for_each(|(block, y)| self.multiply_rows(block * BLOCK, x, y));
    }

    /// [`Csr::multiply`] on the calling thread alone.
    ///
    /// # Panics
    ///
    /// When the vectors do not have the lengths of a row and of a column.
    pub fn multiply_serial(&self, x: &[R], y: &mut [R]) {
        self.check_lengths(x.len(), y.len());
        self.multiply_rows(0, x, y);
    }

    /// Products with several contiguous vectors, `y = A x` for each; the bits are those of [`Csr::multiply`].
    ///
    /// # Panics
    ///
    /// When the lengths are not equal multiples of those of a row and of a column.
    pub fn multiply_several(&self, x: &[R], y: &mut [R], vectors: usize) {
        let (rows, columns) = (self.rows(), self.columns);
        assert_eq!([x.len(), y.len()], [columns * vectors, rows * vectors], "{vectors} vectors");
        if rows == 0 {
            return;
        }
        // The unit of work is a block of rows of one vector, so that few long and many short vectors are balanced.
        let is_small = self.nonzeros() * vectors < PARALLEL_ENTRIES;
        let block = |(number, y): (usize, &mut [R])| {
            let blocks = rows.div_ceil(BLOCK);
            let x = &x[number / blocks * columns..][..columns];
            self.multiply_rows(number % blocks * BLOCK, x, y);
        };
        if is_small {
            y.chunks_mut(rows).flat_map(|y| y.chunks_mut(BLOCK)).enumerate().for_each(block);
        } else {
            let blocks: Vec<_> =
                y.chunks_mut(rows).flat_map(|y| y.chunks_mut(BLOCK)).enumerate().collect();
            blocks.into_par_iter().for_each(block);
        }
    }

    /// The transposed matrix.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] when 32-bit column indices cannot hold the number of rows.
    pub fn transposed(&self) -> Result<Self> {
        let rows = self.rows();
        if u32::try_from(rows).is_err() {
            return Err(invalid(&format!("{rows} rows to become columns; indices have 32 bits")));
        }
        let mut starts = vec![0; self.columns + 1];
        for &column in &self.column_of {
            starts[column as usize + 1] += 1;
        }
        for column in 0..self.columns {
            starts[column + 1] += starts[column];
        }
        // Rows are visited in order, so the columns of each transposed row are in order.
        let mut next = starts.clone();
        let mut column_of = vec![0; self.nonzeros()];
        let mut values = vec![R::ZERO; self.nonzeros()];
        for row in 0..rows {
            for at in self.entries_of(row) {
                let place = &mut next[self.column_of[at] as usize];
                (column_of[*place], values[*place]) = (row as u32, self.values[at]);
                *place += 1;
            }
        }
        Ok(Self { columns: rows, starts, column_of, values })
    }

    /// The product of the transposed matrix and a vector, `y = Aᵀ x`, on the calling thread.
    ///
    /// Each entry of `y` is summed in the order of the rows. For many products, compute [`Csr::transposed`] once: it
    /// multiplies on all threads.
    ///
    /// # Panics
    ///
    /// When the vectors do not have the lengths of a column and of a row.
    pub fn multiply_transposed(&self, x: &[R], y: &mut [R]) {
        self.check_lengths(y.len(), x.len());
        y.fill(R::ZERO);
        for (row, &factor) in x.iter().enumerate() {
            for at in self.entries_of(row) {
                y[self.column_of[at] as usize] += self.values[at] * factor;
            }
        }
    }

    /// Rows of the product from `first` on, as many as `y` has elements.
    pub(super) fn multiply_rows(&self, first: usize, x: &[R], y: &mut [R]) {
        for (y, row) in y.iter_mut().zip(first..) {
            let entries = self.entries_of(row);
            let columns = &self.column_of[entries.clone()];
            let mut sum = R::ZERO;
            for (&value, &column) in self.values[entries].iter().zip(columns) {
                sum += value * x[column as usize];
            }
            *y = sum;
        }
    }

    fn entries_of(&self, row: usize) -> Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    fn check_lengths(&self, row: usize, column: usize) {
        let (rows, columns) = (self.rows(), self.columns);
        assert_eq!((column, row), (rows, columns), "vectors for a {rows} x {columns} matrix");
    }
}

fn check_index(what: &str, index: usize, count: usize) -> Result<()> {
    if index < count {
        return Ok(());
    }
    Err(invalid(&format!("{what} {index} of a matrix with {count} {what}s; they count from 0")))
}

fn invalid(message: &str) -> Error {
    Error::input(Path::new("sparse matrix"), message)
}
