//! Conjugate gradients on the device: the bits of the CPU version, and their times.

use std::sync::Arc;
use std::time::Instant;

use nwp_mini::io::wrf;
use nwp_mini::model::RunInput;
use nwp_mini::primitives::conjugate_gradient::{OnCpu, Solver};
use nwp_mini::primitives::csr::Csr;
use nwp_mini::primitives::gpu::conjugate_gradient::{GpuSolver, ITERATIONS};

use crate::random::Random;
use crate::{gpu, seed};

/// Random conductances of a rectangle of cells, between some distant ones too; with `held` the potential beyond it is 0.
fn rectangle(random: &mut Random, [nx, ny]: [usize; 2], held: bool) -> (Csr<f64>, Vec<f64>) {
    let mut triplets = Vec::with_capacity(9 * nx * ny);
    let mut link = |a: usize, b: usize| {
        let link = random.between(0.5, 2.0);
        triplets.extend([(a, a, link), (b, b, link), (a, b, -link), (b, a, -link)]);
    };
    for cell in 0..nx * ny {
        if cell % nx > 0 {
            link(cell, cell - 1);
        }
        if cell >= nx {
            link(cell, cell - nx);
        }
        if cell % 97 == 1 {
            link(cell, nx * ny - 1 - cell / 2);
        }
    }
    if held {
        triplets.extend((0..nx).map(|cell| (cell, cell, 1.0)));
    }
    let matrix = Csr::from_triplets(nx * ny, nx * ny, &triplets).expect("valid triplets");
    let wanted: Vec<f64> = (0..nx * ny).map(|_| random.between(-1.0, 1.0)).collect();
    let mut b = vec![0.0; nx * ny];
    matrix.multiply(&wanted, &mut b);
    (matrix, b)
}

#[test]
fn systems_are_solved_with_the_bits_of_the_cpu() {
    let Some(gpu) = gpu(true) else { return };
    let random = &mut Random::new(seed());
    let device = GpuSolver::new(&gpu).unwrap();
    let sizes = crate::sized(
        &[[1, 1], [3, 1], [255, 1], [256, 1], [257, 3], [71, 58], [301, 203], [640, 513]][..],
        &[[1, 1], [3, 1], [255, 1], [256, 1], [23, 18]],
    );
    for &size in sizes {
        for held in [true, false] {
            let (matrix, b) = rectangle(random, size, held);
            let limit: Vec<f64> = b.iter().map(|_| random.between(1e-9, 1e-8)).collect();
            for most in [7, 10_000] {
                let expected = OnCpu.solve(&matrix, &b, &limit, most).unwrap();
                let found = device.solve(&matrix, &b, &limit, most).unwrap();
                assert_eq!(found.iterations, expected.iterations, "{size:?}");
                assert!(found == expected, "{size:?}, {most} iterations: another solution");
            }
            assert!(device.solve(&matrix, &b, &limit, 10_000).unwrap().converged, "{size:?}");
        }
    }
}

#[test]
fn it_ends_where_the_cpu_ends() {
    let Some(gpu) = gpu(true) else { return };
    let device = GpuSolver::new(&gpu).unwrap();
    let (matrix, b) = rectangle(&mut Random::new(2), [20, 20], true);
    let empty = Csr::from_triplets(400, 400, &[]).expect("valid triplets");
    let indefinite = Csr::from_triplets(400, 400, &[(0, 0, -1.0)]).expect("valid triplets");
    for (what, matrix, b, limit, most) in [
        ("nothing to do", &matrix, vec![0.0; 400], 0.0, 10),
        ("an odd number granted, which does not suffice", &matrix, b.clone(), 1e-9, 7),
        ("an even number", &matrix, b.clone(), 1e-9, 8),
        ("an empty matrix", &empty, b.clone(), 1e-9, 10),
        ("an indefinite one", &indefinite, b, 1e-9, 10),
        ("no number", &matrix, vec![f64::NAN; 400], 1e-9, 10),
        ("no finite number", &matrix, vec![f64::INFINITY; 400], 1e-9, 10),
    ] {
        let limit = vec![limit; 400];
        let expected = OnCpu.solve(matrix, &b, &limit, most).unwrap();
        let found = device.solve(matrix, &b, &limit, most).unwrap();
        let ends = [&found, &expected].map(|solution| (solution.iterations, solution.converged));
        assert_eq!(ends[0], ends[1], "{what}");
        // Zeros may differ in sign, and NaN in their bits.
        let is_same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
        assert!(found.x.iter().zip(&expected.x).all(is_same), "{what}");
    }
}

#[test]
fn winds_are_projected_with_the_bits_of_the_cpu() {
    let Some(gpu) = gpu(true) else { return };
    let path = crate::storm_file();
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
        let (matrix, b) = rectangle(random, size, false);
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
