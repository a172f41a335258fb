//! Reductions on the device against those of the CPU.

use nwp_mini::cuda_abi::DevicePointer;
use nwp_mini::device::{Buffer, Element, Gpu};
use nwp_mini::primitives::gpu::arguments::ReduceArgs;
use nwp_mini::primitives::gpu::reduce::ladder::{self, Ladder, RUNGS};
use nwp_mini::primitives::gpu::reduce::{
    Operation, ReduceConfig, Reducer, Reducible, located, source,
};
use nwp_mini::primitives::reduce::{self, Segments};
use nwp_mini::real::Real;

use crate::random::Random;
use crate::{IT_IS_LARGE, gpu, prepare, real_gpu, seed};

/// Lengths around those of a load, a block and a grid, and one that fills the device.
const LENGTHS: [usize; 9] = [0, 1, 3, 5, 1021, 65_537, 270_343, 1_000_003, 9_000_001];

/// Small blocks, so that there are many: by tiles, and interleaved.
const SMALL_BLOCKS: [ReduceConfig; 2] = [
    ReduceConfig { threads: 96, packs: 2, blocks: 4, least: 1, tiled: true },
    ReduceConfig { threads: 96, packs: 2, blocks: 4, least: 1, tiled: false },
];

fn prepare_all(gpu: &Gpu) {
    let sources = ReduceConfig::both::<f32>()
        .map(source::<f32>)
        .into_iter()
        .chain(ReduceConfig::both::<f64>().map(source::<f64>))
        .chain(ReduceConfig::both::<i32>().map(source::<i32>));
    prepare(
        gpu,
        sources
            .chain([ladder::source::<f32>(), ladder::source::<f64>(), ladder::source::<i32>()])
            .collect(),
    );
}

/// Integers of both signs, small enough for exact sums in single precision.
fn whole(random: &mut Random, count: usize) -> Vec<i32> {
    (0..count).map(|_| (random.bits() % 17) as i32 - 8).collect()
}

fn words(results: &Buffer<u64>, reduce: impl FnOnce() -> nwp_mini::error::Result<()>) -> Vec<u64> {
    results.poison().unwrap();
    reduce().unwrap();
    results.to_vec().unwrap()
}

fn rungs_and_sums_are_exact<T: Reducible>(gpu: &Gpu, seed: u64, of: impl Fn(i32) -> T) {
    let mut random = Random::new(seed);
    let reducer = Reducer::<T>::new(gpu).unwrap();
    let most = LENGTHS.into_iter().max().unwrap_or(0) + 4;
    let x: Vec<T> = whole(&mut random, most).into_iter().map(&of).collect();
    let y: Vec<T> = whole(&mut random, most).into_iter().map(&of).collect();
    let (on_device, others) = (gpu.upload(&x).unwrap(), gpu.upload(&y).unwrap());
    let lesson = Ladder::<T>::new(gpu, most).unwrap();
    let results = gpu.zeros(1).unwrap();
    let longest = crate::sized(usize::MAX, 10_000);
    for length in LENGTHS.into_iter().filter(|&length| length <= longest) {
        for first in 0..4 {
            let segments = Segments { first, ..Segments::whole(length) };
            let (a, b) = (&x[segments.range(0)], &y[segments.range(0)]);
            let what = format!("{} values of {} from {first} on", length, T::TYPE_NAME);
            let expected = reduce::sum(a);
            let of_one = |operation| {
                words(&results, || reducer.reduce(operation, &on_device, segments, &results))[0]
            };
            assert_eq!(T::of_word(of_one(Operation::Sum)).wide(), expected, "{what}");
            assert_eq!(T::wide_of_word(of_one(Operation::SumWide)), expected, "{what}");
            let squares = T::wide_of_word(of_one(Operation::SquaresWide));
            assert_eq!(squares, reduce::sum_of_squares(a), "{what}");
            let pair = [&on_device, &others];
            let dot = words(&results, || {
                reducer.reduce_pair(Operation::DotWide, pair, segments, &results)
            });
            assert_eq!(T::wide_of_word(dot[0]), reduce::dot(a, b), "{what}");
            for rung in RUNGS {
                lesson.invalidate().unwrap();
                lesson.launch(rung, &on_device, first, length).unwrap();
                assert_eq!(lesson.result().unwrap().wide(), expected, "{} {what}", rung.name);
            }
        }
    }
}

#[test]
fn rungs_and_sums_of_whole_numbers_are_exact() {
    let Some(gpu) = gpu(true) else { return };
    prepare_all(&gpu);
    let seed = seed();
    rungs_and_sums_are_exact(&gpu, seed, |x| x as f32);
    rungs_and_sums_are_exact(&gpu, seed, f64::from);
    rungs_and_sums_are_exact(&gpu, seed, |x| x);
}

/// Some segments on a device that has no others.
fn some_have_the_bits_of_all<R: Real + Element>(gpu: &Gpu, seed: u64) {
    let mut random = Random::new(seed);
    let reducer = Reducer::<R>::with_shape(gpu, ReduceConfig::long::<R>()).unwrap();
    for (length, count) in [(3, 5), (1021, 6), (4118, 14), (65_537, 3)] {
        let x: Vec<R> = (0..count * length).map(|_| R::of(random.between(-1.0, 3.0))).collect();
        let segments = Segments::adjacent(count, length);
        let all = reducer.statistics(&gpu.upload(&x).unwrap(), segments).unwrap();
        let some = [count - 1, 0, 1].map(|number| (number, x[segments.range(number)].to_vec()));
        let found = reducer.statistics_apart(&some, count).unwrap();
        for ((number, _), found) in some.iter().zip(&found) {
            assert_eq!(found, &all[*number], "{} values of {}, {number}", length, R::NAME);
        }
    }
    assert_eq!(reducer.statistics_apart(&[], 3).unwrap(), []);
}

#[test]
fn some_segments_have_the_bits_that_they_have_among_all() {
    let Some(gpu) = gpu(true) else { return };
    let seed = seed();
    some_have_the_bits_of_all::<f32>(&gpu, seed);
    some_have_the_bits_of_all::<f64>(&gpu, seed);
}

/// Every kernel once or twice, few enough launches for the tools that watch memory and threads.
#[test]
fn each_kernel_once() {
    let Some(gpu) = gpu(true) else { return };
    let mut random = Random::new(seed());
    let length = 70_001;
    let x: Vec<f32> = whole(&mut random, length).into_iter().map(|x| x as f32).collect();
    let on_device = gpu.upload(&x).unwrap();
    let lesson = Ladder::<f32>::new(&gpu, length).unwrap();
    for rung in RUNGS {
        lesson.invalidate().unwrap();
        lesson.launch(rung, &on_device, 0, length).unwrap();
        assert_eq!(f64::from(lesson.result().unwrap()), reduce::sum(&x), "{}", rung.name);
    }
    let reducer = Reducer::<f32>::new(&gpu).unwrap();
    let segments = Segments { first: 1, length: 23_000, count: 3, stride: 23_333 };
    for operation in Operation::ALL {
        let results = gpu.zeros(segments.count * operation.words()).unwrap();
        let pair = [&on_device, &on_device];
        let twice = [0, 1].map(|_| {
            words(&results, || {
                if operation.takes_two() {
                    reducer.reduce_pair(operation, pair, segments, &results)
                } else {
                    reducer.reduce(operation, &on_device, segments, &results)
                }
            })
        });
        for words in &twice {
            for (n, words) in words.chunks_exact(operation.words()).enumerate() {
                let part = &x[segments.range(n)];
                let found = match operation {
                    Operation::Sum => {
                        f64::from(f32::from_bits(words[0] as u32)) - reduce::sum(part)
                    }
                    Operation::SumWide => f64::from_bits(words[0]) - reduce::sum(part),
                    Operation::DotWide | Operation::SquaresWide => {
                        f64::from_bits(words[0]) - reduce::dot(part, part)
                    }
                    _ => continue,
                };
                assert_eq!(found, 0.0, "{operation:?} of segment {n}");
            }
        }
    }
}

fn segments_agree<T: Reducible>(gpu: &Gpu, seed: u64, of: impl Fn(f64) -> T) {
    let mut random = Random::new(seed);
    let configs = SMALL_BLOCKS.into_iter().chain(ReduceConfig::both::<T>());
    let reducers: Vec<_> =
        configs.map(|config| Reducer::<T>::with_shape(gpu, config).unwrap()).collect();
    for (count, length, gap, first) in [
        (1, crate::sized(1_000_003, 40_003), 0, 1),
        (crate::sized(162, 12), 4118, 0, 0),
        (27, 71, 3, 2),
        (crate::sized(5000, 200), 13, 1, 0),
        (3, crate::sized(300_001, 9001), 5, 3),
    ] {
        let segments = Segments { first, length, count, stride: length + gap };
        let x: Vec<T> = (0..segments.end())
            .map(|_| match random.bits() % 1000 {
                0 => of(f64::NAN),
                1 => of(f64::INFINITY),
                _ => of((random.between(-1e4, 1e4)).round()),
            })
            .collect();
        let on_device = gpu.upload(&x).unwrap();
        let expected = reduce::statistics_of_segments(&x, segments);
        for reducer in &reducers {
            let found = reducer.statistics(&on_device, segments).unwrap();
            let pairs = [(Operation::MinAt, false), (Operation::MaxAt, true)];
            let places = pairs.map(|(operation, _)| {
                let results = gpu.zeros(count * operation.words()).unwrap();
                words(&results, || reducer.reduce(operation, &on_device, segments, &results))
            });
            for (n, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let what = format!("{} {segments:?} {n}", T::TYPE_NAME);
                assert_eq!(
                    (found.extrema, found.nans),
                    (expected.extrema, expected.nans),
                    "{what}"
                );
                for [found, expected] in
                    [[found.sum, expected.sum], [found.squares, expected.squares]]
                {
                    let both = found.is_nan() && expected.is_nan();
                    assert!(both || found == expected, "{what}: {found} {expected}");
                }
                for ((_, is_largest), words) in pairs.iter().zip(&places) {
                    let place = expected
                        .extrema
                        .map(|e| if *is_largest { (e.max, e.max_at) } else { (e.min, e.min_at) });
                    assert_eq!(located::<T>(&words[2 * n..2 * n + 2]), place, "{what}");
                }
            }
        }
    }
}

#[test]
fn statistics_of_segments_are_those_of_the_cpu() {
    let Some(gpu) = gpu(true) else { return };
    prepare_all(&gpu);
    let seed = seed();
    segments_agree(&gpu, seed, |x| x as f32);
    segments_agree(&gpu, seed, |x| x);
    // Infinite values of whole numbers are the largest, whose squares no sum holds.
    segments_agree(&gpu, seed, |x| x.clamp(-2e4, 2e4) as i32);
}

#[test]
fn sums_have_the_same_bits_in_every_run() {
    let Some(gpu) = gpu(true) else { return };
    let mut random = Random::new(seed());
    let x: Vec<f32> =
        (0..crate::sized(4_000_037, 50_037)).map(|_| random.between(-1.0, 1.0) as f32).collect();
    let on_device = gpu.upload(&x).unwrap();
    let reducer = Reducer::<f32>::new(&gpu).unwrap();
    let results = gpu.zeros(1).unwrap();
    let sum = |operation| {
        let reduce = || reducer.reduce(operation, &on_device, Segments::whole(x.len()), &results);
        words(&results, reduce)[0] as u32
    };
    for operation in [Operation::Sum, Operation::Squares] {
        let first = sum(operation);
        assert!((0..crate::sized(100, 5)).all(|_| sum(operation) == first), "{operation:?}");
        let expected = match operation {
            Operation::Sum => reduce::sum(&x),
            _ => reduce::sum_of_squares(&x),
        };
        let magnitude: f64 = x.iter().map(|x| f64::from(x.abs())).sum();
        let error = (f64::from(f32::from_bits(first)) - expected).abs();
        // Every thread adds up some ten numbers, and 64 additions follow at most.
        let bound = 80.0 * f64::from(f32::EPSILON) / 2.0 * magnitude;
        println!("{operation:?}: {error:.2e} of {bound:.2e}");
        assert!(error <= bound, "{operation:?}: {error:e}");
    }
    assert!((reducer.sum(&on_device).unwrap() - reduce::sum(&x)).abs() < 1e-7);
    assert!(
        (reducer.dot(&on_device, &on_device).unwrap() - reduce::sum_of_squares(&x)).abs() < 1e-7
    );
}

/// The numbers that are no usual ones: zeros of both signs, subnormal and infinite numbers, and NaN.
fn unusual<R: Real + Element>(gpu: &Gpu) {
    let tiny = R::of(f64::from_bits(1).max(if R::NAME == "f32" { 1e-45 } else { 0.0 }));
    let (nan, infinite, zero) = (R::of(f64::NAN), R::of(f64::INFINITY), R::ZERO);
    let reducer = Reducer::<R>::new(gpu).unwrap();
    let of = |operation: Operation, x: &[R]| {
        let (x, results) = (gpu.upload(x).unwrap(), gpu.zeros(1).unwrap());
        let segments = Segments::whole(x.len());
        let found = words(&results, || {
            if operation.takes_two() {
                reducer.reduce_pair(operation, [&x, &x], segments, &results)
            } else {
                reducer.reduce(operation, &x, segments, &results)
            }
        });
        R::of_word(found[0])
    };
    let count = 5000;
    // Subnormal numbers are not lost.
    assert_eq!(of(Operation::Sum, &vec![tiny; count]).f64(), count as f64 * tiny.f64());
    assert_eq!(of(Operation::Max, &[zero, tiny, -tiny]), tiny);
    assert_eq!(of(Operation::Min, &[zero, tiny, -tiny]), -tiny);
    // The sum of negative zeros is zero, and of two zeros either is the largest.
    assert_eq!(of(Operation::Sum, &vec![-zero; count]), zero);
    assert_eq!(of(Operation::Max, &[-zero, zero]), zero);
    assert_eq!(of(Operation::Sum, &[infinite, R::ONE]), infinite);
    assert!(of(Operation::Sum, &[infinite, -infinite]).is_nan());
    assert!(of(Operation::Dot, &[nan, R::ONE]).is_nan());
    assert_eq!(of(Operation::Dot, &[-infinite, R::ONE]), infinite);
    // Extrema leave NaN out, unless there is nothing else.
    assert_eq!(of(Operation::Max, &[nan, -infinite, -R::ONE, nan, nan]), -R::ONE);
    assert_eq!(of(Operation::Min, &[nan, -infinite, -R::ONE]), -infinite);
    assert!(of(Operation::Max, &[nan; 3]).is_nan());
}

#[test]
fn unusual_numbers_are_reduced() {
    let Some(gpu) = gpu(true) else { return };
    unusual::<f32>(&gpu);
    unusual::<f64>(&gpu);
}

/// Arrays with more elements than 32 bits count.
#[test]
fn long_arrays_are_reduced() {
    let Some(gpu) = real_gpu(true, IT_IS_LARGE) else { return };
    let length = (1_usize << 32) + 5;
    if gpu.memory().unwrap()[0] < 5 * length {
        println!("left out: the device has no memory for {length} numbers");
        return;
    }
    let x = gpu.zeros::<f32>(length).unwrap();
    let places = [0, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, length - 1];
    for (n, at) in places.into_iter().enumerate() {
        x.upload_to(at, &[n as f32 + 1.0]).unwrap();
    }
    let reducer = Reducer::<f32>::new(&gpu).unwrap();
    let found = reducer.statistics(&x, Segments::whole(length)).unwrap()[0];
    let largest = found.extrema.unwrap();
    assert_eq!((found.sum, found.squares), (21.0, 91.0));
    assert_eq!((largest.max, largest.max_at, largest.min_at), (6.0, length - 1, 1));
}

/// The arguments are laid out as the kernels expect, with five pointers first.
#[test]
fn launches_share_out_the_blocks() {
    let values = DevicePointer::<f32>::new(1024).read();
    let arrays = ReduceArgs { values, ..ReduceArgs::default() };
    let shape = ReduceConfig { threads: 128, packs: 4, blocks: 2, least: 2, tiled: true };
    let launch = |length, count| {
        let segments = Segments { first: 3, length, count, stride: length };
        shape.launch(arrays, segments, 40)
    };
    let (ReduceArgs { values, length, blocks, .. }, _) = launch(100, 1);
    assert_eq!((values.address(), length, blocks), (1024 + 12, 100, 1));
    // 128 threads with two loads of four elements.
    for (length, count, blocks) in [
        (0, 1, 1),
        (1024, 1, 1),
        (1025, 1, 2),
        (1025, 2, 1),
        (1 << 20, 1, 40),
        (1 << 20, 7, 5),
        (5000, 99, 1),
    ] {
        let (args, all) = launch(length, count);
        assert_eq!((args.blocks as usize, all), (blocks, count * blocks));
    }
}

/// Times of the sum with many launch configurations; the fastest one is the basis of `ReduceConfig`.
#[test]
#[ignore = "prints a table of times, checks nothing"]
fn shapes() {
    let Some(gpu) = gpu(true) else { return };
    shapes_of::<f32>(&gpu, &[16, 18, 20, 22, 24, 26, 28, 30]);
    shapes_of::<f64>(&gpu, &[16, 18, 20, 22, 24]);
}

fn shapes_of<R: Real + Element>(gpu: &Gpu, powers: &[u32]) {
    const RUNS: usize = 15;
    const CALLS: usize = 20;
    /// Best shapes that are shown of each size.
    const SHOWN: usize = 12;
    let blocks = [1, 2, 3, 4, 8];
    let kinds: Vec<(u32, u32, bool)> = [256, 512, 1024]
        .iter()
        .flat_map(|t| [2, 4, 8].map(|p| (*t, p)))
        .flat_map(|(t, p)| [true, false].map(|tiled| (t, p, tiled)))
        .collect();
    let shapes = kinds.iter().flat_map(|&(threads, packs, tiled)| {
        blocks.iter().flat_map(move |&blocks| {
            [1, 2, 4].map(|least| ReduceConfig { threads, packs, blocks, least, tiled })
        })
    });
    let shapes: Vec<ReduceConfig> = shapes.filter(|s| s.threads * s.blocks <= 2048).collect();
    prepare(gpu, shapes.iter().map(|shape| source::<R>(*shape)).collect());
    let reducers: Vec<_> =
        shapes.iter().map(|shape| Reducer::<R>::with_shape(gpu, *shape).unwrap()).collect();
    let results = gpu.zeros(1).unwrap();
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2] * 1e6
    };
    for &power in powers {
        let length = 1_usize << power;
        let slots = (1_usize << 26).div_ceil(length).max(2);
        let data = gpu.zeros::<R>(slots * length).unwrap();
        let mut table = Vec::new();
        for (shape, reducer) in shapes.iter().zip(&reducers) {
            // Configurations that do not differ at this size are left out.
            if shape.least > 1 && power > 22 {
                continue;
            }
            let call = |slot: usize| {
                let segments = Segments { first: slot * length, ..Segments::whole(length) };
                reducer.reduce(Operation::Sum, &data, segments, &results)
            };
            (0..3).for_each(|_| call(0).unwrap());
            let single: Vec<f64> = (0..RUNS).map(|_| gpu.elapsed(|| call(0)).unwrap()).collect();
            let rotating: Vec<f64> =
                (0..RUNS).map(|n| gpu.elapsed(|| call(n % slots)).unwrap()).collect();
            let calls = if power > 26 { 3 } else { CALLS };
            let mut graph = gpu.capture(|| (0..calls).try_for_each(|_| call(0))).unwrap();
            graph.launch().unwrap();
            let chained: Vec<f64> = (0..RUNS)
                .map(|_| {
                    graph.launch().unwrap();
                    gpu.elapsed(|| graph.launch()).unwrap() / calls as f64
                })
                .collect();
            table.push((median(single), median(rotating), median(chained), *shape));
        }
        for (by, key) in [("single, hot", 0), ("single, rotating", 1), ("in a graph, hot", 2)] {
            let time = |row: &(f64, f64, f64, ReduceConfig)| [row.0, row.1, row.2][key];
            table.sort_by(|a, b| time(a).total_cmp(&time(b)));
            println!("{} 2^{power} by {by}: us single, rotating, graph", R::NAME);
            for (single, rotating, graph, shape) in table.iter().take(SHOWN) {
                let ReduceConfig { threads, packs, blocks, least, tiled } = shape;
                println!(
                    "  {single:9.2} {rotating:9.2} {graph:9.2}  threads {threads} packs {packs} \
                     blocks {blocks} least {least} tiled {tiled}"
                );
            }
        }
    }
}
