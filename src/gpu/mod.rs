//! Kernels and their launchers, and all `unsafe` code.

pub mod advection;
pub mod prelude;
