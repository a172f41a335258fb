//! The Kessler scheme against WRF's own results, and the properties it promises.

#![allow(unreachable_pub, reason = "the modules of a test have no users outside it")]
#![allow(clippy::print_stdout, reason = "figures of a test, shown when it fails or is asked")]

mod in_run;
mod lanes;
mod pair;
mod processes;
mod properties;
mod reference;

use nwp_mini_support as support;
use nwp_mini_support::kessler::{case, judge};
