//! Kernels of the microphysics, run on the host thread by thread.
//!
//! In double precision they have the results of the CPU version; in single precision they are as near to those as the
//! CPU version in single precision.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]
#![allow(unreachable_pub, reason = "the modules of a test have no users outside it")]

mod against_cpu;
mod diagnosis;
pub(crate) mod engine;
mod faults;
mod nonfinite_values;
mod places;

use nwp_mini_support::wsm5::{agreement, columns, difference, report, weather};
use nwp_mini_support::{emulator, random};
