//! Sparse matrices of the kinds that weather models use, of any size, for measuring products.
//!
//! Values and vectors are small multiples of powers of two: all sums of their products are exact, in any order and in
//! both precisions, so that every correct product has the same bits.

use super::csr::Csr;
use crate::error::Result;
use crate::real::Real;

/// A kind of matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bilinear interpolation from a square grid to a finer one: four entries a row.
    Interpolation,
    /// Each cell of a box and the six cells that share a face with it.
    SevenPoint,
    /// Each cell of a box and the 26 cells around it.
    TwentySevenPoint,
    /// One row in 64 has 256 entries, far apart; the others have three.
    Skewed,
    /// Each column of a grid and the four beside it: the pattern of the wind projection.
    Projection,
    /// One row has a million entries, all others one.
    LongRow,
    /// One row in four has four entries, the others are empty.
    EmptyRows,
}

/// Rows between two long rows of the skewed matrix.
const PERIOD: usize = 64;
/// Entries of a long row and of another row.
const ENTRIES: [usize; 2] = [256, 3];
/// Distance between the columns of a long row.
const APART: usize = 37;
/// The columns of the longest row: so many of every so many, those whose operand is least, so that its sum is exact.
const OF_THE_LONGEST: [usize; 2] = [2, 16];
/// Rows from one that is not empty to the next, and its entries.
const FILLED: usize = 4;

impl Kind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Interpolation,
        Self::SevenPoint,
        Self::TwentySevenPoint,
        Self::Skewed,
        Self::Projection,
        Self::LongRow,
        Self::EmptyRows,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interpolation => "interpolation",
            Self::SevenPoint => "stencil-7",
            Self::TwentySevenPoint => "stencil-27",
            Self::Skewed => "skewed",
            Self::Projection => "projection",
            Self::LongRow => "long-row",
            Self::EmptyRows => "empty-rows",
        }
    }

    /// The matrix of the size for measurements: 1 to 8 Mi rows.
    ///
    /// # Errors
    ///
    /// None: the error is that of a checked constructor.
    pub fn large<R: Real>(self) -> Result<Csr<R>> {
        match self {
            Self::Interpolation => interpolation(1024, 2048),
            Self::SevenPoint => stencil([256, 128, 128], false),
            Self::TwentySevenPoint => stencil([128, 128, 128], true),
            Self::Skewed => skewed(1 << 22),
            Self::Projection => stencil([1024, 1024, 1], false),
            Self::LongRow => long_row(1 << 23),
            Self::EmptyRows => empty_rows(1 << 22),
        }
    }
}

/// Steps between values of entries and of vectors, powers of two, so that sums are exact.
const ENTRY_STEP: f64 = 1.0 / 8.0;
/// See [`ENTRY_STEP`].
const OPERAND_STEP: f64 = 1.0 / 16.0;

/// Value of an entry: 1/2 to 11/8.
fn value<R: Real>(entry: usize) -> R {
    R::of(0.5 + ENTRY_STEP * (entry % 8) as f64)
}

/// A vector with values from 0 to 15/16.
pub fn operand<R: Real>(columns: usize) -> Vec<R> {
    (0..columns).map(|column| R::of(OPERAND_STEP * (column % 16) as f64)).collect()
}

/// A matrix from a function that appends the columns of a row.
fn matrix<R: Real>(
    rows: usize,
    columns: usize,
    mut row: impl FnMut(usize, &mut Vec<u32>),
) -> Result<Csr<R>> {
    let (mut starts, mut column_of) = (vec![0], Vec::new());
    for number in 0..rows {
        row(number, &mut column_of);
        starts.push(column_of.len());
    }
    let values = (0..column_of.len()).map(value).collect();
    Csr::from_parts(columns, starts, column_of, values)
}

/// Bilinear interpolation from `from` x `from` points to `to` x `to` that span the same square.
///
/// # Errors
///
/// As [`Kind::large`].
///
/// # Panics
///
/// With fewer than two points a side.
pub fn interpolation<R: Real>(from: usize, to: usize) -> Result<Csr<R>> {
    assert!(from >= 2 && to >= 2, "{from} and {to} points, two at least");
    let below = |point: usize| (point * (from - 1) / (to - 1)).min(from - 2);
    matrix(to * to, from * from, |row, column_of| {
        let corner = below(row / to) * from + below(row % to);
        column_of.extend([0, 1, from, from + 1].map(|step| (corner + step) as u32));
    })
}

/// Each cell of a box of `[nx, ny, nz]` cells with its neighbours, with or without those at edges and corners.
///
/// # Errors
///
/// As [`Kind::large`].
pub fn stencil<R: Real>([nx, ny, nz]: [usize; 3], has_corners: bool) -> Result<Csr<R>> {
    let near = |x: usize, n: usize| x.saturating_sub(1)..n.min(x + 2);
    matrix(nx * ny * nz, nx * ny * nz, |row, column_of| {
        let (i, j, k) = (row % nx, row / nx % ny, row / nx / ny);
        for other_k in near(k, nz) {
            for other_j in near(j, ny) {
                for other_i in near(i, nx) {
                    let away = i.abs_diff(other_i) + j.abs_diff(other_j) + k.abs_diff(other_k);
                    if has_corners || away <= 1 {
                        column_of.push(((other_k * ny + other_j) * nx + other_i) as u32);
                    }
                }
            }
        }
    })
}

/// A square matrix of which one row in 64 has 256 entries, far apart, and the others have three; small matrices have
/// fewer.
///
/// # Errors
///
/// As [`Kind::large`].
pub fn skewed<R: Real>(rows: usize) -> Result<Csr<R>> {
    matrix(rows, rows, |row, column_of| {
        let is_long = row.is_multiple_of(PERIOD);
        let entries = ENTRIES[usize::from(!is_long)].min(rows);
        let most_apart = if entries > 1 { (rows - 1) / (entries - 1) } else { 1 };
        let apart = if is_long { APART.min(most_apart) } else { 1 };
        let last = rows - 1 - (entries - 1) * apart;
        let first = row.saturating_sub(entries / 2 * apart).min(last);
        column_of.extend((0..entries).map(|n| (first + n * apart) as u32));
    })
}

/// A square matrix with an entry in every row but the first, which has one in eight columns.
///
/// # Errors
///
/// As [`Kind::large`].
pub fn long_row<R: Real>(rows: usize) -> Result<Csr<R>> {
    let [of, every] = OF_THE_LONGEST;
    matrix(rows, rows, |row, column_of| {
        let all = if row == 0 { 0..rows } else { row..row + 1 };
        column_of.extend(all.filter(|column| row > 0 || column % every < of).map(|c| c as u32));
    })
}

/// A square matrix of which one row in four has four entries, or fewer at the end, and the others none.
///
/// # Errors
///
/// As [`Kind::large`].
pub fn empty_rows<R: Real>(rows: usize) -> Result<Csr<R>> {
    matrix(rows, rows, |row, column_of| {
        if row.is_multiple_of(FILLED) {
            column_of.extend((row..rows.min(row + FILLED)).map(|column| column as u32));
        }
    })
}

/// The pattern of a matrix, with values whose sums are exact.
///
/// # Errors
///
/// As [`Kind::large`].
pub fn of_pattern<R: Real>(of: &Csr<f64>) -> Result<Csr<R>> {
    let (starts, column_of) = (of.starts().to_vec(), of.column_of().to_vec());
    let values = (0..of.nonzeros()).map(value).collect();
    Csr::from_parts(of.columns(), starts, column_of, values)
}
