//! `nwp-mini plot` and the page of `run --report`: pictures hold what they should, in numbers, words
//! and colours, and what cannot be drawn is said.

mod earth;
mod files;
mod page;
mod pictures;
mod refused;

use nwp_mini_support::run::{place, small};
