//! Differences of two runs of one case, and their limits.
//!
//! A backend need not repeat the bits of another, but its error may only be that of rounding. So the limits come from
//! runs of the same case on the CPU that differ by rounding alone.
//!
//! # Decisions
//!
//! **Limits of one step come from runs on the CPU.** The errors of the first step, relative to a step in double
//! precision, are compared with those of four runs, which start from the state and from states shifted by one ULP. The
//! largest error is judged only if the microphysics has one minor step a step, and only in steady columns, in which
//! neither these runs nor three more, shifted by 4 ULP, take another branch: 4.4 % of the columns of `soc.nc` take
//! another branch of the scheme by rounding alone, in double precision too. The number of such columns that one more
//! run would find is estimated from the number that only one run has found, and is allowed for.
//!
//! **Limits of many steps come from two pairs of runs.** One pair starts 1 ULP apart; in the other one run is perturbed
//! by 1 ULP at random before every step. The limit is four times the larger difference. The first pair alone would
//! reject correct backends: a scheme that damps an initial disturbance does not damp the rounding of every step. With
//! sub-stepped sedimentation, after 60 steps of 60 s on `soc.nc`, the rms difference of the rain water of a randomly
//! perturbed CPU run is 66 times what the first pair admits. Single columns that take another branch outweigh all
//! others, so the root mean square omits the largest hundredth of the differences, and the limit of a sum of rain
//! allows for independent columns. One per cent of a process exceeds the limits after one step, for every process that
//! acts in more than a few columns (`validation/host/pair`).

mod long_run;
mod rounding_reference;
mod run_state;
pub(crate) mod spread;
#[cfg(test)]
mod tests;
mod verdict;

pub use long_run::{RunSpread, Totals, judge_later};
pub use rounding_reference::RoundingReference;
pub use run_state::RunState;
pub use verdict::{Check, Verdict};
