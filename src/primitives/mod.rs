//! Reductions, transposes, sparse matrices and the solver that is made of them; they know nothing of
//! weather.
//!
//! # Decisions
//!
//! **A reduction is one launch** (`gpu/reduce`, `kernels/primitives/reduce/segment.cuh`). Each block stores its partial
//! sum, and the last one to finish, found by an integer counter, adds the partial sums in their order. So the bits do
//! not depend on the run, and there is no other atomic operation. The lower rungs of the ladder are kept for learning
//! and are used by `bench reduce` alone.
//!
//! **The bench adds whole numbers.** They are as many positive as negative, and single precision holds every sum
//! exactly: any order of addition has to give the same bits, and the check is one for equality.
//!
//! **The kernel of a sparse product is chosen by the rows** (`gpu/csr/rung`). Short rows get a thread each, a few long
//! rows among them two bins, long rows or several vectors tiles. A list of tiles computed once for a matrix
//! (`row_tiles`) gives every block whole rows with about equal numbers of entries; a row longer than a tile is cut, and
//! a second kernel adds its pieces. Otherwise no sum crosses blocks, and no atomic operation adds, so that the bits
//! depend on the matrix alone.
//!
//! **`(k, j, i)` to `(j, i, k)` is a matrix transpose.** The matrix has nz rows and ny nx columns. Three kernels do
//! transposes, by the alignment of the rows and their number (`gpu/transpose`); the other rungs of the ladder are for
//! reading and timing.

pub mod conjugate_gradient;
pub mod csr;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod matrices;
pub mod moments;
pub mod reduce;
pub mod row_tiles;
pub mod transpose;
