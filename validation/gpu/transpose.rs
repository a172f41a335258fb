//! Transposes on the device: every rung turns every matrix.

use nwp_mini::device::{Element, Gpu};
use nwp_mini::primitives::gpu::transpose::{Rung, Transpose, TransposeConfig};
use nwp_mini::primitives::transpose::{Matrices, transpose};
use nwp_mini::real::{Precision, Real};

use crate::random::Random;
use crate::{IT_IS_LARGE, gpu, prepare, real_gpu, seed};

/// Sizes of all alignments; single rows and columns; few levels, there and back.
const SMALL: [[usize; 3]; 12] = [
    [1, 1, 1],
    [1, 32, 32],
    [1, 64, 64],
    [3, 70, 2],
    [2, 150, 63],
    [1, 1, 1003],
    [1, 1003, 1],
    [1, 133, 177],
    [2, 136, 260],
    [6, 27, 418],
    [6, 418, 27],
    [3, 63, 65],
];

/// Small tiles, so that small matrices have many.
const SHAPES: [TransposeConfig; 2] = [
    TransposeConfig {
        tile: 32,
        threads: 64,
        resident: 1,
        unrolled_tile: 32,
        unrolled_lines: 4,
        thin_length: 64,
    },
    TransposeConfig {
        tile: 64,
        threads: 128,
        resident: 1,
        unrolled_tile: 16,
        unrolled_lines: 16,
        thin_length: 128,
    },
];

/// More tiles than fit on a device; fields of a storm, there and back.
const LARGE: [[usize; 3]; 6] = [
    [1, 1000, 1000],
    [1, 4096, 4096],
    [6, 27, 4118],
    [6, 4118, 27],
    [1, 2044, 3004],
    [1, 1999, 2001],
];

fn rungs_agree<R: Real + Element>(gpu: &Gpu, sizes: &[[usize; 3]]) {
    let shapes = [(1, 2, 2), (1, 4096, 4096)].map(|(count, rows, columns)| {
        TransposeConfig::choose(R::PRECISION, Matrices { count, rows, columns })
            .source(R::PRECISION)
    });
    prepare(gpu, shapes.to_vec());
    let mut random = Random::new(seed());
    for &[count, rows, columns] in sizes {
        let matrices = Matrices { count, rows, columns };
        let values: Vec<R> =
            (0..matrices.len()).map(|_| R::of(random.between(-1.0, 1.0))).collect();
        let mut expected = values.clone();
        transpose(matrices, &values, &mut expected);
        let device = Transpose::<R>::new(gpu, matrices).unwrap();
        let (from, to) = (gpu.upload(&values).unwrap(), gpu.zeros(values.len()).unwrap());
        for rung in Rung::ALL {
            to.poison().unwrap();
            device.run_by(rung, &from, &to).unwrap();
            assert_eq!(device.faults(rung, &from, &to).unwrap(), 0, "{rung:?} {matrices:?}");
            let expected = if rung == Rung::Copy { &values } else { &expected };
            assert!(to.to_vec().unwrap() == *expected, "{rung:?} {matrices:?}");
        }
        for config in SHAPES {
            let device = Transpose::<R>::with(gpu, matrices, config).unwrap();
            for rung in [Rung::Unrolled, Rung::Diagonal, Rung::Best] {
                to.poison().unwrap();
                device.run_by(rung, &from, &to).unwrap();
                assert!(to.to_vec().unwrap() == expected, "{rung:?} {config:?} {matrices:?}");
            }
        }
        // The check does not let everything pass.
        if matrices.len() > 1 {
            to.upload_to(1, &[R::TWO]).unwrap();
            assert_eq!(device.faults(Rung::Best, &from, &to).unwrap(), 1, "{matrices:?}");
        }
    }
    let nothing = Matrices { count: 3, rows: 0, columns: 5 };
    let none = gpu.zeros::<R>(0).unwrap();
    Transpose::new(gpu, nothing).unwrap().run(&none, &none).unwrap();
}

/// Every kernel, on so little that a sanitizer can watch.
#[test]
fn small_matrices_are_turned() {
    let Some(gpu) = gpu(true) else { return };
    rungs_agree::<f32>(&gpu, &SMALL);
    rungs_agree::<f64>(&gpu, &SMALL);
}

#[test]
fn large_matrices_are_turned() {
    let Some(gpu) = real_gpu(true, IT_IS_LARGE) else { return };
    rungs_agree::<f32>(&gpu, &LARGE);
    rungs_agree::<f64>(&gpu, &LARGE);
}

/// More elements than 31 bits count, in rows of any alignment and of sixteen bytes.
#[test]
fn more_than_31_bits_count_are_turned() {
    let Some(gpu) = real_gpu(true, IT_IS_LARGE) else { return };
    for [rows, columns] in [[46_349, 46_351], [65_536, 32_772], [9, 240_000_001]] {
        let matrices = Matrices::one(rows, columns);
        if gpu.memory().unwrap()[0] < 9 * matrices.len() {
            println!("left out: the device has no memory for two matrices of {rows} x {columns}");
            continue;
        }
        let (from, to) = (gpu.zeros(matrices.len()).unwrap(), gpu.zeros(matrices.len()).unwrap());
        for (n, at) in
            [1, 1 << 30, (1 << 31) - 1, 1 << 31, matrices.len() - 1].into_iter().enumerate()
        {
            from.upload_to(at, &[n as f32 + 1.0]).unwrap();
        }
        to.poison().unwrap();
        let transpose = Transpose::new(&gpu, matrices).unwrap();
        transpose.run(&from, &to).unwrap();
        assert_eq!(transpose.faults(Rung::Best, &from, &to).unwrap(), 0, "{rows} x {columns}");
    }
}

#[test]
fn more_than_can_be_numbered_is_refused() {
    let Some(gpu) = gpu(true) else { return };
    let error = Transpose::<f32>::new(&gpu, Matrices::one(3, 1 << 33)).unwrap_err().to_string();
    assert!(error.contains("3 x 8589934592") && error.contains("in parts"), "{error}");
}

/// Times of the fastest version with many launch configurations. Measurement only: `cargo test --release --test gpu --
/// --ignored --nocapture shapes_of_the_transpose`.
#[test]
#[ignore = "measures times, and prints a table"]
fn shapes_of_the_transpose() {
    let Some(gpu) = gpu(true) else { return };
    times::<f32>(&gpu, &[1000, 4000, 4096, 8192, 16384, 30000]);
    times::<f64>(&gpu, &[1000, 4096, 8192, 16384, 30000]);
}

/// Calls in a graph.
const CALLS: usize = 20;

fn times<R: Real + Element>(gpu: &Gpu, sides: &[usize]) {
    let mut shapes = Vec::new();
    let tiles = match R::PRECISION {
        Precision::F32 => &[(32, 64), (64, 128), (64, 256)][..],
        Precision::F64 => &[(32, 64), (32, 128), (64, 256), (64, 512)][..],
    };
    for &(tile, threads) in tiles {
        for warps in [24, 32, 40] {
            let resident = (warps * 32 / threads).min(24);
            let (unrolled_tile, unrolled_lines) = if threads < 100 { (32, 8) } else { (64, 4) };
            shapes.push(TransposeConfig {
                tile,
                threads,
                resident,
                unrolled_tile,
                unrolled_lines,
                thin_length: 64,
            });
        }
    }
    prepare(gpu, shapes.iter().map(|shape| shape.source(R::PRECISION)).collect());
    println!("{}: us in a graph, of the best of {} shapes and of others", R::NAME, shapes.len());
    for &side in sides {
        let matrices = Matrices::one(side, side);
        let from = gpu.zeros::<R>(matrices.len()).unwrap();
        let to = gpu.zeros::<R>(matrices.len()).unwrap();
        let time = |shape: TransposeConfig, rung: Rung| {
            let device = Transpose::<R>::with(gpu, matrices, shape).unwrap();
            let calls = if side > 10000 { 3 } else { CALLS };
            let mut graph = gpu
                .capture(|| (0..calls).try_for_each(|_| device.run_by(rung, &from, &to)))
                .unwrap();
            graph.launch().unwrap();
            let mut times: Vec<f64> =
                (0..7).map(|_| gpu.elapsed(|| graph.launch()).unwrap() / calls as f64).collect();
            times.sort_by(f64::total_cmp);
            1e6 * times[3]
        };
        let copy = time(shapes[0], Rung::Copy);
        let mut found: Vec<(f64, TransposeConfig)> =
            shapes.iter().map(|shape| (time(*shape, Rung::Best), *shape)).collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        println!("{side} x {side}: copy {copy:.2}");
        for (time, TransposeConfig { tile, threads, resident, .. }) in found.iter().take(12) {
            println!(
                "  {time:>10.2}  {:>5.3} of the copy: tile {tile}, {threads} threads, {resident} \
                 resident",
                copy / time
            );
        }
        let usual = TransposeConfig::choose(R::PRECISION, matrices);
        println!("  {:>10.2}  as chosen: {usual:?}", time(usual, Rung::Best));
        println!("  {:>10.2}  any alignment", time(usual, Rung::Unrolled));
    }
}
