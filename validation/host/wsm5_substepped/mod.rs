//! The microphysics with sub-stepped fall: against WRF of July 2008, against
//! two published columns, and the properties it promises.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]
#![allow(unreachable_pub, reason = "the modules of a test have no users outside it")]

mod command;
mod properties;
mod reference;
mod values;

use nwp_mini_support as support;
use nwp_mini_support::wsm5::{case, judge as limits, substepped as judge, variant};
