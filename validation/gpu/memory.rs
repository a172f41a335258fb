//! The experiments with the memory of the device and with the way to it.

use nwp_mini::primitives::gpu::memory::{
    COPIES, Experiment, Indices, LONGEST_STEP, Lab, Leg, Overlap, THREADS,
};

use crate::gpu;
use crate::random::Random;

#[test]
fn experiments_leave_what_they_should() {
    let Some(gpu) = gpu(true) else { return };
    let lab = Lab::new(&gpu).unwrap();
    let mut random = Random::new(52);
    let many = crate::sized(3001, 101);
    let mut all = [0, 1, 7].map(Experiment::Offset).to_vec();
    all.extend([1, 3].map(Experiment::Stride));
    all.extend((0..COPIES.len()).map(Experiment::Copy));
    all.extend([0, 1, 32, LONGEST_STEP].map(|step| Experiment::Banks { step, rounds: 3 }));
    all.extend([false, true].map(|read_only| Experiment::Gather { read_only }));
    all.push(Experiment::Work { rounds: 100, factor: 0.999, summand: 0.001 });
    for (experiment, blocks) in all.iter().flat_map(|&one| [1, 2, many].map(|blocks| (one, blocks)))
    {
        // The sums of shared memory fill whole blocks.
        let beyond = if matches!(experiment, Experiment::Banks { .. }) { 0 } else { 12 };
        let count = blocks * THREADS as usize - beyond;
        let [read, written, listed] = experiment.needs(count);
        let from: Vec<f32> = (0..read).map(|_| (random.bits() % 4096) as f32).collect();
        let places: Vec<i32> = (0..listed).map(|_| (random.bits() % read as u64) as i32).collect();
        let (before, after) = (gpu.upload(&from).unwrap(), gpu.zeros(written).unwrap());
        let indices = Indices::new(&gpu, &places).unwrap();
        after.poison().unwrap();
        lab.run(experiment, &before, &after, &indices, count).unwrap();
        for (at, found) in after.to_vec().unwrap().into_iter().enumerate() {
            match experiment.expected(&from, &places, at) {
                Some(expected) => assert!(found == expected, "{experiment:?} {at}: {found}"),
                None => assert!(found.is_nan(), "{experiment:?} {at}: {found}"),
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

#[test]
fn streams_share_copies_and_work() {
    let Some(gpu) = gpu(true) else { return };
    let lab = Lab::new(&gpu).unwrap();
    let values: Vec<f32> = (0..1_000_003).map(|at| (at % 4096) as f32).collect();
    let work = Experiment::Work { rounds: 10, factor: 0.5, summand: 1.0 };
    for streams in [1, 2, 4] {
        let mut overlap = Overlap::new(&lab, &values, streams).unwrap();
        for parts in [1, 7] {
            assert!(overlap.seconds(Leg::All, work, streams, parts).unwrap() > 0.0);
            for (at, found) in overlap.made().iter().enumerate() {
                assert!(Some(*found) == work.expected(&values, &[], at), "{streams} {parts} {at}");
            }
        }
    }
}
