//! The experiments with memory: each writes the right values, and no others.

use nwp_mini::primitives::gpu::memory::{COPIES, Experiment, LONGEST_STEP, THREADS, source};

use super::host::{Memory, program, taken};
use super::random::Random;

/// All kinds of experiments.
fn experiments() -> Vec<Experiment> {
    let mut all: Vec<Experiment> = [0, 1, 7, 32].map(Experiment::Offset).to_vec();
    all.extend([1, 2, 3, 32].map(Experiment::Stride));
    all.extend((0..COPIES.len()).map(Experiment::Copy));
    all.extend([0, 1, 2, 32, LONGEST_STEP].map(|step| Experiment::Banks { step, rounds: 3 }));
    all.extend([false, true].map(|read_only| Experiment::Gather { read_only }));
    all.push(Experiment::Work { rounds: 9, factor: 0.75, summand: 0.25 });
    all
}

#[test]
fn experiments_leave_what_they_should() {
    let program = program("f32", &source(), &["-ffp-contract=off"]);
    let mut random = Random::new(51);
    for experiment in experiments() {
        for blocks in [0, 1, 2, 11] {
            // The sums of shared memory fill whole blocks.
            let fills_blocks = matches!(experiment, Experiment::Banks { .. });
            if fills_blocks && blocks == 0 {
                continue;
            }
            let odd = if fills_blocks { 0 } else { 12 };
            let count = (blocks * THREADS as usize).saturating_sub(odd);
            let [read, written, listed] = experiment.needs(count);
            let from: Vec<f32> = (0..read).map(|_| (random.bits() % 1000) as f32).collect();
            let places: Vec<i32> =
                (0..listed).map(|_| (random.bits() % read.max(1) as u64) as i32).collect();
            let mut memory = Memory::default();
            let [before, after] = [&from, &vec![f32::NAN; written]].map(|x| memory.array(x));
            let indices = memory.array(&places);
            let (args, blocks) = experiment.launch(before.read(), after, indices.read(), count, 1);
            memory.launch(experiment.kernel(), &args, blocks, THREADS);
            let found: Vec<f32> = taken(&program.run(&memory.records, random.bits()), after);
            assert_eq!(found.len(), written);
            if count == 0 {
                continue;
            }
            for (at, found) in found.into_iter().enumerate() {
                match experiment.expected(&from, &places, at) {
                    Some(expected) => assert_eq!(found, expected, "{experiment:?} {count} {at}"),
                    None => assert!(found.is_nan(), "{experiment:?} {count} {at}"),
                }
            }
        }
    }
}

#[test]
fn lanes_of_one_step_want_the_words_that_the_sum_says() {
    let sum = |step, lane| Experiment::Banks { step, rounds: 1 }.expected(&[], &[], lane);
    // 32 words of 0 1 2 0 1 2 ..., from word 0 and from word 1 on.
    assert_eq!((sum(0, 5), sum(1, 0), sum(1, 1)), (Some(31.0), Some(31.0), Some(33.0)));
    assert_eq!((sum(33, 2), sum(33, 34)), (sum(0, 0), sum(0, 0)));
}
