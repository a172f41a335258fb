//! Differences of two runs of one case, and their limits.
//!
//! A backend need not repeat the bits of another; it may not be further from the truth than rounding. So the limits
//! come from runs on the CPU of the same case that differ by rounding alone.
//!
//! # Decisions
//!
//! **Limits of one step come from runs on the CPU.** The errors of the first step, relative to a step in double
//! precision, are compared with those of four runs, from the state and from the state shifted by one ULP. The largest
//! error is judged where the microphysics takes the step in one minor step, and only in columns in which none of these
//! runs, nor three more shifted by 4 ULP, takes another branch: 4.4 % of the columns of `soc.nc` take another branch of
//! the scheme by rounding alone, in double precision too. The allowance for such columns is extended by the number that
//! one more run would find, estimated from those that only one run has found.
//!
//! **Limits of many steps come from two pairs of runs.** One pair starts 1 ULP apart; in the other one run is perturbed
//! by 1 ULP at random before every step. A difference may be four times the larger of the two. The first pair alone
//! would refuse correct backends: a scheme that damps an initial disturbance does not damp the rounding of every step.
//! With sub-stepped sedimentation, 60 steps of 60 s on `soc.nc`, the rain water of a randomly perturbed CPU run
//! differs, by its rms, 66 times as much as the first pair admits. For the same reason the root mean square leaves out
//! the largest hundredth, and a sum of rain may differ by the sum over independent columns: single columns that take
//! another branch outweigh all others. One per cent of a process exceeds the limits after one step, for every process
//! that acts in more than a few columns (`validation/host/pair`).

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
