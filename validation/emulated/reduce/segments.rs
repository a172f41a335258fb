//! Reductions of segments: every operation, of every type.

use nwp_mini::cuda_abi::{Bytes, CudaType, DevicePointer};
use nwp_mini::primitives::gpu::arguments::ReduceArgs;
use nwp_mini::primitives::gpu::reduce::{
    Operation, ReduceConfig, Reducible, located, source, statistics_of,
};
use nwp_mini::primitives::reduce::{self, Segments};

use super::emulator::{Element, Program};
use super::host::{Memory, program, taken};
use super::random::Random;
use super::{LENGTHS, whole};

/// Small blocks, so that there are many.
pub(crate) const SHAPE: ReduceConfig =
    ReduceConfig { threads: 96, packs: 2, blocks: 4, least: 1, tiled: true };
/// Blocks that the emulated device holds.
pub(crate) const RESIDENT: u32 = 7;

/// A type that both the kernels and the files of the tests know.
pub(crate) trait Exchanged: Reducible + Element + Bytes + CudaType + Default {
    /// The nearest representable value.
    fn of(x: f64) -> Self;
}

impl Exchanged for f32 {
    fn of(x: f64) -> Self {
        x as Self
    }
}

impl Exchanged for f64 {
    fn of(x: f64) -> Self {
        x
    }
}

impl Exchanged for i32 {
    fn of(x: f64) -> Self {
        x as Self
    }
}

/// Runs several reductions of the same segments in sequence, twice, and returns the words of each.
pub(crate) fn reduced<T: Exchanged>(
    program: &Program,
    operations: &[Operation],
    [x, y]: [&[T]; 2],
    segments: Segments,
    seed: u64,
) -> Result<Vec<Vec<u64>>, String> {
    let mut memory = Memory::default();
    let mut arrays = ReduceArgs {
        values: memory.array(x).read(),
        others: memory.array(y).read(),
        // Initial contents must not matter.
        partials: memory.array(&vec![u64::MAX; 7 * RESIDENT as usize]),
        tickets: memory.array(&[0_u64; RESIDENT as usize]),
        ..ReduceArgs::default()
    };
    let mut results = Vec::new();
    // The second time starts from the memory left by the first, like the next launch of a run.
    for operation in operations.iter().chain(operations) {
        arrays.results = memory.array(&vec![u64::MAX; segments.count * operation.words()]);
        results.push(arrays.results);
        let (args, blocks) = SHAPE.launch(arrays, segments, RESIDENT);
        memory.launch(operation.kernel(), &args, blocks, SHAPE.threads);
    }
    let found = program.attempt(&memory.records, seed)?;
    let mut words: Vec<Vec<u64>> = results.into_iter().map(|at| taken(&found, at)).collect();
    let again = words.split_off(operations.len());
    for (operation, (words, again)) in operations.iter().zip(words.iter().zip(&again)) {
        // Padding keeps its initial contents.
        let same = (0..segments.count).all(|n| {
            let part = n * operation.words()..(n + 1) * operation.words();
            same::<T>(*operation, &words[part.clone()], &again[part])
        });
        if !same {
            return Err(format!("{operation:?} gives {words:x?} and then {again:x?}"));
        }
    }
    Ok(words)
}

/// True if two results have the same bits, apart from padding.
fn same<T: Exchanged>(operation: Operation, a: &[u64], b: &[u64]) -> bool {
    let narrow = |word: u64| {
        let mut bytes = Vec::new();
        T::of_word(word).append(&mut bytes);
        bytes
    };
    let alike = |n: usize, is_narrow: bool| {
        if is_narrow { narrow(a[n]) == narrow(b[n]) } else { a[n] == b[n] }
    };
    match operation {
        Operation::SumWide | Operation::DotWide | Operation::SquaresWide | Operation::NanCount => {
            a == b
        }
        Operation::Statistics => (0..a.len()).all(|n| alike(n, n == 0 || n == 2)),
        _ => (0..a.len()).all(|n| alike(n, n == 0)),
    }
}

fn of_type<T: Exchanged>() -> std::sync::Arc<Program> {
    program(T::TYPE_NAME, &source::<T>(SHAPE), &[])
}

/// Sums of integers, in any type, are exact in any order.
fn sums_are_exact<T: Exchanged>() {
    let program = of_type::<T>();
    let mut random = Random::new(21);
    for (n, length) in LENGTHS.into_iter().enumerate() {
        for first in 0..4 {
            let count = 1 + (n + first) % 3;
            let stride = length + (5 * n + first) % 7;
            let segments = Segments { first, length, count, stride };
            let [x, y] = [0, 1].map(|_| whole(&mut random, segments.end() + 3));
            let [x, y] = [x, y].map(|x| x.into_iter().map(|x| T::of(x.into())).collect::<Vec<T>>());
            let operations = [
                Operation::Sum,
                Operation::SumWide,
                Operation::Dot,
                Operation::DotWide,
                Operation::Squares,
                Operation::SquaresWide,
            ];
            let seed = random.bits();
            let found = reduced(&program, &operations, [&x, &y], segments, seed).unwrap();
            for (segment, range) in (0..count).map(|n| (n, segments.range(n))) {
                let (x, y) = (&x[range.clone()], &y[range]);
                let expected = [reduce::sum(x), reduce::dot(x, y), reduce::sum_of_squares(x)];
                for (number, expected) in expected.into_iter().enumerate() {
                    let [narrow, wide] = [2 * number, 2 * number + 1].map(|n| found[n][segment]);
                    let what = format!("{} {segments:?} {segment} {number}", T::TYPE_NAME);
                    assert_eq!(T::of_word(narrow).wide(), expected, "{what}");
                    assert_eq!(T::wide_of_word(wide), expected, "{what}");
                }
            }
        }
    }
}

#[test]
fn sums_of_whole_numbers_are_exact() {
    sums_are_exact::<f32>();
    sums_are_exact::<f64>();
    sums_are_exact::<i32>();
}

/// The largest value of a test: infinity for floating-point types, else a value whose squares can be added up.
fn endless<T: Exchanged>() -> f64 {
    if T::IS_WHOLE { 1e5 } else { f64::INFINITY }
}

/// Values with ties, infinities and NaN; some segments have NaN only.
fn with_ties<T: Exchanged>(random: &mut Random, count: usize) -> Vec<T> {
    (0..count)
        .map(|_| match random.bits() % 40 {
            0 => T::of(endless::<T>()),
            1 => T::of(-endless::<T>()),
            2..5 => T::of(f64::NAN),
            _ => T::of(random.between(-20.0, 20.0).round()),
        })
        .collect()
}

fn extrema_agree<T: Exchanged>() {
    let program = of_type::<T>();
    let mut random = Random::new(22);
    let operations = [
        Operation::Min,
        Operation::Max,
        Operation::MinAt,
        Operation::MaxAt,
        Operation::NanCount,
        Operation::Statistics,
    ];
    for (n, length) in LENGTHS.into_iter().enumerate() {
        for first in 0..4 {
            let count = 1 + (n + first) % 9;
            let segments = Segments { first, length, count, stride: length + first };
            let mut x: Vec<T> = with_ties(&mut random, segments.end());
            if count > 1 {
                // Only NaN in one segment, and only infinities in another.
                x[segments.range(0)].fill(T::of(f64::NAN));
                x[segments.range(1)].fill(T::of(endless::<T>()));
            }
            let found = reduced(&program, &operations, [&x, &x], segments, random.bits()).unwrap();
            let expected = reduce::statistics_of_segments(&x, segments);
            for (segment, expected) in expected.into_iter().enumerate() {
                let what = format!("{} {segments:?} {segment}", T::TYPE_NAME);
                let words = |operation: usize| {
                    let words = operations[operation].words();
                    &found[operation][segment * words..(segment + 1) * words]
                };
                let of_word = |operation| Some(T::of_word(words(operation)[0]));
                let known = |x: &T| x.is_a_number() && length > 0;
                if !T::IS_WHOLE || length > 0 {
                    assert_eq!(of_word(0).filter(known), expected.extrema.map(|e| e.min), "{what}");
                    assert_eq!(of_word(1).filter(known), expected.extrema.map(|e| e.max), "{what}");
                }
                let [min, max] = [2, 3].map(|n| located::<T>(words(n)));
                assert_eq!(min, expected.extrema.map(|e| (e.min, e.min_at)), "{what}");
                assert_eq!(max, expected.extrema.map(|e| (e.max, e.max_at)), "{what}");
                assert_eq!(words(4), [expected.nans as u64], "{what}");
                let all = statistics_of::<T>(words(5));
                assert_eq!((all.extrema, all.nans), (expected.extrema, expected.nans), "{what}");
                for [found, expected] in [[all.sum, expected.sum], [all.squares, expected.squares]]
                {
                    let both = found.is_nan() && expected.is_nan();
                    assert!(both || found == expected, "{what}: {found} {expected}");
                }
            }
        }
    }
}

#[test]
fn extrema_places_and_counts_are_those_of_the_cpu() {
    extrema_agree::<f32>();
    extrema_agree::<f64>();
    extrema_agree::<i32>();
}

/// Sums of non-integers are within the bound that the module states, and have the same bits for any order of threads
/// and blocks.
fn sums_are_near_and_the_same<T: Exchanged>(unit: f64) {
    let program = of_type::<T>();
    let mut random = Random::new(23);
    let operations = [
        Operation::Sum,
        Operation::SumWide,
        Operation::Dot,
        Operation::DotWide,
        Operation::Squares,
    ];
    for (length, first) in [(1021, 1), (9001, 0), (9001, 3), (40_000, 2)] {
        let segments = Segments { first, ..Segments::whole(length) };
        let [x, y]: [Vec<T>; 2] =
            [0, 1].map(|_| (0..segments.end()).map(|_| T::of(random.between(-1.0, 1.0))).collect());
        let attempts: Vec<_> = (0..5)
            .map(|seed| reduced(&program, &operations, [&x, &y], segments, seed).unwrap())
            .collect();
        for found in &attempts {
            for (number, operation) in operations.iter().enumerate() {
                assert!(
                    same::<T>(*operation, &found[number], &attempts[0][number]),
                    "{operation:?}"
                );
            }
        }
        let (x, y) = (&x[segments.range(0)], &y[segments.range(0)]);
        let threads = f64::from(RESIDENT * SHAPE.threads);
        let bound = |unit: f64, magnitude: f64| (length as f64 / threads + 64.0) * unit * magnitude;
        let sizes: f64 = x.iter().map(|x| x.wide().abs()).sum();
        let products: f64 = x.iter().zip(y).map(|(x, y)| (x.wide() * y.wide()).abs()).sum();
        let squares = reduce::sum_of_squares(x);
        let [sum, dot] = [reduce::sum(x), reduce::dot(x, y)];
        let found = &attempts[0];
        let narrow = |n: usize| T::of_word(found[n][0]).wide();
        let wide = |n: usize| T::wide_of_word(found[n][0]);
        let eps = f64::EPSILON / 2.0;
        for (found, expected, bound) in [
            (narrow(0), sum, bound(unit, sizes)),
            (wide(1), sum, bound(eps, sizes)),
            (narrow(2), dot, bound(unit, products)),
            (wide(3), dot, bound(eps, products)),
            (narrow(4), squares, bound(unit, squares)),
        ] {
            let error = (found - expected).abs();
            assert!(error <= bound, "{} {length}: {error:e} above {bound:e}", T::TYPE_NAME);
        }
    }
}

#[test]
fn sums_keep_to_their_bound_and_to_their_bits() {
    sums_are_near_and_the_same::<f32>(f64::from(f32::EPSILON) / 2.0);
    sums_are_near_and_the_same::<f64>(f64::EPSILON / 2.0);
}

/// The position of the elements does not change the largest one, and a segment is a slice.
#[test]
fn extrema_do_not_depend_on_the_order() {
    let program = of_type::<f32>();
    let mut random = Random::new(24);
    let x: Vec<f32> = with_ties(&mut random, 3000);
    let mut shuffled = x.clone();
    for n in (1..shuffled.len()).rev() {
        shuffled.swap(n, (random.bits() % (n as u64 + 1)) as usize);
    }
    let operations = [Operation::Min, Operation::Max, Operation::NanCount];
    let of = |x: &[f32], segments| reduced(&program, &operations, [x, x], segments, 5).unwrap();
    assert_eq!(of(&x, Segments::whole(3000)), of(&shuffled, Segments::whole(3000)));
    let together = of(&x, Segments::adjacent(3, 1000));
    for segment in 0..3 {
        let alone = of(&x[segment * 1000..(segment + 1) * 1000], Segments::whole(1000));
        for (together, alone) in together.iter().zip(alone) {
            assert_eq!(together[segment], alone[0]);
        }
    }
}

/// Interleaved blocks and blocks with tiles give the same results and indices.
#[test]
fn both_ways_of_sharing_out_agree() {
    let mut random = Random::new(25);
    let tiled = of_type::<f32>();
    let side_by_side = ReduceConfig { tiled: false, ..SHAPE };
    let side_by_side = program("f32-side-by-side", &source::<f32>(side_by_side), &[]);
    let operations = [Operation::MinAt, Operation::MaxAt, Operation::NanCount];
    for length in LENGTHS {
        let x: Vec<f32> = with_ties(&mut random, length);
        let of = |program: &Program| {
            reduced(program, &operations, [&x, &x], Segments::whole(length), 5).unwrap()
        };
        let [a, b] = [of(&tiled), of(&side_by_side)];
        for (operation, (a, b)) in operations.iter().zip(a.iter().zip(&b)) {
            assert!(same::<f32>(*operation, a, b), "{operation:?} of {length}");
        }
    }
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
    for (length, count, blocks) in
        [(0, 1, 1), (1024, 1, 1), (1025, 1, 2), (1 << 20, 1, 40), (1 << 20, 7, 5), (5000, 99, 1)]
    {
        let (args, all) = launch(length, count);
        assert_eq!((args.blocks as usize, all), (blocks, count * blocks));
    }
}
