//! Cloud microphysics against WRF's own results, process by process and as a whole, and the
//! properties it promises.

#![allow(unreachable_pub, reason = "the modules of a test have no users outside it")]
#![allow(clippy::print_stdout, reason = "figures of a test, shown when it fails or is asked")]

mod command;
mod comparison;
mod fall;
mod levels;
mod one_lane;
mod processes;
mod properties;
mod rates;
mod reference;
mod refused;
mod simd_lanes;
mod stored;
mod values;

use nwp_mini_support as support;
use nwp_mini_support::wsm5::{case, judge, oracle, parameters, weather, yardstick};
