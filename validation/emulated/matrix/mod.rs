//! Transposes and sparse products, run on the host thread by thread, against plain loops.
#![allow(clippy::float_cmp, reason = "equal bits are what some tests are about")]

mod csr;
mod faults;
mod host;
mod patterns;
mod transpose;

use nwp_mini_support::{emulator, products, random};
