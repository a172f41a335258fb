//! Conjugate gradients with multigrid: solutions, ends, the same bits on any threads, and iterations that do not grow
//! with the grid.

use nwp_mini::primitives::conjugate_gradient::{Solution, System, solve};
use nwp_mini::primitives::csr::Csr;
use nwp_mini::primitives::multigrid::{Conductances, Multigrid};

use super::random::Random;
use super::same_on_any_threads;

/// Extents in x and y: one cell, rows, two and three cells of an axis, primes, powers of two.
const EXTENTS: [[usize; 2]; 11] = [
    [1, 1],
    [2, 1],
    [1, 7],
    [2, 2],
    [3, 2],
    [3, 3],
    [4, 5],
    [61, 1],
    [64, 32],
    [71, 58],
    [101, 97],
];

const SIDES: [[bool; 2]; 4] = [[false; 2], [true, false], [false, true], [true; 2]];

/// Conductances by face: its axis (0 for x) and position.
fn network(
    [nx, ny]: [usize; 2],
    periodic: [bool; 2],
    mut conductance: impl FnMut(usize, [usize; 2]) -> f64,
) -> Conductances {
    let mut x: Vec<f64> =
        (0..ny * (nx + 1)).map(|at| conductance(0, [at / (nx + 1), at % (nx + 1)])).collect();
    let mut y: Vec<f64> = (0..(ny + 1) * nx).map(|at| conductance(1, [at / nx, at % nx])).collect();
    if periodic[0] {
        (0..ny).for_each(|j| x[j * (nx + 1) + nx] = x[j * (nx + 1)]);
    }
    if periodic[1] {
        (0..nx).for_each(|i| y[ny * nx + i] = y[i]);
    }
    Conductances { extents: [nx, ny], periodic, x, y }
}

/// Conductances at random between 1 and 100, evenly in their logarithm.
fn rough(random: &mut Random, extents: [usize; 2], periodic: [bool; 2]) -> Conductances {
    network(extents, periodic, |_, _| 100_f64.powf(random.between(0.0, 1.0)))
}

/// Right-hand side at random, of sum 0 where the potential is fixed nowhere.
fn right_hand_side(random: &mut Random, network: &Conductances) -> Vec<f64> {
    let n = network.extents[0] * network.extents[1];
    let mut b: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
    if network.periodic == [true; 2] {
        let mean = b.iter().sum::<f64>() / n as f64;
        for b in &mut b {
            *b -= mean;
        }
    }
    b
}

fn solved(network: &Conductances, b: &[f64], limit: f64) -> Solution {
    let (matrix, multigrid) = (network.matrix().expect("a matrix"), Multigrid::new(network));
    let system = System { matrix: &matrix, multigrid: &multigrid };
    let found = solve(system, b, &vec![limit; b.len()], 100);
    let mut product = vec![0.0; b.len()];
    matrix.multiply(&found.x, &mut product);
    let worst = product.iter().zip(b).map(|(p, b)| (p - b).abs()).fold(0.0, f64::max);
    assert!(found.converged, "{:?} {:?}", network.extents, network.periodic);
    assert!(worst <= 1.01 * limit, "residual {worst:e}, {:?}", network.extents);
    found
}

#[test]
fn solutions_leave_no_more_than_the_limit_on_any_grid() {
    let random = &mut Random::new(15);
    for extents in EXTENTS {
        for periodic in SIDES {
            let network = rough(random, extents, periodic);
            let b = right_hand_side(random, &network);
            if b.len() == 1 && periodic == [true; 2] {
                continue;
            }
            let found = solved(&network, &b, 1e-9);
            assert!(found.iterations <= 30, "{extents:?} {periodic:?}: {}", found.iterations);
        }
    }
}

#[test]
fn iterations_do_not_grow_with_the_grid() {
    let random = &mut Random::new(16);
    for extents in [[71, 58], [257, 311], [512, 512], [1009, 499]] {
        for periodic in [[false; 2], [true, false], [true; 2]] {
            let smooth = network(extents, periodic, |axis, [j, i]| {
                let [x, y] = [i as f64 / extents[0] as f64, j as f64 / extents[1] as f64];
                let wave = (9.0 * x).sin() * (7.0 * y).cos();
                (2.0 + wave) * if axis == 0 { 1.0 } else { 1.5 }
            });
            let b = right_hand_side(random, &smooth);
            let count = solved(&smooth, &b, 1e-9).iterations;
            assert!(count <= 12, "smooth, {extents:?} {periodic:?}: {count}");
            // Cells of 1 or 100, as uneven as they can be, and faces between them.
            let cells: Vec<f64> = (0..(extents[0] + 1) * (extents[1] + 1))
                .map(|_| if random.between(0.0, 1.0) < 0.5 { 1.0 } else { 100.0 })
                .collect();
            let uneven = network(extents, periodic, |axis, [j, i]| {
                let cell =
                    |j: usize, i: usize| cells[j % extents[1] * (extents[0] + 1) + i % extents[0]];
                let other = if axis == 0 {
                    cell(j, i + extents[0] - 1)
                } else {
                    cell(j + extents[1] - 1, i)
                };
                f64::midpoint(cell(j, i), other)
            });
            let count = solved(&uneven, &b, 1e-8).iterations;
            assert!(count <= 30, "cells of 1 or 100, {extents:?} {periodic:?}: {count}");
            let count = solved(&rough(random, extents, periodic), &b, 1e-8).iterations;
            assert!(count <= 30, "rough, {extents:?} {periodic:?}: {count}");
        }
    }
}

#[test]
fn long_cells_and_narrow_grids_take_no_more() {
    let random = &mut Random::new(17);
    for (extents, ratio) in
        [([200, 150], 50.0), ([150, 200], 0.02), ([1000, 3], 1.0), ([2, 700], 9.0)]
    {
        for periodic in SIDES {
            let even = network(extents, periodic, |axis, _| if axis == 0 { ratio } else { 1.0 });
            let b = right_hand_side(random, &even);
            let count = solved(&even, &b, 1e-8).iterations;
            assert!(count <= 20, "{extents:?} {ratio} {periodic:?}: {count}");
        }
    }
}

#[test]
fn iterations_end_where_they_should() {
    let random = &mut Random::new(18);
    let network = rough(random, [10, 5], [false; 2]);
    let (matrix, multigrid) = (network.matrix().expect("a matrix"), Multigrid::new(&network));
    let system = System { matrix: &matrix, multigrid: &multigrid };
    let none = solve(system, &[0.0; 50], &[0.0; 50], 10);
    assert!(none.converged && none.iterations == 0 && none.x == [0.0; 50]);
    let b = right_hand_side(random, &network);
    let short = solve(system, &b, &[1e-12; 50], 5);
    assert!(!short.converged && short.iterations == 6, "5 iterations cannot do");
    for triplets in [vec![], vec![(0, 0, -1.0)]] {
        let matrix = Csr::from_triplets(50, 50, &triplets).expect("valid triplets");
        let found = solve(System { matrix: &matrix, ..system }, &b, &[1e-3; 50], 5);
        assert!(!found.converged, "{triplets:?}");
    }
    for bad in [f64::NAN, f64::INFINITY] {
        let mut b = b.clone();
        b[7] = bad;
        assert!(!solve(system, &b, &[1e-3; 50], 5).converged);
    }
}

#[test]
fn a_grid_in_two_parts_does_not_converge() {
    // Nothing connects the two halves with each other, nor with a side: inflow into one cannot leave the other.
    let network = network(
        [8, 6],
        [true, true],
        |axis, [_, i]| {
            if axis == 0 && i % 4 == 0 { 0.0 } else { 1.0 }
        },
    );
    let b: Vec<f64> = (0..48).map(|c| if c % 8 < 4 { 1.0 } else { -1.0 }).collect();
    let (matrix, multigrid) = (network.matrix().expect("a matrix"), Multigrid::new(&network));
    let system = System { matrix: &matrix, multigrid: &multigrid };
    let found = solve(system, &b, &[1e-6; 48], 100);
    assert!(!found.converged, "{found:?}");
}

#[test]
fn extreme_magnitudes_are_scaled() {
    let random = &mut Random::new(19);
    let network = rough(random, [31, 17], [false; 2]);
    let b = right_hand_side(random, &network);
    let usual = solved(&network, &b, 1e-8);
    for [of_matrix, of_b] in [[-200, 0], [200, 0], [0, -100], [0, 100], [90, -90]] {
        let scale = |x: &f64, by: i32| x * 2_f64.powi(by);
        let scaled = Conductances {
            x: network.x.iter().map(|x| scale(x, of_matrix)).collect(),
            y: network.y.iter().map(|x| scale(x, of_matrix)).collect(),
            ..network.clone()
        };
        let b: Vec<f64> = b.iter().map(|b| scale(b, of_b)).collect();
        let found = solved(&scaled, &b, scale(&1e-8, of_b));
        // Powers of two change no bit.
        assert_eq!(found.iterations, usual.iterations);
        for (found, usual) in found.x.iter().zip(&usual.x) {
            assert_eq!(*found, scale(usual, of_b - of_matrix));
        }
    }
}

#[test]
fn any_threads_give_the_same_bits() {
    let random = &mut Random::new(20);
    // Long enough for the vectors and the matrix to be shared among threads.
    for periodic in [[false; 2], [true; 2]] {
        let network = rough(random, [389, 211], periodic);
        let b = right_hand_side(random, &network);
        same_on_any_threads(|| solved(&network, &b, 1e-9));
        same_on_any_threads(|| Multigrid::new(&network));
    }
}
