//! The method of conjugate gradients for symmetric positive definite systems.
//!
//! Sums have an order that a device can follow too: the [`SUMMED`] products of a group are added by halves, and the
//! sums of the groups likewise. So the bits of a solution depend neither on the threads nor on the backend.
//!
//! # Decisions
//!
//! **The solver of the projection runs on the backend of the run, with the same bits on both.** The CPU adds in the
//! order of a block of threads (256 products by halves), and the device rounds products and sums separately. So CPU and
//! GPU start from the same winds. On the device an iteration is two kernels whose intermediate values stay there; a
//! graph has 20 iterations, after which the host reads one word.

use std::fmt;

use rayon::prelude::*;

use super::csr::Csr;
use crate::error::Result;

/// Rows of a group, whose products are added by halves.
pub const SUMMED: usize = 256;

/// Fewest groups that a thread takes.
const GROUPS: usize = 64;

/// Result of a solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The approximate solution, one number for each row of the matrix.
    pub x: Vec<f64>,
    /// Number of products with the matrix.
    pub iterations: usize,
    /// `true` if every residual is within its limit.
    pub converged: bool,
}

/// Solver of linear systems, on the CPU or on a device.
pub trait Solver: fmt::Debug + Send + Sync {
    /// Solves `A x = b` until `|b - A x| <= limit` holds in every row, or with `most` iterations.
    ///
    /// The result equals that of [`solve`] bit for bit.
    ///
    /// # Errors
    ///
    /// Those of a device.
    ///
    /// # Panics
    ///
    /// When the matrix is not square or a vector has another length.
    fn solve(&self, matrix: &Csr<f64>, b: &[f64], limit: &[f64], most: usize) -> Result<Solution>;
}

/// The solver on the CPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnCpu;

impl Solver for OnCpu {
    fn solve(&self, matrix: &Csr<f64>, b: &[f64], limit: &[f64], most: usize) -> Result<Solution> {
        Ok(solve(matrix, b, limit, most))
    }
}

/// Solves `A x = b` until `|b - A x| <= limit` holds in every row, from `x = 0`.
///
/// Each row is scaled by its diagonal entry (Jacobi preconditioning). A singular matrix that is positive except on its
/// kernel, as in a Poisson problem without boundary, is admitted if b is in its range; x is then determined up to the
/// kernel. The residual is that of the recurrence, which may differ from `b - A x` by rounding: a caller that depends
/// on the limit must check it.
///
/// Source: Hestenes, Stiefel 1952, J. Res. Natl. Bur. Stand. 49, 409-436.
///
/// # Panics
///
/// When the matrix is not square or a vector has another length.
pub fn solve(matrix: &Csr<f64>, b: &[f64], limit: &[f64], most: usize) -> Solution {
    check_lengths(matrix, b, limit);
    // Inside the thread pool, so that the loops of a small system need not enter it each time.
    rayon::scope(|_| descend(Iteration::new(matrix, b, limit), most))
}

/// Panics if the lengths of matrix and vectors do not agree.
pub(crate) fn check_lengths(matrix: &Csr<f64>, b: &[f64], limit: &[f64]) {
    let n = b.len();
    assert_eq!([matrix.rows(), matrix.columns(), limit.len()], [n; 3], "lengths of the system");
}

/// Preconditioner: reciprocals of the diagonal.
///
/// A row without diagonal entry is empty in a matrix of this kind; its residual is not scaled.
pub(crate) fn preconditioner(matrix: &Csr<f64>) -> Vec<f64> {
    matrix.diagonal().iter().map(|&d| if d > 0.0 { 1.0 / d } else { 0.0 }).collect()
}

fn descend(mut descent: Iteration<'_>, most: usize) -> Solution {
    let (mut energy, mut is_within) = descent.update(0.0);
    let mut keep = 0.0;
    let mut iterations = 0;
    while !is_within {
        let curvature = descent.product(keep);
        iterations += 1;
        // Not positive: the residual is zero, or the matrix is not positive definite.
        if iterations > most || curvature.is_nan() || curvature <= 0.0 {
            return Solution { x: descent.x, iterations, converged: false };
        }
        let previous = energy;
        (energy, is_within) = descent.update(energy / curvature);
        keep = energy / previous;
    }
    Solution { x: descent.x, iterations, converged: true }
}

/// A system and the state of its iteration.
struct Iteration<'a> {
    matrix: &'a Csr<f64>,
    inverse: Vec<f64>,
    limit: &'a [f64],
    x: Vec<f64>,
    /// Residual b - A x.
    residual: Vec<f64>,
    /// The residual after preconditioning.
    scaled: Vec<f64>,
    /// Search direction.
    direction: Vec<f64>,
    /// The matrix times the direction.
    product: Vec<f64>,
    /// Partial sums, one for each group of rows.
    sums: Vec<f64>,
}

impl<'a> Iteration<'a> {
    fn new(matrix: &'a Csr<f64>, b: &[f64], limit: &'a [f64]) -> Self {
        let zeros = vec![0.0; b.len()];
        Self {
            matrix,
            inverse: preconditioner(matrix),
            limit,
            x: zeros.clone(),
            residual: b.to_vec(),
            scaled: zeros.clone(),
            direction: zeros.clone(),
            product: zeros,
            sums: vec![0.0; b.len().div_ceil(SUMMED)],
        }
    }

    /// Updates the search direction to the scaled residual plus `keep` times the old direction, and multiplies it by
    /// the matrix; returns the curvature, the scalar product of both.
    fn product(&mut self, keep: f64) -> f64 {
        let Self { matrix, scaled, direction, product, sums, .. } = self;
        let groups = direction.par_chunks_mut(SUMMED).zip(scaled.par_chunks(SUMMED));
        groups.with_min_len(GROUPS).for_each(|(direction, scaled)| {
            for (direction, scaled) in direction.iter_mut().zip(scaled) {
                *direction = scaled + keep * *direction;
            }
        });
        let direction = &*direction;
        let groups = product.par_chunks_mut(SUMMED).zip(sums.par_iter_mut()).enumerate();
        groups.with_min_len(GROUPS).for_each(|(group, (product, sum))| {
            let first = group * SUMMED;
            matrix.multiply_rows(first, direction, product);
            *sum = halved(product.iter().zip(&direction[first..]).map(|(p, d)| d * p));
        });
        total(sums)
    }

    /// Moves x by `length` along the direction; returns the scalar product of the residual with the scaled residual,
    /// and `true` if all residuals are within their limits.
    fn update(&mut self, length: f64) -> (f64, bool) {
        let Self { inverse, limit, x, residual, scaled, direction, product, sums, .. } = self;
        let groups = x
            .par_chunks_mut(SUMMED)
            .zip(residual.par_chunks_mut(SUMMED))
            .zip(scaled.par_chunks_mut(SUMMED))
            .zip(sums.par_iter_mut())
            .enumerate();
        let is_within = groups
            .with_min_len(GROUPS)
            .map(|(group, (((x, residual), scaled), sum))| {
                let rows = group * SUMMED..group * SUMMED + x.len();
                let (direction, product) = (&direction[rows.clone()], &product[rows.clone()]);
                let (inverse, limit) = (&inverse[rows.clone()], &limit[rows]);
                let mut is_within = true;
                for at in 0..x.len() {
                    x[at] += length * direction[at];
                    residual[at] -= length * product[at];
                    scaled[at] = inverse[at] * residual[at];
                    is_within &= residual[at].abs() <= limit[at];
                }
                *sum = halved(residual.iter().zip(&*scaled).map(|(r, z)| r * z));
                is_within
            })
            .reduce(|| true, |a, b| a & b);
        (total(sums), is_within)
    }
}

/// Sum of at most [`SUMMED`] terms by halves: the upper half is added to the lower one until one is left.
fn halved(terms: impl Iterator<Item = f64>) -> f64 {
    let mut lanes = [0.0; SUMMED];
    for (lane, term) in lanes.iter_mut().zip(terms) {
        *lane = term;
    }
    by_halves(lanes)
}

fn total(sums: &[f64]) -> f64 {
    let mut lanes = [0.0; SUMMED];
    for sums in sums.chunks(SUMMED) {
        for (lane, sum) in lanes.iter_mut().zip(sums) {
            *lane += sum;
        }
    }
    by_halves(lanes)
}

fn by_halves(mut lanes: [f64; SUMMED]) -> f64 {
    let mut half = SUMMED / 2;
    while half > 0 {
        let (lower, upper) = lanes.split_at_mut(half);
        for (a, b) in lower.iter_mut().zip(upper) {
            *a += *b;
        }
        half /= 2;
    }
    lanes[0]
}
