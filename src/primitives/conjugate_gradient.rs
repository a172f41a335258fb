//! The method of conjugate gradients for symmetric positive definite systems.
//!
//! Sums have an order that a device can keep as well: [`SUMMED`] products side by side, by halves, and the sums of all
//! these in the same way. So the bits of a solution depend neither on the threads nor on the backend.
//!
//! # Decisions
//!
//! **The solver of the projection runs where the run computes, with the same bits.** The backend provides the solver.
//! The CPU adds in the order of a block of threads, 256 products by halves, and the device rounds products and sums one
//! by one. So CPU and GPU start from the same winds, whichever made them. On the device an iteration is two kernels
//! whose intermediate values stay there, and 20 iterations are a graph, after which the host reads one word.

use std::fmt;

use rayon::prelude::*;

use super::csr::Csr;
use crate::error::Result;

/// Rows whose products are added up by halves.
pub const SUMMED: usize = 256;

/// Groups of [`SUMMED`] rows that one thread handles on its own.
const GROUPS: usize = 64;

/// Result of a solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The approximate solution, one number for each row of the matrix.
    pub x: Vec<f64>,
    /// Products with the matrix that it took.
    pub iterations: usize,
    /// `true` if every residual came within its limit.
    pub converged: bool,
}

/// Solver of linear systems: the processors here or a device.
pub trait Solver: fmt::Debug + Send + Sync {
    /// Solves `A x = b` until `|b - A x| <= limit` holds in every row, or with `most` iterations.
    ///
    /// It has the result of [`solve`], bit for bit.
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

/// The processors here.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnCpu;

impl Solver for OnCpu {
    fn solve(&self, matrix: &Csr<f64>, b: &[f64], limit: &[f64], most: usize) -> Result<Solution> {
        Ok(solve(matrix, b, limit, most))
    }
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
    check_lengths(matrix, b, limit);
    // Among the threads of the pool, those of a small system lose no time asking for others.
    rayon::scope(|_| descend(Descent::new(matrix, b, limit), most))
}

/// Panics where the parts of a system do not fit.
pub(crate) fn check_lengths(matrix: &Csr<f64>, b: &[f64], limit: &[f64]) {
    let n = b.len();
    assert_eq!([matrix.rows(), matrix.columns(), limit.len()], [n; 3], "lengths of the system");
}

/// Factors of the residuals: reciprocals of the diagonal.
///
/// A row without diagonal is empty in a matrix of this kind, and its residual is not scaled.
pub(crate) fn preconditioner(matrix: &Csr<f64>) -> Vec<f64> {
    matrix.diagonal().iter().map(|&d| if d > 0.0 { 1.0 / d } else { 0.0 }).collect()
}

fn descend(mut descent: Descent<'_>, most: usize) -> Solution {
    let (mut energy, mut is_within) = descent.update(0.0);
    let mut keep = 0.0;
    let mut iterations = 0;
    while !is_within {
        let curvature = descent.product(keep);
        iterations += 1;
        // Not positive: nothing left to descend, or the matrix is not positive definite.
        if iterations > most || curvature.is_nan() || curvature <= 0.0 {
            return Solution { x: descent.x, iterations, converged: false };
        }
        let previous = energy;
        (energy, is_within) = descent.update(energy / curvature);
        keep = energy / previous;
    }
    Solution { x: descent.x, iterations, converged: true }
}

/// A system and how far it is solved.
struct Descent<'a> {
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
    /// One sum for each group of rows.
    sums: Vec<f64>,
}

impl<'a> Descent<'a> {
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

    /// Turns to the direction of the scaled residual, with a part of the one before, and multiplies
    /// it; returns the product of both, the curvature.
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

    /// Moves x along the direction; returns the product of the residual with the scaled one, and
    /// whether all residuals are within their limits.
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

/// The sum of some terms: term n goes to lane n mod [`SUMMED`], and the lanes are added up by
/// halves, the upper half to the lower one.
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
