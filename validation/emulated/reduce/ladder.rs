//! The rungs of the ladder.

use nwp_mini::primitives::gpu::reduce::ladder::{LadderArrays, RUNGS, THREADS, scratch, source};
use nwp_mini::primitives::reduce;

use super::host::{Memory, program, taken};
use super::random::Random;
use super::segments::Exchanged;
use super::{LENGTHS, whole};

/// Multiprocessors of the emulated device.
const MULTIPROCESSORS: u32 = 1;

fn rungs_are_exact<T: Exchanged>() {
    let program = program(T::TYPE_NAME, &source::<T>(), &[]);
    let mut random = Random::new(31);
    // The last one takes three launches of the trees.
    for (n, length) in LENGTHS.into_iter().chain([70_001]).enumerate() {
        let first = n % 4;
        let x: Vec<T> =
            whole(&mut random, first + length + 3).into_iter().map(|x| T::of(x.into())).collect();
        let expected = reduce::sum(&x[first..first + length]);
        for rung in RUNGS {
            let mut memory = Memory::default();
            let room = scratch(length, MULTIPROCESSORS);
            let values = memory.array(&x);
            // Values that no version has written are not added up.
            let unwritten = T::of(f64::from(1 << 20));
            let given = if rung.adds_to_result() { T::default() } else { unwritten };
            let places = LadderArrays {
                values: values.offset(first).read(),
                length,
                scratch: [0, 1].map(|_| memory.array(&vec![unwritten; room])),
                result: memory.array(&[given]),
            };
            for (args, blocks) in rung.launches(places, MULTIPROCESSORS) {
                memory.launch(rung.kernel, &args, blocks as usize, THREADS);
            }
            let found = program.run(&memory.records, random.bits());
            let sum = taken(&found, places.result)[0];
            assert_eq!(sum.wide(), expected, "{} of {length} {}", rung.name, T::TYPE_NAME);
        }
    }
}

#[test]
fn rungs_give_the_sum() {
    rungs_are_exact::<f32>();
    rungs_are_exact::<f64>();
    rungs_are_exact::<i32>();
}
