//! The method of conjugate gradients for symmetric positive definite systems, preconditioned by multigrid.
//!
//! Scalar products are [`Sums`] in fixed point, so that the bits of a solution depend neither on the threads nor on the
//! backend.
//!
//! # Decisions
//!
//! **The solver of the projection runs on the backend of the run, with the same bits on both.** The device rounds
//! products and sums separately, as the CPU does; the order of the sums does not matter. So CPU and GPU start from the
//! same winds. On the device a graph has some iterations, after which the host reads one word.
//!
//! **The unit of the sums is a power of two of the largest value of the first residual** (`Scales`). A term is up to
//! about 2³⁰ of it at first, since the potential is larger than the residual by the square of the number of cells along
//! a side, and the sum has to stay below 2⁸³ units; when residuals have decreased to a part in 10¹⁰, terms still have 22
//! bits.

use std::fmt;

use rayon::prelude::*;

use super::csr::Csr;
use super::multigrid::{Multigrid, Workspace, exponent_of};
use super::sums::{AT_ONCE, Sums, power_of_two};
use crate::error::Result;

/// Rows that a thread takes at least, and whose products are summed up at once.
const ROWS: usize = 1 << 12;
const _: () = assert!(ROWS <= AT_ONCE, "exact sums of a group");

/// Factor of the terms of a sum, of which the first are about 1.
const FIRST_TERMS: f64 = power_of_two(28);

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

/// A matrix, and its hierarchy of coarser ones as a preconditioner.
#[derive(Clone, Copy, Debug)]
pub struct System<'a> {
    /// The matrix, symmetric and positive definite.
    pub matrix: &'a Csr<f64>,
    /// The hierarchy, of the same matrix or of a similar one.
    pub multigrid: &'a Multigrid,
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
    /// When the matrix is not square, or the hierarchy or a vector has another length.
    fn solve(&self, system: System<'_>, b: &[f64], limit: &[f64], most: usize) -> Result<Solution>;
}

/// The solver on the CPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnCpu;

impl Solver for OnCpu {
    fn solve(&self, system: System<'_>, b: &[f64], limit: &[f64], most: usize) -> Result<Solution> {
        Ok(solve(system, b, limit, most))
    }
}

/// Solves `A x = b` until `|b - A x| <= limit` holds in every row, from `x = 0`.
///
/// A singular matrix that is positive except on its kernel, as in a Poisson problem without boundary, is admitted if b
/// is in its range; x is then determined up to the kernel. The residual is that of the recurrence, which may differ from
/// `b - A x` by rounding: a caller that depends on the limit must check it.
///
/// Source: Hestenes, Stiefel 1952, J. Res. Natl. Bur. Stand. 49, 409-436.
///
/// # Panics
///
/// When the matrix is not square, or the hierarchy or a vector has another length.
pub fn solve(system: System<'_>, b: &[f64], limit: &[f64], most: usize) -> Solution {
    match Start::new(system, b, limit) {
        Start::Ended(solution) => solution,
        // Inside the thread pool, so that the loops of a small system need not enter it each time.
        Start::Scales(scales) => {
            rayon::scope(|_| descend(Iteration::new(system, b, limit, scales), most))
        }
    }
}

/// Beginning of the iterations, or their end if there is nothing to iterate.
#[derive(Clone, Debug)]
pub(crate) enum Start {
    /// The result: 0 if that is within the limits, or if the right-hand side has no largest value.
    Ended(Solution),
    /// The scales of a system.
    Scales(Scales),
}

impl Start {
    /// The beginning for a system.
    ///
    /// # Panics
    ///
    /// As [`Solver::solve`].
    pub(crate) fn new(System { matrix, multigrid }: System<'_>, b: &[f64], limit: &[f64]) -> Self {
        let n = b.len();
        let lengths = [matrix.rows(), matrix.columns(), multigrid.cells(), limit.len()];
        assert_eq!(lengths, [n; 4], "lengths of the system");
        let ended = |converged| Self::Ended(Solution { x: vec![0.0; n], iterations: 0, converged });
        if b.par_iter().any(|b| !b.is_finite()) {
            return ended(false);
        }
        if b.par_iter().zip(limit).all(|(b, limit)| b.abs() <= *limit) {
            return ended(true);
        }
        let largest = b.par_iter().map(|b| b.abs()).reduce(|| 0.0, f64::max);
        Self::Scales(Scales::new(exponent_of(largest), multigrid.exponent()))
    }
}

/// Powers of two by which numbers of a system are multiplied, so that they are about 1 at first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scales {
    /// Factor of the residual for the preconditioner.
    pub(crate) residual: f64,
    /// Factor of a product of residual and preconditioned residual, both scaled, in a sum.
    pub(crate) energy: f64,
    /// Factor of a product of the direction and the matrix times the direction in a sum.
    pub(crate) curvature: f64,
    /// Factor of the step length.
    pub(crate) length: f64,
}

impl Scales {
    fn new(residual: i32, matrix: i32) -> Self {
        Self {
            residual: power_of_two(-residual),
            energy: FIRST_TERMS,
            curvature: power_of_two(-matrix) * FIRST_TERMS,
            length: power_of_two(residual - matrix),
        }
    }
}

fn descend(mut descent: Iteration<'_>, most: usize) -> Solution {
    let mut energy = f64::INFINITY;
    let mut iterations = 0;
    loop {
        let previous = energy;
        energy = descent.energy();
        let curvature = descent.product(energy / previous);
        iterations += 1;
        let length = energy / curvature * descent.scales.length;
        // Not positive: the matrix is not positive definite, or the residual is zero or not finite.
        if iterations > most || curvature.is_nan() || curvature <= 0.0 || !length.is_finite() {
            return Solution { x: descent.x, iterations, converged: false };
        }
        if descent.update(length) {
            return Solution { x: descent.x, iterations, converged: true };
        }
    }
}

/// A system and the state of its iteration.
struct Iteration<'a> {
    system: System<'a>,
    scales: Scales,
    limit: &'a [f64],
    x: Vec<f64>,
    /// Residual b - A x.
    residual: Vec<f64>,
    /// The residual, scaled, and after preconditioning.
    cycle: Workspace,
    /// Search direction.
    direction: Vec<f64>,
    /// The matrix times the direction.
    product: Vec<f64>,
}

impl<'a> Iteration<'a> {
    fn new(system: System<'a>, b: &[f64], limit: &'a [f64], scales: Scales) -> Self {
        let zeros = vec![0.0; b.len()];
        let mut cycle = Workspace::new(system.multigrid);
        let scaled = cycle.right_hand_side().par_iter_mut().zip(b).with_min_len(ROWS);
        scaled.for_each(|(scaled, b)| *scaled = (b * scales.residual) as f32);
        Self {
            system,
            scales,
            limit,
            x: zeros.clone(),
            residual: b.to_vec(),
            cycle,
            direction: zeros.clone(),
            product: zeros,
        }
    }

    /// Applies the preconditioner to the residual; returns the scalar product of both.
    fn energy(&mut self) -> f64 {
        let Scales { residual: scale, energy: unit, .. } = self.scales;
        let improved = self.cycle.cycle(self.system.multigrid);
        let groups = self.residual.par_chunks(ROWS).zip(improved.par_chunks(ROWS));
        let sums = groups.map(|(residual, improved)| {
            let terms = residual.iter().zip(improved);
            Sums::of(terms.map(|(r, z)| (r * scale) * f64::from(*z) * unit))
        });
        total(sums)
    }

    /// Updates the search direction to the improved residual plus `keep` times the old direction, and multiplies it by
    /// the matrix; returns the curvature, the scalar product of both.
    fn product(&mut self, keep: f64) -> f64 {
        let Self { system, cycle, direction, product, scales, .. } = self;
        let groups = direction.par_chunks_mut(ROWS).zip(cycle.solution().par_chunks(ROWS));
        groups.for_each(|(direction, improved)| {
            for (direction, improved) in direction.iter_mut().zip(improved) {
                *direction = f64::from(*improved) + keep * *direction;
            }
        });
        let direction = &*direction;
        let groups = product.par_chunks_mut(ROWS).enumerate();
        total(groups.map(|(group, product)| {
            let first = group * ROWS;
            system.matrix.multiply_rows(first, direction, product);
            let terms = product.iter().zip(&direction[first..]);
            Sums::of(terms.map(|(p, d)| d * p * scales.curvature))
        }))
    }

    /// Moves x by `length` along the direction; returns `true` if all residuals are within their limits.
    fn update(&mut self, length: f64) -> bool {
        let Self { limit, x, residual, cycle, direction, product, scales, .. } = self;
        let groups = x
            .par_chunks_mut(ROWS)
            .zip(residual.par_chunks_mut(ROWS))
            .zip(cycle.right_hand_side().par_chunks_mut(ROWS))
            .enumerate();
        groups
            .map(|(group, ((x, residual), scaled))| {
                let rows = group * ROWS..group * ROWS + x.len();
                let (direction, product) = (&direction[rows.clone()], &product[rows.clone()]);
                let limit = &limit[rows];
                let mut is_within = true;
                for at in 0..x.len() {
                    x[at] += length * direction[at];
                    residual[at] -= length * product[at];
                    scaled[at] = (residual[at] * scales.residual) as f32;
                    is_within &= residual[at].abs() <= limit[at];
                }
                is_within
            })
            .reduce(|| true, |a, b| a & b)
    }
}

fn total(sums: impl ParallelIterator<Item = Sums>) -> f64 {
    let add = |mut a: Sums, b: Sums| {
        a += b;
        a
    };
    sums.reduce(Sums::default, add).value()
}
