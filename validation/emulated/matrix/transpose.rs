//! Every version transposes every matrix; memory between matrices is unchanged.

use nwp_mini::cuda_abi::DevicePointer;
use nwp_mini::primitives::gpu::arguments::TransposeArgs;
use nwp_mini::primitives::gpu::transpose::{Rung, TransposeConfig};
use nwp_mini::primitives::transpose::{Matrices, transpose};

use super::emulator::Program;
use super::host::{Exchanged, Memory, program};
use super::random::Random;

/// Small tiles, so that small matrices have many; strips that do not divide them.
pub(crate) const SHAPES: [TransposeConfig; 2] = [
    TransposeConfig {
        tile: 32,
        threads: 64,
        resident: 1,
        strip: 3,
        unrolled_tile: 32,
        unrolled_lines: 4,
    },
    TransposeConfig {
        tile: 64,
        threads: 128,
        resident: 1,
        strip: 1,
        unrolled_tile: 16,
        unrolled_lines: 16,
    },
];

/// Sizes below, at and beyond tiles, of all alignments; single rows and columns; batches.
const SIZES: [[usize; 3]; 18] = [
    [1, 1, 1],
    [1, 1, 37],
    [1, 41, 1],
    [1, 4, 8],
    [1, 32, 32],
    [1, 64, 64],
    [1, 33, 65],
    [1, 27, 118],
    [1, 100, 36],
    [1, 68, 132],
    [1, 130, 66],
    [2, 31, 33],
    [3, 36, 40],
    [3, 70, 2],
    [1, 96, 4],
    [1, 200, 72],
    [2, 63, 150],
    [2, 150, 63],
];

fn given<R: Exchanged>(matrices: Matrices, seed: u64) -> Vec<R> {
    let mut random = Random::new(seed);
    (0..matrices.len()).map(|_| R::of(random.between(-1.0, 1.0))).collect()
}

fn args<R: Exchanged>(
    matrices: Matrices,
    from: DevicePointer<R>,
    to: DevicePointer<R>,
) -> TransposeArgs<R> {
    TransposeArgs {
        from: from.read(),
        to,
        faults: DevicePointer::default(),
        rows: matrices.rows as i32,
        columns: matrices.columns as i32,
        matrices: matrices.count as i32,
        filler: 0,
    }
}

fn turned<R: Exchanged>(
    program: &Program,
    shape: TransposeConfig,
    rung: Rung,
    matrices: Matrices,
    values: &[R],
    seed: u64,
) -> Result<Vec<R>, String> {
    let mut memory = Memory::default();
    let from = memory.array(values);
    let to = memory.poisoned::<R>(values.len());
    let (blocks, threads) = shape.blocks(rung, R::PRECISION, matrices);
    let kernel = rung.kernel(R::PRECISION, matrices);
    memory.launch(kernel, [blocks, 1], threads, &args(matrices, from, to));
    memory.attempt(program, seed, to)
}

/// True if a version transposes a matrix of random numbers correctly.
pub(crate) fn is_right(
    program: &Program,
    shape: TransposeConfig,
    rung: Rung,
    matrices: Matrices,
    seed: u64,
) -> bool {
    let values = given::<f32>(matrices, 1);
    let mut expected = values.clone();
    if rung != Rung::Copy {
        transpose(matrices, &values, &mut expected);
    }
    turned(program, shape, rung, matrices, &values, seed).is_ok_and(|found| found == expected)
}

fn rungs_agree<R: Exchanged>() {
    for (number, shape) in SHAPES.into_iter().enumerate() {
        let name = format!("transpose-{}-{number}", R::NAME);
        let program = program(&name, &shape.source(R::PRECISION));
        for (seed, [count, rows, columns]) in (1..).zip(SIZES) {
            let matrices = Matrices { count, rows, columns };
            let values = given::<R>(matrices, seed);
            let mut expected = values.clone();
            transpose(matrices, &values, &mut expected);
            for rung in Rung::ALL {
                // The lower rungs have one shape.
                let has_shapes = [Rung::Unrolled, Rung::Diagonal, Rung::Best].contains(&rung);
                if number > 0 && !has_shapes {
                    continue;
                }
                let found = turned(&program, shape, rung, matrices, &values, seed).unwrap();
                let expected = if rung == Rung::Copy { &values } else { &expected };
                assert!(found == *expected, "{rung:?} {shape:?} {matrices:?}");
            }
            // There and back again.
            let there = turned(&program, shape, Rung::Best, matrices, &values, seed).unwrap();
            let back = turned(&program, shape, Rung::Best, matrices.transposed(), &there, seed + 1)
                .unwrap();
            assert!(back == values, "{shape:?} {matrices:?}");
        }
    }
}

#[test]
fn rungs_agree_in_single_precision() {
    rungs_agree::<f32>();
}

#[test]
fn rungs_agree_in_double_precision() {
    rungs_agree::<f64>();
}

/// The checking kernel counts wrong elements, and NaN.
#[test]
fn faults_are_counted() {
    let program =
        program("transpose-faults", &SHAPES[0].source(<f32 as nwp_mini::real::Real>::PRECISION));
    let matrices = Matrices { count: 2, rows: 27, columns: 33 };
    let values = given::<f32>(matrices, 5);
    let mut right = values.clone();
    transpose(matrices, &values, &mut right);
    let mut wrong = right.clone();
    wrong.swap(3, 40);
    wrong[1000] = f32::NAN;
    for (to, expected) in [(&right, 0), (&wrong, 3), (&values, 1)] {
        let mut memory = Memory::default();
        let (from, to) = (memory.array(&values), memory.array(to));
        let faults = memory.array(&[0_i32]);
        let args = TransposeArgs { faults, ..args(matrices, from, to) };
        memory.launch("transpose_faults", [matrices.len().div_ceil(256), 1], 256, &args);
        let found = memory.run(&program, 1, faults)[0];
        // Without transposition all values are wrong except on the diagonal.
        let is_right = if expected == 1 { found > 1600 } else { found == expected };
        assert!(is_right, "{found} faults, expected {expected}");
    }
}
