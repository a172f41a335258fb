//! The Wilson operator of lattice quantum chromodynamics, as a benchmark of the kernel library that is
//! a computation of its own: quark fields of 24 reals a site, links of 18, and a solver.
//!
//! `(D psi)(x) = sum over mu of (1 - g_mu) U_mu(x) psi(x + mu) + (1 + g_mu) U_mu(x - mu)† psi(x - mu)`,
//! with the gamma matrices of DeGrand and Rossi. `M = 1 - kappa D`. D couples sites of opposite parity
//! only, so that `M x = b` is solved on even sites by `M_hat = 1 - kappa² D_eo D_oe`.
//!
//! Nothing here knows of weather.

pub mod checkerboard;
pub mod dirac;
pub mod gauge;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod half_spinor;
pub mod link;
pub mod number;
pub mod operator;
pub mod solver;
pub mod virtual_nodes;

pub use checkerboard::{DIRECTIONS, Extents, LINK_REALS, Parity, SPINOR_REALS};
pub use dirac::{Dirac, GaugeField, Stop};
pub use operator::CpuDirac;
pub use solver::{Corrected, Solution, defect_correction, solve};
