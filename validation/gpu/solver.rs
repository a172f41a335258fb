//! Conjugate gradients on the device: the bits of the CPU version. `bench projection` measures their times.

use std::sync::Arc;

use nwp_mini::io::wrf;
use nwp_mini::model::RunInput;
use nwp_mini::primitives::conjugate_gradient::{OnCpu, Solver, System};
use nwp_mini::primitives::csr::Csr;
use nwp_mini::primitives::gpu::conjugate_gradient::GpuSolver;
use nwp_mini::primitives::multigrid::{Conductances, Multigrid};
use nwp_mini::projection::Method;

use crate::random::Random;
use crate::{gpu, seed};

/// Conductances of a rectangle at random between 1 and 100, and their matrix, in which a few distant cells are connected
/// too; with periodic sides constants are its kernel.
fn rectangle(
    random: &mut Random,
    [nx, ny]: [usize; 2],
    periodic: [bool; 2],
) -> (Csr<f64>, Multigrid) {
    let mut faces = |count: usize| -> Vec<f64> {
        (0..count).map(|_| 100_f64.powf(random.between(0.0, 1.0))).collect()
    };
    let mut network = Conductances {
        extents: [nx, ny],
        periodic,
        x: faces(ny * (nx + 1)),
        y: faces((ny + 1) * nx),
    };
    if periodic[0] {
        (0..ny).for_each(|j| network.x[j * (nx + 1) + nx] = network.x[j * (nx + 1)]);
    }
    if periodic[1] {
        (0..nx).for_each(|i| network.y[ny * nx + i] = network.y[i]);
    }
    let matrix = network.matrix().expect("finite conductances");
    let mut triplets = Vec::new();
    for row in 0..nx * ny {
        for at in matrix.starts()[row]..matrix.starts()[row + 1] {
            triplets.push((row, matrix.column_of()[at] as usize, matrix.values()[at]));
        }
        if row % 97 == 1 {
            let (other, link) = (nx * ny - 1 - row / 2, random.between(0.1, 1.0));
            triplets.extend([
                (row, row, link),
                (other, other, link),
                (row, other, -link),
                (other, row, -link),
            ]);
        }
    }
    let matrix = Csr::from_triplets(nx * ny, nx * ny, &triplets).expect("valid triplets");
    (matrix, Multigrid::new(&network))
}

#[test]
fn systems_are_solved_with_the_bits_of_the_cpu() {
    let Some(gpu) = gpu(true) else { return };
    let random = &mut Random::new(seed());
    let device = GpuSolver::new(&gpu).unwrap();
    // One thread, one warp, one block and its neighbours, many blocks; two and three cells of an axis.
    let sizes = crate::sized(
        &[
            [1, 1],
            [2, 1],
            [2, 2],
            [3, 3],
            [33, 1],
            [255, 1],
            [256, 1],
            [257, 3],
            [71, 58],
            [301, 203],
            [640, 513],
            [1024, 997],
        ][..],
        &[[1, 1], [2, 1], [2, 2], [3, 3], [33, 1], [16, 16], [257, 1], [23, 18]],
    );
    for &size in sizes {
        for periodic in [[false; 2], [true, false], [true; 2]] {
            let (matrix, multigrid) = rectangle(random, size, periodic);
            let system = System { matrix: &matrix, multigrid: &multigrid };
            let wanted: Vec<f64> = (0..matrix.rows()).map(|_| random.between(-1.0, 1.0)).collect();
            let mut b = vec![0.0; wanted.len()];
            matrix.multiply(&wanted, &mut b);
            let limit: Vec<f64> = b.iter().map(|_| random.between(1e-8, 1e-7)).collect();
            for most in [3, 100] {
                let expected = OnCpu.solve(system, &b, &limit, most).unwrap();
                let found = device.solve(system, &b, &limit, most).unwrap();
                assert_eq!(found.iterations, expected.iterations, "{size:?} {periodic:?}");
                assert!(found == expected, "{size:?} {periodic:?}, {most}: another solution");
                assert!(found.converged || most < 100, "{size:?} {periodic:?}");
            }
        }
    }
}

#[test]
fn it_ends_where_the_cpu_ends() {
    let Some(gpu) = gpu(true) else { return };
    let device = GpuSolver::new(&gpu).unwrap();
    let random = &mut Random::new(2);
    let (matrix, multigrid) = rectangle(random, [20, 20], [false; 2]);
    let b: Vec<f64> = (0..400).map(|_| random.between(-1.0, 1.0)).collect();
    let of = |triplets: &[_]| Csr::from_triplets(400, 400, triplets).expect("valid triplets");
    let (empty, indefinite) = (of(&[]), of(&[(0, 0, -1.0)]));
    // Terms of sums far beyond their range.
    let huge = of(&[(0, 0, 1e300), (1, 1, 1e300)]);
    for (what, matrix, b, limit, most) in [
        ("nothing to do", &matrix, vec![0.0; 400], 0.0, 10),
        ("an odd number granted, which does not suffice", &matrix, b.clone(), 1e-9, 3),
        ("an even number", &matrix, b.clone(), 1e-9, 4),
        ("an empty matrix", &empty, b.clone(), 1e-9, 10),
        ("an indefinite one", &indefinite, b.clone(), 1e-9, 10),
        ("terms that are too large", &huge, b, 1e-9, 10),
        ("no number", &matrix, vec![f64::NAN; 400], 1e-9, 10),
        ("no finite number", &matrix, vec![f64::INFINITY; 400], 1e-9, 10),
    ] {
        let system = System { matrix, multigrid: &multigrid };
        let limit = vec![limit; 400];
        let expected = OnCpu.solve(system, &b, &limit, most).unwrap();
        let found = device.solve(system, &b, &limit, most).unwrap();
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
        let method = Method { solver, ..Method::default() };
        RunInput::<f32>::with_projection(domain, frame, method).unwrap()
    };
    let (found, expected) = (case(Arc::new(GpuSolver::new(&gpu).unwrap())), case(Arc::new(OnCpu)));
    assert_eq!(found.projection, expected.projection);
    assert_eq!(found.winds, expected.winds);
    let fluxes = [&found, &expected].map(|case| Arc::clone(&case.forcing));
    assert_eq!(fluxes[0].flux.x, fluxes[1].flux.x);
    assert_eq!(fluxes[0].flux.y, fluxes[1].flux.y);
}
