//! Conjugate gradients on the device: the bits of the CPU version, and their times.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use nwp_mini::io::wrf;
use nwp_mini::model::RunInput;
use nwp_mini::primitives::conjugate_gradient::{OnCpu, Solver};
use nwp_mini::primitives::csr::Csr;
use nwp_mini::primitives::gpu::conjugate_gradient::{GpuSolver, ITERATIONS};

use crate::random::Random;
use crate::{gpu, seed};

/// The five-point operator of a rectangle with conductances drawn at random, and a right-hand side.
fn rectangle(random: &mut Random, [nx, ny]: [usize; 2]) -> (Csr<f64>, Vec<f64>) {
    let mut triplets = Vec::with_capacity(9 * nx * ny);
    let mut link = |a: usize, b: Option<usize>| {
        let link = random.between(0.5, 2.0);
        triplets.push((a, a, link));
        if let Some(b) = b {
            triplets.extend([(b, b, link), (a, b, -link), (b, a, -link)]);
        }
    };
    for j in 0..ny {
        for i in 0..nx {
            let cell = j * nx + i;
            link(cell, (i > 0).then(|| cell - 1));
            link(cell, (j > 0).then(|| cell - nx));
        }
    }
    let matrix = Csr::from_triplets(nx * ny, nx * ny, &triplets).expect("valid triplets");
    let b = (0..nx * ny).map(|_| random.between(-1.0, 1.0)).collect();
    (matrix, b)
}

#[test]
fn systems_are_solved_with_the_bits_of_the_cpu() {
    let Some(gpu) = gpu(true) else { return };
    let random = &mut Random::new(seed());
    let device = GpuSolver::new(&gpu).unwrap();
    for size in [[1, 1], [3, 1], [255, 1], [256, 1], [257, 3], [71, 58], [301, 203], [640, 513]] {
        let (matrix, b) = rectangle(random, size);
        let limit = vec![1e-9; b.len()];
        for most in [7, 10_000] {
            let expected = OnCpu.solve(&matrix, &b, &limit, most).unwrap();
            let found = device.solve(&matrix, &b, &limit, most).unwrap();
            assert_eq!(found.iterations, expected.iterations, "{size:?}");
            assert!(found == expected, "{size:?}, {most} iterations: another solution");
        }
        assert!(device.solve(&matrix, &b, &limit, 10_000).unwrap().converged, "{size:?}");
    }
}

#[test]
fn winds_are_projected_with_the_bits_of_the_cpu() {
    let Some(gpu) = gpu(true) else { return };
    let path = Path::new(&crate::project()).join("data/soc.nc");
    let case = |solver: Arc<dyn Solver>| {
        let (domain, frame) = wrf::read(&path, None).unwrap();
        RunInput::<f32>::with_solver(domain, frame, solver).unwrap()
    };
    let (found, expected) = (case(Arc::new(GpuSolver::new(&gpu).unwrap())), case(Arc::new(OnCpu)));
    assert_eq!(found.projection, expected.projection);
    assert_eq!(found.winds, expected.winds);
    let fluxes = [&found, &expected].map(|case| Arc::clone(&case.forcing));
    assert_eq!(fluxes[0].flux.x, fluxes[1].flux.x);
    assert_eq!(fluxes[0].flux.y, fluxes[1].flux.y);
}

/// Iterations at 71 x 58 may take 200 µs each [`ITERATIONS`] on an H200.
#[test]
#[ignore = "measures time"]
fn times_of_iterations() {
    let Some(gpu) = gpu(true) else { return };
    let random = &mut Random::new(1);
    let device = GpuSolver::new(&gpu).unwrap();
    println!("conjugate gradients on {}", gpu.device().name);
    println!("{:>12} {:>14} {:>10} {:>12} {:>12}", "grid", "us per 20", "GB/s", "GPU, s", "CPU, s");
    for size in [[71, 58], [256, 256], [1024, 1024]] {
        let (matrix, b) = rectangle(random, size);
        let n = b.len();
        // No limit is ever met: every iteration does its work.
        let descent = device.begin(&matrix, &b, &vec![0.0; n], usize::MAX).unwrap();
        let seconds = descent.time(25).unwrap();
        drop(descent);
        // The matrix once, and of vectors: six read and five written, each gathered one once.
        let bytes = ITERATIONS * (12 * matrix.nonzeros() + 4 * n + 8 * (2 + 2 + 6 + 3) * n);
        let limit = vec![1e-9; n];
        let whole = |solver: &dyn Solver| {
            let start = Instant::now();
            let found = solver.solve(&matrix, &b, &limit, 100_000).unwrap();
            assert!(found.converged);
            (start.elapsed().as_secs_f64(), found.x)
        };
        let (on_gpu, x) = whole(&device);
        let (on_cpu, expected) = whole(&OnCpu);
        assert!(x == expected, "another solution at {size:?}");
        println!(
            "{:>12} {:>14.1} {:>10.0} {on_gpu:>12.4} {on_cpu:>12.4}",
            format!("{}x{}", size[0], size[1]),
            1e6 * seconds,
            bytes as f64 / seconds / 1e9,
        );
        if size == [71, 58] && gpu.device().name.contains("H200") {
            assert!(seconds <= 200e-6, "{ITERATIONS} iterations took {seconds:e} s");
        }
    }
}
