//! Memory of the device that an integration takes, known before any is taken.

use super::{Plan, TIMES, memory_of_block};
use crate::chemistry::kinetics::Kinetics;
use crate::chemistry::rosenbrock::Counters;
use crate::device::Device;

/// Most blocks of a multiprocessor of any device.
const MOST_BLOCKS: usize = 32;
/// Most threads of a multiprocessor.
const MOST_THREADS: usize = 2_048;
/// Shared memory that the system takes of every block, bytes.
const OF_SYSTEM: usize = 1 << 10;
/// Conditions of a cell: temperature, air twice, hydrolysis, start.
const CONDITIONS: usize = 5;

/// Most bytes of the arrays of so many cells, of which each has so many photolysis frequencies at least, and of the
/// scratch of as many blocks as the device can have at a time.
pub(super) fn bytes(
    device: &Device,
    (kinetics, plan): (&Kinetics, &Plan),
    [cells, photolysis]: [usize; 2],
) -> usize {
    let doubles = 2 * kinetics.variables()
        + kinetics.fixed.len()
        + CONDITIONS
        + photolysis.max(kinetics.rates.frequencies())
        + kinetics.rates.quantities()
        + kinetics.rates.kept.len()
        + TIMES;
    let words = 1 + Counters::NAMES.len();
    let of_a_cell = doubles * size_of::<f64>() + words * size_of::<i32>();
    let (shared_bytes, scratch) = memory_of_block(kinetics, plan);
    let most_shared = (device.shared_bytes as usize + OF_SYSTEM) / (shared_bytes + OF_SYSTEM);
    let of_a_multiprocessor =
        MOST_BLOCKS.min(MOST_THREADS / plan.form.threads()).min(most_shared).max(1);
    let blocks = of_a_multiprocessor * device.multiprocessors as usize;
    cells * of_a_cell + scratch * size_of::<f64>() * blocks
}
