//! Reductions, sparse matrices and the solver that is made of them; they know nothing of weather.

pub mod conjugate_gradient;
pub mod csr;
pub mod reduce;
