//! The Wilson operator of lattice quantum chromodynamics, a benchmark of the kernel library with an independent
//! computation: quark fields of 24 reals a site, links of 18, and a solver.
//!
//! `(D psi)(x) = sum over mu of (1 - g_mu) U_mu(x) psi(x + mu) + (1 + g_mu) U_mu(x - mu)† psi(x - mu)`,
//! with the gamma matrices of DeGrand and Rossi. `M = 1 - kappa D`. D couples sites of opposite parity
//! only, so that `M x = b` is solved on even sites by `M_hat = 1 - kappa² D_eo D_oe`.
//!
//! This module is independent of weather.
//!
//! # Decisions
//!
//! **The operator has the same bits on CPU and GPU,** in the basis and with the links of the file: every product in a
//! sum is an explicit fused multiply-add, in one order (`link`). Formulas are templates over direction and sign, which
//! the sweep of twins cannot call; `validation/gpu/lattice` compares whole operators instead. On the CPU the
//! lattice is cut into sixteen equal parts, one for each lane of a register (`virtual_nodes`), so that data crosses
//! lanes only at the border of the parts. GPU kernels are compiled for the extents: index computations need no
//! division, and in chunks of 32 sites all loads of a spinor have constant offsets from one address (`gpu/kernel_config`).

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
pub use solver::{Corrected, Solution, defect_correction, solve, solve_to_the_residual};
