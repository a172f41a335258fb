//! Sparse products on the device: every rung multiplies every matrix.

use nwp_mini::device::{Element, Gpu};
use nwp_mini::primitives::csr::Csr;
use nwp_mini::primitives::gpu::csr::{CsrConfig, DeviceCsr, Rung};
use nwp_mini::primitives::matrices::{self, Kind, operand};
use nwp_mini::real::{Precision, Real};

use crate::products::check_product;
use crate::random::Random;
use crate::{gpu, prepare, seed};

/// Matrices with random values: none, empty, one column, one long row, interpolation, stencils, skewed,
/// a row of all columns among short ones.
fn cases<R: Real>(random: &mut Random) -> Vec<(&'static str, Csr<R>)> {
    let mut made = |matrix: Csr<R>| {
        let values = matrix.values().iter().map(|_| R::of(random.between(-1.0, 1.0))).collect();
        let (starts, columns) = (matrix.starts().to_vec(), matrix.column_of().to_vec());
        Csr::from_parts(matrix.columns(), starts, columns, values).unwrap()
    };
    let one_full: Vec<(usize, usize, R)> = (0..100_000)
        .map(|column| (7, column, R::ONE))
        .chain((0..100_000).map(|row| (row, row, R::ONE)))
        .collect();
    let column: Vec<(usize, usize, R)> = (0..5000).map(|row| (row, 0, R::ONE)).collect();
    vec![
        ("no rows", Csr::from_triplets(0, 5, &[]).unwrap()),
        ("no columns", Csr::from_triplets(5, 0, &[]).unwrap()),
        ("empty", Csr::from_triplets(10_000, 3, &[]).unwrap()),
        ("one column", made(Csr::from_triplets(5000, 1, &column).unwrap())),
        ("one full row", made(Csr::from_triplets(100_000, 100_000, &one_full).unwrap())),
        ("interpolation", made(matrices::interpolation(71, 333).unwrap())),
        ("transposed", made(matrices::interpolation::<R>(71, 333).unwrap().transposed().unwrap())),
        ("seven-point", made(matrices::stencil([71, 58, 27], false).unwrap())),
        ("27-point", made(matrices::stencil([31, 33, 35], true).unwrap())),
        ("skewed", made(matrices::skewed(50_001).unwrap())),
    ]
}

fn rungs_agree<R: Real + Element>(gpu: &Gpu) {
    let mut random = Random::new(seed());
    for (name, matrix) in cases::<R>(&mut random) {
        let device = DeviceCsr::new(gpu, &matrix).unwrap();
        let (rows, columns) = (matrix.rows(), matrix.columns());
        for vectors in [1, 3, 70] {
            let rungs = if vectors == 70 { &[Rung::Tiles][..] } else { &Rung::ALL };
            let x: Vec<R> =
                (0..vectors * columns).map(|_| R::of(random.between(-1.0, 1.0))).collect();
            let (given, made) = (gpu.upload(&x).unwrap(), gpu.zeros(vectors * rows).unwrap());
            for &rung in rungs {
                let what = format!("{name}, {rung:?}, {vectors} vectors");
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
                assert!(multiplied() == found, "{what}: other bits in another run");
            }
        }
    }
}

/// Every kernel, on so little that a sanitizer can watch.
#[test]
fn small_products_are_right() {
    let Some(gpu) = gpu(true) else { return };
    let source = |precision| CsrConfig::usual(precision).source(precision);
    prepare(&gpu, [Precision::F32, Precision::F64].map(source).to_vec());
    rungs_agree::<f32>(&gpu);
    rungs_agree::<f64>(&gpu);
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
    let usual = CsrConfig::usual(R::PRECISION);
    let mut shapes: Vec<CsrConfig> =
        [8, 16, 64].into_iter().map(|long_row| CsrConfig { long_row, ..usual }).collect();
    for (tile_threads, tile_rounds) in [(128, 1), (128, 2), (256, 1), (256, 2), (256, 4), (512, 1)]
    {
        for warps in [32, 48, 64] {
            let tile_resident = warps * 32 / tile_threads;
            let shape = CsrConfig { tile_threads, tile_rounds, tile_resident, ..usual };
            shapes.push(shape);
        }
    }
    let late = shapes.iter().map(|shape| CsrConfig { gather_late: true, ..*shape });
    shapes.extend(late.collect::<Vec<_>>());
    shapes.retain(|s| s.shared_bytes(R::PRECISION) * s.tile_resident as usize <= 200 << 10);
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
