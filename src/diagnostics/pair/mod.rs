//! How two runs of one case differ, and how far they may.
//!
//! A backend need not repeat the bits of another: what counts is that it is not further from the
//! truth than rounding is. So the limits are made on the spot, out of runs on the CPU that differ
//! by rounding alone.

mod later;
mod sample;
pub mod spread;
#[cfg(test)]
mod tests;
mod verdict;
mod yardstick;

pub use later::{Apart, Totals, judge_later};
pub use sample::Sample;
pub use verdict::{Check, Verdict};
pub use yardstick::{PROBE_UNITS, Yardstick};
