//! The launchers of `kernels/primitives/`.

#![allow(unsafe_code, reason = "the launcher of a kernel is responsible for its arguments")]

pub mod arguments;
pub mod arithmetic;
pub mod conjugate_gradient;
pub mod csr;
pub mod memory;
pub mod multigrid;
pub mod reduce;
pub mod sampling;
mod sums;
pub mod transpose;
