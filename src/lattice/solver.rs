//! Solution of `M x = b` by conjugate gradients on the normal equations of the even-odd preconditioned operator, and
//! defect correction: single-precision solutions iterated to double precision.

use super::checkerboard::Parity;
use super::dirac::{self, Dirac, Stop};
use crate::error::Result;
use crate::real::Real;

/// Most iterations of a solver.
pub const MOST_ITERATIONS: usize = 10_000;

/// Result of a system.
#[derive(Clone, Debug)]
pub struct Solution<R> {
    /// The solution on the whole lattice, (t, z, y, x, spin, color, complex).
    pub x: Vec<R>,
    /// Number of iterations.
    pub iterations: usize,
    /// `|b_hat - M_hat x_e| / |b_hat|`, computed from the solution; 0 where b_hat is 0.
    pub residual: f64,
    /// `|r_k| / |b_hat|` before the first and after every iteration.
    pub history: Vec<f64>,
    /// `true` if the residual is within the tolerance, that of the solution as well as the last one of the iteration.
    pub converged: bool,
}

/// Solves `M x = b`; b is (t, z, y, x, spin, color, complex).
///
/// # Errors
///
/// [`Error::Gpu`](crate::error::Error::Gpu) when a device fails.
pub fn solve<R: Real, D: Dirac<R>>(
    dirac: &D,
    kappa: f64,
    b: &[R],
    stop: Stop,
) -> Result<Solution<R>> {
    let (b_hat, b_odd) = even_and_odd(dirac, kappa, b)?;
    let (x_even, squares) = dirac.conjugate_gradient(kappa, &b_hat, stop)?;
    let mut x_odd = dirac.zeros()?;
    dirac.hop(Parity::Odd, false, &x_even, Some((&b_odd, kappa)), &mut x_odd)?;
    let mut x = vec![R::ZERO; b.len()];
    dirac.store(Parity::Even, &x_even, &mut x)?;
    dirac.store(Parity::Odd, &x_odd, &mut x)?;
    let norm = squares[0].sqrt();
    let relative = |square: f64| if norm > 0.0 { square.sqrt() / norm } else { square.sqrt() };
    let history: Vec<f64> = squares.iter().map(|&square| relative(square)).collect();
    let residual = relative(dirac.residual2(kappa, &x_even, &b_hat)?);
    // The first entry is 1, or 0 for a right-hand side of zero.
    let last = history.last().copied().unwrap_or(0.0);
    let converged = norm == 0.0 || (last <= stop.tolerance && residual <= stop.tolerance);
    Ok(Solution { x, iterations: history.len() - 1, residual, history, converged })
}

impl<R> Solution<R> {
    /// Returns `true` if the residual that is carried along is within the tolerance and that of the solution is not:
    /// the tolerance is near or below the rounding of the precision.
    pub fn is_rounded_off(&self, stop: Stop) -> bool {
        self.history.last().is_some_and(|last| *last <= stop.tolerance)
            && self.residual > stop.tolerance
    }
}

/// Largest ratio of the residual of a solution to a tolerance that rounding explains where the tolerance is above it.
const ROUNDED_OFF: f64 = 2.0;

/// The solution by [`solve`], such that its residual is within the tolerance and not only the one that is carried along
/// through the iteration: if that differs by rounding, once more with a tolerance that is smaller in this ratio.
///
/// # Errors
///
/// As [`solve`].
pub fn solve_to_the_residual<R: Real, D: Dirac<R>>(
    dirac: &D,
    kappa: f64,
    b: &[R],
    stop: Stop,
) -> Result<Solution<R>> {
    let solution = solve(dirac, kappa, b, stop)?;
    let ratio = solution.residual / stop.tolerance;
    if !solution.is_rounded_off(stop) || ratio > ROUNDED_OFF {
        return Ok(solution);
    }
    let finer = Stop { tolerance: stop.tolerance / (ratio * ratio), ..stop };
    let again = solve(dirac, kappa, b, finer)?;
    let converged = again.residual <= stop.tolerance;
    Ok(Solution { converged, ..again })
}

/// Result of the defect correction.
#[derive(Clone, Debug)]
pub struct Corrected {
    /// The solution.
    pub solution: Solution<f64>,
    /// Number of corrections, each by a solution in single precision.
    pub corrections: usize,
}

/// Tolerance of the inner solver, which single precision reaches for all of these systems; it stalls near 3e-7.
const INNER_TOLERANCE: f64 = 1e-5;
/// Most corrections: each gains five digits, and double precision has sixteen.
const MOST_CORRECTIONS: usize = 10;

/// Solves `M x = b` in double precision by solutions in single precision. The residual is computed in double precision;
/// each inner solution reduces it to about `INNER_TOLERANCE` of its size.
///
/// # Errors
///
/// As [`solve`].
pub fn defect_correction<W: Dirac<f64>, N: Dirac<f32>>(
    wide: &W,
    narrow: &N,
    kappa: f64,
    b: &[f64],
    stop: Stop,
) -> Result<Corrected> {
    let mut x = vec![0.0; b.len()];
    let (mut history, mut iterations, mut corrections) = (Vec::new(), 0, 0);
    let even_norm =
        |b: &[f64]| -> Result<f64> { Ok(wide.norm2(&even_and_odd(wide, kappa, b)?.0)?.sqrt()) };
    let b_hat_norm = even_norm(b)?;
    loop {
        // On odd sites the residual is rounding only; the next correction removes it too.
        let m_x = dirac::wilson(wide, kappa, &x)?;
        let rest: Vec<f64> = b.iter().zip(&m_x).map(|(b, m_x)| b - m_x).collect();
        let norm = even_norm(&rest)?;
        let residual = if b_hat_norm > 0.0 { norm / b_hat_norm } else { norm };
        history.push(residual);
        let converged = residual <= stop.tolerance;
        if converged || corrections == MOST_CORRECTIONS || !residual.is_finite() {
            let solution = Solution { x, iterations, residual, history, converged };
            return Ok(Corrected { solution, corrections });
        }
        // Scaled, so that small residuals do not underflow in single precision.
        let scaled: Vec<f32> = rest.iter().map(|&r| (r / norm) as f32).collect();
        let tolerance = INNER_TOLERANCE.max(0.5 * stop.tolerance / residual);
        let most = stop.most.saturating_sub(iterations);
        let inner = solve(narrow, kappa, &scaled, Stop { tolerance, most })?;
        for (x, e) in x.iter_mut().zip(&inner.x) {
            *x += norm * f64::from(*e);
        }
        iterations += inner.iterations;
        corrections += 1;
    }
}

/// The right-hand side on even sites, `b_hat = b_e + kappa D_eo b_o`, and b on odd sites.
fn even_and_odd<R: Real, D: Dirac<R>>(
    dirac: &D,
    kappa: f64,
    b: &[R],
) -> Result<(D::Half, D::Half)> {
    let (even, odd) = (dirac.load(Parity::Even, b)?, dirac.load(Parity::Odd, b)?);
    let mut b_hat = dirac.zeros()?;
    dirac.hop(Parity::Even, false, &odd, Some((&even, kappa)), &mut b_hat)?;
    Ok((b_hat, odd))
}
