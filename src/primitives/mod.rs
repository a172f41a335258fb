//! Reductions, transposes, sparse matrices and the solver that is made of them; they know nothing of
//! weather.

pub mod conjugate_gradient;
pub mod csr;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod matrices;
pub mod moments;
pub mod reduce;
pub mod row_tiles;
pub mod transpose;
