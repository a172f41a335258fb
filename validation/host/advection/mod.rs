//! Transport of tracers against WRF's own results, and the properties it promises.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]
#![allow(clippy::float_cmp, reason = "equal bits are what some tests are about")]
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small indices")]

mod command;
mod properties;
mod reference;
mod small;
mod wrf_form;

use nwp_mini_support as support;
use nwp_mini_support::advection::{case, random_cases};
