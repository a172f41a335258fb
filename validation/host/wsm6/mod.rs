//! WSM6 against WRF's own results, and the properties it promises.

#![allow(unreachable_pub, reason = "the modules of a test have no users outside it")]
#![allow(clippy::print_stdout, reason = "figures of a test, shown when it fails or is asked")]

mod properties;
mod reference;
mod worked_example;

use nwp_mini_support::wsm6::{case, judge};
