//! Idealised cases: the files of `nwp-mini init`, and runs from them.
#![allow(clippy::print_stdout, reason = "tells the figures of src/cases/README.md")]

mod case_properties;
mod clouds;
mod kinematic;
mod refused;
mod story;
mod tracers;

use nwp_mini_support::run::{place, result};
