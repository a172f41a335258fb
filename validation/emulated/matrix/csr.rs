//! Every rung multiplies every matrix, within the rounding of its sums.

use nwp_mini::cuda_abi::DevicePointer;
use nwp_mini::primitives::csr::Csr;
use nwp_mini::primitives::gpu::arguments::CsrArgs;
use nwp_mini::primitives::gpu::csr::{Arrays, CsrConfig, Rung, Size};
use nwp_mini::primitives::matrices;

use super::emulator::Program;
use super::host::{Exchanged, Memory, program};
use super::products::check_product;
use super::random::Random;

/// Blocks of two sizes, tiles of few entries, so that rows are cut, and of more.
pub(crate) const SHAPES: [CsrConfig; 2] = [
    CsrConfig {
        threads: 64,
        cache: 48,
        tile_threads: 64,
        tile_rounds: 1,
        tile_resident: 1,
        sides: 2,
        long_row: 4,
        gather_late: false,
    },
    CsrConfig {
        threads: 96,
        cache: 1000,
        tile_threads: 128,
        tile_rounds: 2,
        tile_resident: 1,
        sides: 3,
        long_row: 32,
        gather_late: true,
    },
];

/// A matrix whose rows have these numbers of entries, in random columns.
fn random_matrix<R: Exchanged>(lengths: &[usize], columns: usize, random: &mut Random) -> Csr<R> {
    let mut triplets = Vec::new();
    for (row, &length) in lengths.iter().enumerate() {
        // Columns that rise by random steps, as many as there is room for.
        let mut left = length.min(columns);
        for column in 0..columns {
            let chance = left as f64 / (columns - column) as f64;
            if random.between(0.0, 1.0) < chance {
                triplets.push((row, column, R::of(random.between(-1.0, 1.0))));
                left -= 1;
            }
        }
    }
    Csr::from_triplets(lengths.len(), columns, &triplets).expect("a good matrix")
}

/// Matrices of all kinds: none, empty, without rows or columns, one column, dense, even, skewed, with
/// rows longer than a tile, with many empty rows.
fn cases<R: Exchanged>(random: &mut Random) -> Vec<(&'static str, Csr<R>)> {
    let mut lengths = |count: usize, most: f64| -> Vec<usize> {
        (0..count).map(|_| random.between(0.0, most + 1.0) as usize).collect()
    };
    let (short, uneven, few) = (lengths(333, 3.0), lengths(101, 60.0), lengths(2000, 0.02));
    let skewed: Vec<usize> = (0..200).map(|row| if row % 16 == 3 { 230 } else { 3 }).collect();
    let huge: Vec<usize> = (0..9).map(|row| [5, 0, 1900, 2, 700][row % 5]).collect();
    let mut made = |lengths: &[usize], columns| random_matrix::<R>(lengths, columns, random);
    vec![
        ("no rows", made(&[], 5)),
        ("no columns", made(&[0; 7], 0)),
        ("empty", made(&[0; 300], 9)),
        ("one entry", made(&[1], 1)),
        ("one column", made(&[1; 130], 1)),
        ("one long row", made(&[3000], 3000)),
        ("short rows", made(&short, 50)),
        ("uneven rows", made(&uneven, 100)),
        ("few entries", made(&few, 40)),
        ("skewed", made(&skewed, 500)),
        ("huge rows", made(&huge, 2000)),
        ("dense", made(&[40; 37], 40)),
        ("interpolation", matrices::interpolation(7, 17).expect("a good matrix")),
        ("seven-point", matrices::stencil([5, 6, 7], false).expect("a good matrix")),
        ("27-point", matrices::stencil([5, 6, 7], true).expect("a good matrix")),
        ("skewed stencil", matrices::skewed(400).expect("a good matrix")),
    ]
}

fn multiplied<R: Exchanged>(
    program: &Program,
    shape: CsrConfig,
    rung: Rung,
    matrix: &Csr<R>,
    (x, sides): (&[R], usize),
    seed: u64,
) -> Result<Vec<R>, String> {
    let arrays = Arrays::new(matrix, shape).expect("a small matrix");
    let (rows, tiles) = (matrix.rows(), &arrays.tiles);
    let mut memory = Memory::default();
    let y = memory.poisoned::<R>(rows * sides);
    let args = CsrArgs {
        starts: memory.array(&arrays.starts).read(),
        columns: memory.array(&arrays.columns).read(),
        values: memory.array(&arrays.values).read(),
        tiles: memory.array(tiles.tiles.as_flattened()).read(),
        cuts: memory.array(tiles.cuts.as_flattened()).read(),
        partials: memory.poisoned(sides * tiles.pieces()),
        x: memory.array(x).read(),
        y,
        x_stride: matrix.columns() as i64,
        y_stride: rows as i64,
        rows: rows as i32,
        sides: sides as i32,
        pieces: tiles.pieces() as i32,
        cut_rows: tiles.cuts.len() as i32,
        long_rows: memory.array(&arrays.long_rows).read(),
        long_count: arrays.long_rows.len() as i32,
        filler: 0,
    };
    if rows == 0 {
        return Ok(Vec::new());
    }
    let size = Size {
        rows,
        tiles: tiles.tiles.len(),
        cut_rows: tiles.cuts.len(),
        long_rows: arrays.long_rows.len(),
        sides,
    };
    for (kernel, blocks, threads) in shape.launches(rung, size) {
        memory.launch(kernel, blocks, threads, &args);
    }
    memory.attempt(program, seed, DevicePointer::new(y.address()))
}

/// True if a version correctly multiplies a matrix with exact sums by three vectors.
pub(crate) fn is_right(
    program: &Program,
    shape: CsrConfig,
    rung: Rung,
    matrix: &Csr<f32>,
    seed: u64,
) -> bool {
    let x = matrices::operand::<f32>(3 * matrix.columns());
    let mut expected = vec![0.0; 3 * matrix.rows()];
    matrix.multiply_several(&x, &mut expected, 3);
    multiplied(program, shape, rung, matrix, (&x, 3), seed).is_ok_and(|found| found == expected)
}

fn rungs_agree<R: Exchanged>() {
    let mut random = Random::new(3);
    let cases = cases::<R>(&mut random);
    for (number, shape) in SHAPES.into_iter().enumerate() {
        let program = program(&format!("csr-{}-{number}", R::NAME), &shape.source(R::PRECISION));
        for (seed, (name, matrix)) in (1..).zip(&cases) {
            for sides in [1, 5] {
                let (rows, columns) = (matrix.rows(), matrix.columns());
                let x: Vec<R> =
                    (0..sides * columns).map(|_| R::of(random.between(-1.0, 1.0))).collect();
                for rung in Rung::ALL {
                    let what = format!("{name}, {rung:?}, {sides} sides, {shape:?}");
                    let found =
                        multiplied(&program, shape, rung, matrix, (&x, sides), seed).unwrap();
                    for side in 0..sides {
                        let x = &x[side * columns..][..columns];
                        check_product(matrix, x, &found[side * rows..][..rows], &what);
                    }
                    if rung == Rung::Tiles {
                        let again =
                            multiplied(&program, shape, rung, matrix, (&x, sides), seed + 99)
                                .unwrap();
                        assert!(found == again, "{what}: other bits in another order of threads");
                    }
                }
            }
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

/// The tiles cover every entry once, in order, and none is larger than it may be.
#[test]
fn tiles_cover_the_rows() {
    let mut random = Random::new(8);
    for shape in SHAPES {
        for (name, matrix) in cases::<f32>(&mut random) {
            let tiles = shape.tiles(matrix.starts());
            let capacity = (4 * shape.tile_threads as usize * shape.tile_rounds) as i32;
            let (mut next_row, mut next_entry, mut next_piece) = (0, 0, 0);
            for &[row, rows, first, end] in &tiles.tiles {
                assert_eq!([row, first], [next_row, next_entry], "{name}");
                assert!(end >= first && end - first / 4 * 4 <= capacity, "{name}");
                if rows < 0 {
                    assert_eq!(-1 - rows, next_piece, "{name}");
                    next_piece += 1;
                    let of_row = matrix.starts()[row as usize + 1] as i32;
                    next_row = if end == of_row { row + 1 } else { row };
                } else {
                    next_row = row + rows;
                    assert_eq!(end, matrix.starts()[next_row as usize] as i32, "{name}");
                }
                next_entry = end;
            }
            assert_eq!(
                [next_row as usize, next_entry as usize],
                [matrix.rows(), matrix.nonzeros()]
            );
            assert_eq!(next_piece as usize, tiles.pieces(), "{name}");
        }
    }
}
