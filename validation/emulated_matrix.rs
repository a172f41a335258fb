//! Transposes and sparse products, run on the host thread by thread, against plain loops.
#![allow(clippy::float_cmp, reason = "equal bits are what some tests are about")]

#[path = "support/emulator.rs"]
mod emulator;
#[path = "support/products.rs"]
mod products;
#[path = "support/random.rs"]
mod random;

#[path = "emulated_matrix/csr.rs"]
mod csr;
#[path = "emulated_matrix/faults.rs"]
mod faults;
#[path = "emulated_matrix/host.rs"]
mod host;
#[path = "emulated_matrix/patterns.rs"]
mod patterns;
#[path = "emulated_matrix/transpose.rs"]
mod transpose;
