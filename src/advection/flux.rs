//! Tracer flux through one face: high-order values and low-order (upwind, donor-cell) fluxes, as functions of
//! scalars.
//!
//! The same formulas serve all three axes: `mass` is the mass flux of air through the face,
//! positive toward the cell of higher index, and the cells of a stencil come in the order of
//! their index. Where the flux is zero the upwind side does not matter.

use crate::cuda_abi::shared_constants;
use crate::real::Real;

shared_constants! {
    /// Constants of the fluxes and of their limiters.
    pub trait FluxConstants: Real;

    /// Divisor of the weights of the fifth-order flux (WS02), as a factor.
    exact SIXTIETH = 1.0 / 60.0, "1";
    /// Divisor of the weights of the third-order flux (WS02), as a factor.
    exact TWELFTH = 1.0 / 12.0, "1";
    /// Guard against 0/0 in ratios of amounts; far below any amount that matters.
    exact SMALLEST = 1.0e-20, "kg";
    /// Mixing ratios below this are set to zero. The scheme spreads a tracer over many cells in ever smaller amounts,
    /// and processors are slow with subnormal numbers.
    exact LEAST_KEPT = 1.0e-30, "kg kg⁻¹";
}

/// Fifth-order flux: the sixth-order centred value of six cells less an upwind correction.
///
/// Φ = F q₆ − |F|/60 · \[(q₊₃ − q₋₃) − 5 (q₊₂ − q₋₂) + 10 (q₊₁ − q₋₁)\]
///
/// q₆ = \[37 (q₊₁ + q₋₁) − 8 (q₊₂ + q₋₂) + (q₊₃ + q₋₃)\] / 60. Both are written in differences of neighbouring cells: a
/// constant field is carried exactly, and adjacent faces share differences.
///
/// Source: WS02.
/// Units: `mass` kg s⁻¹, `q` kg kg⁻¹ (three cells on either side); returns kg s⁻¹.
#[inline(always)]
pub fn fifth_order_flux<R: FluxConstants>(mass: R, q: [R; 6]) -> R {
    let [below_3, below_2, below_1, above_1, above_2, above_3] = q;
    let outer_below = below_2 - below_3;
    let inner_below = below_1 - below_2;
    let across = above_1 - below_1;
    let inner_above = above_2 - above_1;
    let outer_above = above_3 - above_2;
    // The centred value: the mean of the two nearest cells, and the differences, from the lowest to the highest, with
    // the weights -1, 7, 0, -7, 1 over 60.
    let curved = (outer_above - outer_below) - R::of(7.0) * (inner_above - inner_below);
    let centred = (above_1 + below_1) * R::HALF + curved * R::SIXTIETH;
    // The upwind correction, 1, -5, 10 in values, is 1, -4, 6, -4, 1 in differences.
    let upwind = ((outer_above + outer_below) - R::of(4.0) * (inner_above + inner_below))
        + R::of(6.0) * across;
    mass * centred - (mass.abs() * R::SIXTIETH) * upwind
}

/// Third-order flux: the fourth-order centred value of four cells with an upwind correction.
///
/// Φ = F q₄ + |F|/12 · \[(q₊₂ − q₋₂) − 3 (q₊₁ − q₋₁)\]
///
/// q₄ = \[7 (q₊₁ + q₋₁) − (q₊₂ + q₋₂)\] / 12. Both are written in differences of neighbouring cells.
///
/// Source: WS02.
/// Units: `mass` kg s⁻¹, `q` kg kg⁻¹ (two cells on either side); returns kg s⁻¹.
#[inline(always)]
pub fn third_order_flux<R: FluxConstants>(mass: R, q: [R; 4]) -> R {
    let [below_2, below_1, above_1, above_2] = q;
    let below = below_1 - below_2;
    let across = above_1 - below_1;
    let above = above_2 - above_1;
    let centred = (above_1 + below_1) * R::HALF - (above - below) * R::TWELFTH;
    // The upwind correction, 1, -3 in values, is 1, -2, 1 in differences.
    let upwind = (above + below) - R::TWO * across;
    mass * centred + (mass.abs() * R::TWELFTH) * upwind
}

/// Second-order flux: a value interpolated between two cells, without upwinding.
///
/// Φ = F (w₋ q₋ + w₊ q₊)
///
/// Source: S06 (faces next to the ground, to the lid and to a lateral side).
/// Units: `mass` kg s⁻¹, `q` kg kg⁻¹, `weights` 1 and of sum 1; returns kg s⁻¹.
#[inline(always)]
pub fn linear_flux<R: Real>(mass: R, q: [R; 2], weights: [R; 2]) -> R {
    mass * (weights[1] * q[1] + weights[0] * q[0])
}

/// First-order upwind flux.
///
/// Φ = F q₋ where F > 0, else F q₊
///
/// Source: W09 (low-order flux of the monotonic limiter).
/// Units: `mass` kg s⁻¹, `q` kg kg⁻¹; returns kg s⁻¹.
#[inline(always)]
pub fn upwind_flux<R: Real>(mass: R, q: [R; 2]) -> R {
    mass * if mass > R::ZERO { q[0] } else { q[1] }
}

/// First-order upwind flux of at most half the mass around the face.
///
/// Φ as [`upwind_flux`], with F limited to the range −K to K.
///
/// Source: SW09 (low-order flux of the positive-definite limiter).
/// Units: `mass` kg s⁻¹, `capacity` K kg s⁻¹, `q` kg kg⁻¹; returns kg s⁻¹.
#[inline(always)]
pub fn courant_limited_upwind<R: Real>(mass: R, capacity: R, q: [R; 2]) -> R {
    upwind_flux(mass.larger(-capacity).smaller(capacity), q)
}

/// Mixing ratio after a net outflow; zero if it would be below `LEAST_KEPT`.
///
/// q − Δt ∇·Φ / M
///
/// Source: WS02.
/// Units: `q` kg kg⁻¹, `dt` s, `outflow` ∇·Φ kg s⁻¹, `mass` M kg; returns kg kg⁻¹.
#[inline(always)]
pub fn updated<R: FluxConstants>(q: R, dt: R, outflow: R, mass: R) -> R {
    let left = q - dt * outflow / mass;
    if left.abs() < R::LEAST_KEPT { R::ZERO } else { left }
}

/// Values at the six faces of a cell, or of a row of cells.
#[derive(Clone, Copy, Debug)]
pub struct Faces<T> {
    /// Toward i - 1.
    pub west: T,
    /// Toward i + 1.
    pub east: T,
    /// Toward j - 1.
    pub south: T,
    /// Toward j + 1.
    pub north: T,
    /// Toward k - 1.
    pub bottom: T,
    /// Toward k + 1.
    pub top: T,
}

impl<R: Real> Faces<R> {
    /// Net outflow of fluxes that are positive toward higher indices.
    ///
    /// Units: those of the fluxes.
    #[inline(always)]
    pub fn net_outflow(self) -> R {
        ((self.east - self.west) + (self.north - self.south)) + (self.top - self.bottom)
    }

    /// Sum of the fluxes that leave the cell, ≥ 0.
    #[inline(always)]
    pub fn outgoing(self) -> R {
        let Self { west, east, south, north, bottom, top } = self;
        ((east.larger(R::ZERO) - west.smaller(R::ZERO))
            + (north.larger(R::ZERO) - south.smaller(R::ZERO)))
            + (top.larger(R::ZERO) - bottom.smaller(R::ZERO))
    }

    /// Sum of the fluxes that enter the cell, ≥ 0.
    #[inline(always)]
    pub fn incoming(self) -> R {
        let Self { west, east, south, north, bottom, top } = self;
        ((west.larger(R::ZERO) - east.smaller(R::ZERO))
            + (south.larger(R::ZERO) - north.smaller(R::ZERO)))
            + (bottom.larger(R::ZERO) - top.smaller(R::ZERO))
    }
}

impl<R: Copy> Faces<&[R]> {
    /// The six rows, each of the first `n` cells.
    #[inline(always)]
    pub(super) fn first(self, n: usize) -> Self {
        Self {
            west: &self.west[..n],
            east: &self.east[..n],
            south: &self.south[..n],
            north: &self.north[..n],
            bottom: &self.bottom[..n],
            top: &self.top[..n],
        }
    }

    /// The six values of cell i of the row.
    #[inline(always)]
    pub(super) fn at(self, i: usize) -> Faces<R> {
        Faces {
            west: self.west[i],
            east: self.east[i],
            south: self.south[i],
            north: self.north[i],
            bottom: self.bottom[i],
            top: self.top[i],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_small_is_nothing() {
        // One second of outflow leaves a mixing ratio of 2e-30 and one of 5e-31, on either side of the bound.
        for (left, kept) in [(2e-30_f32, true), (5e-31, false), (-5e-31, false), (-2e-30, true)] {
            let q = 4.0 * left;
            assert_eq!(updated(q, 1.0, q - left, 1.0) != 0.0, kept, "{left}");
        }
        assert_eq!(updated(1.0, 2.0, 3.0, 4.0), -0.5);
    }
}
