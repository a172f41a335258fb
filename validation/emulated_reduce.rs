//! The reductions of the device and the rungs that lead to them, run on the host, against plain
//! loops and against the CPU version: any length, any place, any order of threads. So are the
//! experiments with memory.
#![allow(clippy::float_cmp, reason = "equal bits are what some tests are about")]

#[path = "support/emulator.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod emulator;
#[path = "emulated_reduce/faults.rs"]
mod faults;
#[path = "emulated_reduce/host.rs"]
mod host;
#[path = "emulated_reduce/ladder.rs"]
mod ladder;
#[path = "emulated_reduce/memory.rs"]
mod memory;
#[path = "support/random.rs"]
mod random;
#[path = "emulated_reduce/segments.rs"]
mod segments;

use random::Random;

/// Lengths below, at and beyond a load, a warp, a block and a grid of the tests.
const LENGTHS: [usize; 13] = [0, 1, 2, 3, 5, 31, 64, 127, 256, 600, 1021, 2048, 9001];

/// Whole numbers of both signs, so small that any sum of them is exact.
fn whole(random: &mut Random, count: usize) -> Vec<i32> {
    (0..count).map(|_| (random.bits() % 33) as i32 - 16).collect()
}
