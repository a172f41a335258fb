//! Additional output of a run: fields on another grid, series at points, profiles; and the weights for them.
#![allow(clippy::print_stdout, reason = "tells what was left out")]

mod covered;
mod earth;
mod fields;
mod forms;
mod generated_weights;
mod points;
mod profiles;
mod refused;

use nwp_mini_support::files::weights;
use nwp_mini_support::run::{place, result, small};
use nwp_mini_support::{random, real};
