//! The method of conjugate gradients for symmetric positive definite systems.

use rayon::prelude::*;

use super::csr::Csr;
use super::reduce::{CHUNK, PARALLEL_CHUNKS, dot};

/// What [`solve`] arrived at.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The approximate solution.
    pub x: Vec<f64>,
    /// Products with the matrix that it took.
    pub iterations: usize,
    /// Whether every residual came within its limit.
    pub converged: bool,
}

/// Solves `A x = b` until `|b - A x| <= limit` holds in every row, from `x = 0`.
///
/// Each row is scaled by its diagonal entry (Jacobi preconditioning). A singular matrix that is
/// positive but for the kernel, as that of a Poisson problem without boundary, is admitted when
/// b lies in its range; x is then determined up to the kernel. The residual is the one that the
/// recurrence carries, which may part from `b - A x` by rounding: whoever depends on the limit
/// checks.
///
/// Source: Hestenes, Stiefel 1952, J. Res. Natl. Bur. Stand. 49, 409-436.
///
/// # Panics
///
/// When the matrix is not square or a vector has another length.
pub fn solve(matrix: &Csr<f64>, b: &[f64], limit: &[f64], most: usize) -> Solution {
    let n = b.len();
    assert_eq!([matrix.rows(), matrix.columns(), limit.len()], [n; 3], "lengths of the system");
    // A row without diagonal is empty in a matrix of this kind, and its residual stays what it is.
    let inverse: Vec<f64> =
        matrix.diagonal().iter().map(|&d| if d > 0.0 { 1.0 / d } else { 0.0 }).collect();
    let within = |residual: &[f64]| residual.iter().zip(limit).all(|(r, most)| r.abs() <= *most);

    let mut x = vec![0.0; n];
    let mut residual = b.to_vec();
    let mut scaled = vec![0.0; n];
    update(&mut scaled, &residual, |at, _, r| inverse[at] * r);
    let mut direction = scaled.clone();
    let mut product = vec![0.0; n];
    let mut energy = dot(&residual, &scaled);
    let mut iterations = 0;
    while !within(&residual) {
        matrix.multiply(&direction, &mut product);
        iterations += 1;
        let curvature = dot(&direction, &product);
        // Not positive: nothing left to descend, or no matrix of the kind asked for.
        if iterations > most || curvature.is_nan() || curvature <= 0.0 {
            return Solution { x, iterations, converged: false };
        }
        let length = energy / curvature;
        update(&mut x, &direction, |_, x, d| x + length * d);
        update(&mut residual, &product, |_, r, p| r - length * p);
        update(&mut scaled, &residual, |at, _, r| inverse[at] * r);
        let previous = std::mem::replace(&mut energy, dot(&residual, &scaled));
        let keep = energy / previous;
        update(&mut direction, &scaled, |_, d, z| z + keep * d);
    }
    Solution { x, iterations, converged: true }
}

/// Sets every entry of `x` to what `f` makes of its index, itself and the entry of `y`.
fn update(x: &mut [f64], y: &[f64], f: impl Fn(usize, f64, f64) -> f64 + Sync) {
    let chunk = |(chunk, x): (usize, &mut [f64])| {
        let first = chunk * CHUNK;
        for ((at, x), y) in (first..).zip(x).zip(&y[first..]) {
            *x = f(at, *x, *y);
        }
    };
    if x.len() < PARALLEL_CHUNKS * CHUNK {
        x.chunks_mut(CHUNK).enumerate().for_each(chunk);
    } else {
        x.par_chunks_mut(CHUNK).enumerate().for_each(chunk);
    }
}
