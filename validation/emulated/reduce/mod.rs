//! The reductions of the device and the rungs that lead to them, run on the host, against plain
//! loops and against the CPU version: any length, any place, any order of threads. So are the
//! experiments with memory.
#![allow(clippy::float_cmp, reason = "equal bits are what some tests are about")]

mod faults;
mod host;
mod ladder;
mod memory;
mod segments;

use nwp_mini_support::{emulator, random};

use random::Random;

/// Lengths below, at and beyond a load, a warp, a block and a grid of the tests.
const LENGTHS: [usize; 13] = [0, 1, 2, 3, 5, 31, 64, 127, 256, 600, 1021, 2048, 9001];

/// Integers of both signs, small enough for exact sums.
fn whole(random: &mut Random, count: usize) -> Vec<i32> {
    (0..count).map(|_| (random.bits() % 33) as i32 - 16).collect()
}
