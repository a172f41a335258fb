//! Sparse products on the device: every rung multiplies every matrix.

use nwp_mini::device::{Element, Gpu};
use nwp_mini::primitives::csr::Csr;
use nwp_mini::primitives::gpu::csr::{CsrConfig, DeviceCsr, Rung};
use nwp_mini::primitives::matrices::{self, Kind, operand};
use nwp_mini::real::{Precision, Real};

use crate::products::check_product;
use crate::random::Random;
use crate::{gpu, prepare, seed};

/// Blocks of two sizes, tiles of few entries, so that rows are cut, and of more.
const SHAPES: [CsrConfig; 2] = [
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
fn random_matrix<R: Real>(lengths: &[usize], columns: usize, random: &mut Random) -> Csr<R> {
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

/// Matrices with random values: none, empty, one column, one long row, interpolation, stencils, skewed,
/// a row of all columns among short ones.
fn cases<R: Real>(random: &mut Random) -> Vec<(&'static str, Csr<R>)> {
    let mut lengths = |count: usize, most: f64| -> Vec<usize> {
        (0..count).map(|_| random.between(0.0, most + 1.0) as usize).collect()
    };
    let (short, uneven, few) = (lengths(333, 3.0), lengths(101, 60.0), lengths(2000, 0.02));
    let huge: Vec<usize> = (0..9).map(|row| [5, 0, 1900, 2, 700][row % 5]).collect();
    let drawn = [
        ("one entry", random_matrix(&[1], 1, random)),
        ("short rows", random_matrix(&short, 50, random)),
        ("uneven rows", random_matrix(&uneven, 100, random)),
        ("few entries", random_matrix(&few, 40, random)),
        ("huge rows", random_matrix(&huge, 2000, random)),
        ("dense", random_matrix(&[40; 37], 40, random)),
    ];
    let mut made = |matrix: Csr<R>| {
        let values = matrix.values().iter().map(|_| R::of(random.between(-1.0, 1.0))).collect();
        let (starts, columns) = (matrix.starts().to_vec(), matrix.column_of().to_vec());
        Csr::from_parts(matrix.columns(), starts, columns, values).unwrap()
    };
    let [long, many, shape] = crate::sized(
        [[100_000; 3], [10_000, 50_001, 333], [31, 33, 35]],
        [[700; 3], [500, 301, 33], [5, 6, 7]],
    );
    let long = long[0];
    let one_full: Vec<(usize, usize, R)> = (0..long)
        .map(|column| (7, column, R::ONE))
        .chain((0..long).map(|row| (row, row, R::ONE)))
        .collect();
    let column: Vec<(usize, usize, R)> = (0..many[0]).map(|row| (row, 0, R::ONE)).collect();
    let others = vec![
        ("no rows", Csr::from_triplets(0, 5, &[]).unwrap()),
        ("no columns", Csr::from_triplets(5, 0, &[]).unwrap()),
        ("empty", Csr::from_triplets(many[0], 3, &[]).unwrap()),
        ("one column", made(Csr::from_triplets(many[0], 1, &column).unwrap())),
        ("one full row", made(Csr::from_triplets(long, long, &one_full).unwrap())),
        ("interpolation", made(matrices::interpolation(71, many[2]).unwrap())),
        (
            "transposed",
            made(matrices::interpolation::<R>(71, many[2]).unwrap().transposed().unwrap()),
        ),
        (
            "seven-point",
            made(matrices::stencil(crate::sized([71, 58, 27], [11, 8, 7]), false).unwrap()),
        ),
        ("27-point", made(matrices::stencil(shape, true).unwrap())),
        ("skewed", made(matrices::skewed(many[1]).unwrap())),
    ];
    others.into_iter().chain(drawn).collect()
}

fn rungs_agree<R: Real + Element>(gpu: &Gpu) {
    let mut random = Random::new(seed());
    for (name, matrix) in cases::<R>(&mut random) {
        // In double precision the emulated device takes one.
        let few = crate::support::device::is_emulated() && R::PRECISION == Precision::F64;
        let others = if few { &[] } else { &SHAPES[..] };
        for config in others.iter().copied().chain([CsrConfig::usual(R::PRECISION)]) {
            let is_usual = !SHAPES.contains(&config);
            let device = DeviceCsr::with(gpu, &matrix, config).unwrap();
            let (rows, columns) = (matrix.rows(), matrix.columns());
            let many = crate::sized(70, 9);
            for vectors in if is_usual { vec![1, 3, many] } else { vec![1, 5] } {
                let rungs = if vectors == many { &[Rung::Tiles][..] } else { &Rung::ALL };
                let x: Vec<R> =
                    (0..vectors * columns).map(|_| R::of(random.between(-1.0, 1.0))).collect();
                let (given, made) = (gpu.upload(&x).unwrap(), gpu.zeros(vectors * rows).unwrap());
                for &rung in rungs {
                    let what = format!("{name}, {rung:?}, {vectors} vectors, {config:?}");
                    let multiplied = || {
                        made.poison().unwrap();
                        device.multiply_by(rung, &given, &made, vectors).unwrap();
                        made.to_vec().unwrap()
                    };
                    let found = multiplied();
                    for vector in 0..vectors {
                        let x = &x[vector * columns..][..columns];
                        check_product(&matrix, x, &found[vector * rows..][..rows], &what);
                    }
                    let is_same = rung != Rung::Tiles || multiplied() == found;
                    assert!(is_same, "{what}: other bits in another run");
                }
            }
        }
    }
}

/// Every kernel, on so little that a sanitizer can watch.
#[test]
fn small_products_are_right() {
    let Some(gpu) = gpu(true) else { return };
    let configs = |precision| SHAPES.into_iter().chain([CsrConfig::usual(precision)]);
    let sources = [Precision::F32, Precision::F64]
        .into_iter()
        .flat_map(|precision| configs(precision).map(move |config| config.source(precision)));
    prepare(&gpu, sources.collect());
    rungs_agree::<f32>(&gpu);
    rungs_agree::<f64>(&gpu);
}

/// Subnormal products count, and what is infinite or no number goes where it belongs and nowhere else.
#[test]
fn unusual_numbers_are_multiplied() {
    let Some(gpu) = gpu(true) else { return };
    let tiny = f32::from_bits(3);
    // A matrix is finite; a vector may hold anything.
    let values = vec![1.0, tiny, 2.0, 0.0, -1.0, 1.0, -1.0];
    let (starts, columns) = (vec![0, 2, 4, 4, 5, 7], vec![0, 1, 1, 2, 3, 2, 3]);
    let matrix = Csr::from_parts(4, starts, columns, values).unwrap();
    let x = gpu.upload(&[tiny, 1.0, f32::INFINITY, f32::INFINITY]).unwrap();
    let y = gpu.zeros(matrix.rows()).unwrap();
    let device = DeviceCsr::new(&gpu, &matrix).unwrap();
    for rung in Rung::ALL {
        device.multiply_by(rung, &x, &y, 1).unwrap();
        let found = y.to_vec().unwrap();
        assert_eq!(found[0], f32::from_bits(6), "{rung:?}: subnormal numbers");
        // 0 x infinity, and infinity - infinity.
        assert!(found[1].is_nan() && found[4].is_nan(), "{rung:?}: {found:?}");
        assert_eq!([found[2], found[3]], [0.0, f32::NEG_INFINITY], "{rung:?}");
    }
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

/// Times of all versions, and of the last one with many launch configurations. Measurement only: `cargo test --release
/// --test gpu -- --ignored --nocapture shapes_of_the_sparse_product`.
#[test]
#[ignore = "measures times, and prints a table"]
fn shapes_of_the_sparse_product() {
    let Some(gpu) = gpu(true) else { return };
    times::<f32>(&gpu);
    times::<f64>(&gpu);
}

fn times<R: Real + Element>(gpu: &Gpu) {
    /// Bytes of shared memory that a kernel may declare.
    const MOST_SHARED: usize = 48 << 10;
    let usual = CsrConfig::usual(R::PRECISION);
    let mut shapes: Vec<CsrConfig> =
        [8, 16, 64].into_iter().map(|long_row| CsrConfig { long_row, ..usual }).collect();
    for (tile_threads, tile_rounds) in
        [(128, 1), (128, 2), (256, 1), (256, 2), (256, 4), (512, 1), (512, 2)]
    {
        for warps in [32, 40, 48, 64] {
            let tile_resident = warps * 32 / tile_threads;
            let shape = CsrConfig { tile_threads, tile_rounds, tile_resident, ..usual };
            shapes.push(shape);
        }
    }
    let late = shapes.iter().map(|shape| CsrConfig { gather_late: true, ..*shape });
    shapes.extend(late.collect::<Vec<_>>());
    shapes.retain(|s| {
        let bytes = s.shared_bytes(R::PRECISION);
        bytes < MOST_SHARED && bytes * s.tile_resident as usize <= 200 << 10
    });
    prepare(gpu, shapes.iter().map(|shape| shape.source(R::PRECISION)).collect());
    // Small ones, for which launches and latencies count, and those of the comparisons with libraries.
    let small = [[71, 58, 1], [71, 58, 27], [256, 256, 8]]
        .map(|shape| (format!("stencil {shape:?}"), matrices::stencil::<R>(shape, false), false));
    let large = Kind::ALL.map(|kind| (kind.name().to_owned(), kind.large(), true));
    for (name, matrix, is_large) in small.into_iter().chain(large) {
        let matrix = matrix.unwrap();
        let x = gpu.upload(&operand::<R>(matrix.columns())).unwrap();
        let y = gpu.zeros::<R>(matrix.rows()).unwrap();
        let bytes = DeviceCsr::bytes(&matrix) as f64;
        let time = |device: &DeviceCsr<R>, rung: Rung| {
            let mut graph = gpu
                .capture(|| (0..10).try_for_each(|_| device.multiply_by(rung, &x, &y, 1)))
                .unwrap();
            graph.launch().unwrap();
            let mut times: Vec<f64> =
                (0..5).map(|_| gpu.elapsed(|| graph.launch()).unwrap() / 10.0).collect();
            times.sort_by(f64::total_cmp);
            (1e6 * times[2], bytes / times[2] * 1e-9)
        };
        let (rows, entries) = (matrix.rows(), matrix.nonzeros());
        println!("{name} {}: {rows} rows, {entries} entries; us in a graph", R::NAME);
        let device = DeviceCsr::with(gpu, &matrix, usual).unwrap();
        for rung in Rung::ALL {
            let (time, speed) = time(&device, rung);
            let mark = if rung == device.fastest(1) { ", chosen" } else { "" };
            println!("  {time:>10.2}  {speed:>7.1} GB/s  {}{mark}", rung.name());
        }
        drop(device);
        let mut found: Vec<(f64, f64, CsrConfig)> = shapes
            .iter()
            .filter(|_| is_large)
            .map(|shape| {
                let device = DeviceCsr::with(gpu, &matrix, *shape).unwrap();
                let (time, speed) = time(&device, Rung::Tiles);
                (time, speed, *shape)
            })
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (time, speed, shape) in found.iter().take(10) {
            let CsrConfig {
                tile_threads, tile_rounds, tile_resident, long_row, gather_late, ..
            } = shape;
            println!(
                "  {time:>10.2}  {speed:>7.1} GB/s  tiles: {tile_threads} threads, {tile_rounds} \
                 rounds, {tile_resident} resident, long from {long_row}, late: {gather_late}"
            );
        }
    }
}
