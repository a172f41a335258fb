//! Transposed matrices: rows become columns.
//!
//! Fields have the order `(k, j, i)`. Code for single columns needs `(j, i, k)`, with each column contiguous: that is
//! the transpose of a matrix of `nz` rows and `ny nx` columns, and several fields are a batch of such matrices.

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;

/// Rows and columns of the blocks that are transposed at a time: source and target of a block fit into the L1 cache.
const BLOCK: usize = 32;

/// Elements from which on several threads are faster.
const PARALLEL_ELEMENTS: usize = 1 << 16;

/// Contiguous matrices of one size, in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matrices {
    /// Their number.
    pub count: usize,
    /// Rows of each.
    pub rows: usize,
    /// Columns of each.
    pub columns: usize,
}

impl Matrices {
    /// A single matrix.
    pub fn one(rows: usize, columns: usize) -> Self {
        Self { count: 1, rows, columns }
    }

    /// Fields in the order `(k, j, i)`, whose transposes are in the order `(j, i, k)`.
    pub fn levels(fields: usize, nz: usize, ny: usize, nx: usize) -> Self {
        Self { count: fields, rows: nz, columns: ny * nx }
    }

    /// Matrices after the transpose.
    pub fn transposed(self) -> Self {
        Self { rows: self.columns, columns: self.rows, ..self }
    }

    /// Number of elements of all matrices.
    pub fn len(self) -> usize {
        self.count * self.rows * self.columns
    }

    /// Returns `true` if there are no elements.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    fn check(self, from: usize, to: usize) {
        let Self { count, rows, columns } = self;
        assert_eq!([from, to], [self.len(); 2], "elements of {count} matrices, {rows} x {columns}");
    }
}

/// RxC, or NxRxC for N matrices; none may be 0.
impl FromStr for Matrices {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<usize>> =
            text.split('x').map(|part| part.parse().ok().filter(|n| *n > 0)).collect();
        let matrices = match numbers.as_deref() {
            Some(&[rows, columns]) => Some(Self::one(rows, columns)),
            Some(&[count, rows, columns]) => Some(Self { count, rows, columns }),
            _ => None,
        };
        let elements = |m: &Self| m.count.checked_mul(m.rows)?.checked_mul(m.columns);
        matrices.filter(|m| elements(m).is_some()).ok_or_else(|| {
            format!(
                "\"{text}\" is not an extent; expected rows and columns as 4000x3000, or number, \
                 rows and columns as 6x27x4118"
            )
        })
    }
}

impl fmt::Display for Matrices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, rows, columns } = self;
        if *count != 1 {
            write!(f, "{count}x")?;
        }
        write!(f, "{rows}x{columns}")
    }
}

/// Transposes matrices: element (r, c) of each goes to (c, r).
///
/// # Panics
///
/// When the arrays do not have as many elements as the matrices.
pub fn transpose<T: Copy + Send + Sync>(matrices: Matrices, from: &[T], to: &mut [T]) {
    matrices.check(from.len(), to.len());
    if matrices.is_empty() {
        return;
    }
    let Matrices { rows, columns, .. } = matrices;
    // BLOCK rows of the result are BLOCK columns of the source.
    let stripe = |from: &[T], first: usize, to: &mut [T]| {
        for above in (0..rows).step_by(BLOCK) {
            let below = rows.min(above + BLOCK);
            for (column, to) in (first..).zip(to.chunks_exact_mut(rows)) {
                for (row, to) in (above..).zip(&mut to[above..below]) {
                    *to = from[row * columns + column];
                }
            }
        }
    };
    let matrix = rows * columns;
    if matrices.len() < PARALLEL_ELEMENTS {
        for (from, to) in from.chunks_exact(matrix).zip(to.chunks_exact_mut(matrix)) {
            for (number, to) in to.chunks_mut(BLOCK * rows).enumerate() {
                stripe(from, number * BLOCK, to);
            }
        }
        return;
    }
    from.par_chunks_exact(matrix).zip(to.par_chunks_exact_mut(matrix)).for_each(|(from, to)| {
        let stripes = to.par_chunks_mut(BLOCK * rows).enumerate();
        stripes.for_each(|(number, to)| stripe(from, number * BLOCK, to));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_read_and_written() {
        for (text, [count, rows, columns]) in
            [("4000x3000", [1, 4000, 3000]), ("6x27x4118", [6, 27, 4118])]
        {
            let read: Matrices = text.parse().unwrap();
            assert_eq!(read, Matrices { count, rows, columns });
            assert_eq!(read.to_string(), text);
        }
        for text in ["", "4000", "0x3", "3x-1", "1x2x3x4", "4000X3000", "9999999999x9999999999x9"] {
            assert!(text.parse::<Matrices>().unwrap_err().contains(text), "{text}");
        }
    }
}
