//! `nwp-mini run` for its users: the job, its output file, and rejected input.

mod bad_files;
mod bad_options;
mod blow_up;
mod budget;
mod chemistry;
mod determinism;
mod diagnostics;
mod driver;
mod extreme_input;
mod interrupt;
mod job;
#[cfg(unix)]
mod links;
mod memory;
#[cfg(unix)]
mod names;
mod output;
mod photolysis;
mod refine;
mod storing;
mod tracers;

use nwp_mini_support::files::weights;
use nwp_mini_support::run::{place, result, small, tracers as tracers_file};
