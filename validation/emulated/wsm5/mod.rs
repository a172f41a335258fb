//! Kernels of the microphysics, run on the host thread by thread.
//!
//! In double precision they have the results of the CPU version; in single precision they are as near to those as the
//! CPU version in single precision.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]
#![allow(unreachable_pub, reason = "the modules of a test have no users outside it")]

pub(crate) mod clouds;
mod diagnosis;
mod faults;
mod flaws;
mod places;
mod same;

use nwp_mini_support::wsm5::{agreement, columns, difference, report, weather};
use nwp_mini_support::{emulator, random};
