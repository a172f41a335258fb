//! Reductions, exact sums and sums in fixed point, transposes, sparse matrices and their solver, independent of weather.
//!
//! # Decisions
//!
//! **A reduction is one launch** (`gpu/reduce`, `kernels/primitives/reduce/segment.cuh`). Each block stores its partial
//! sum, and the last block to finish, determined by an integer counter, adds the partial sums in order. So the bits are
//! the same in every run, and the counter is the only atomic operation. The lower rungs of the ladder are kept for
//! teaching and are used by `bench reduce` alone.
//!
//! **The bench adds integers.** They are as often positive as negative, and single precision holds every partial sum
//! exactly: any order of addition gives the same bits, so the check is for equality.
//!
//! **The kernel of a sparse product is selected by the rows of the matrix** (`gpu/csr/rung`). Short rows get a thread
//! each, a few long rows among them two bins, long rows or several vectors tiles. A list of tiles computed once for a
//! matrix (`row_tiles`) gives every block whole rows with about equal numbers of entries. A row longer than a tile is
//! cut, and a second kernel adds its pieces; all other sums stay within a block. No atomic operation adds, so that the
//! bits depend on the matrix alone.
//!
//! **`(k, j, i)` to `(j, i, k)` is a matrix transpose.** The matrix has nz rows and ny nx columns. Three kernels are in
//! use, selected by the alignment of the rows and their number (`gpu/transpose`); the other rungs of the ladder are for
//! study and comparison.

pub mod conjugate_gradient;
pub mod csr;
pub mod exact_sum;
#[cfg(feature = "gpu")]
pub mod gpu;
pub(crate) mod interpolation;
pub mod matrices;
pub mod moments;
pub mod multigrid;
pub mod reduce;
pub mod row_tiles;
pub mod sums;
pub mod transpose;
