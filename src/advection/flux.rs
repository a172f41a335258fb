//! Tracer carried through one face: high-order values and low-order fluxes, as functions of
//! scalars.
//!
//! The same formulas serve all three axes: `mass` is the mass flux of air through the face,
//! positive toward the cell of higher index, and the cells of a stencil come in the order of
//! their index. Where the flux is zero the upwind side does not matter.

use crate::real::Real;
use crate::shared::shared_constants;

shared_constants! {
    /// Constants of the fluxes and of their limiters.
    pub trait FluxConstants: Real;

    /// Divisor of the weights of the fifth-order flux (WS02), as a factor.
    exact SIXTIETH = 1.0 / 60.0, "1";
    /// Divisor of the weights of the third-order flux (WS02), as a factor.
    exact TWELFTH = 1.0 / 12.0, "1";
    /// Guard against 0/0 where an amount is shared out; far below any that matters.
    exact SMALLEST = 1.0e-20, "kg";
}

/// Fifth-order flux: the sixth-order centred value of six cells less an upwind correction.
///
/// Φ = F q₆ − |F|/60 · \[(q₊₃ − q₋₃) − 5 (q₊₂ − q₋₂) + 10 (q₊₁ − q₋₁)\]
///
/// q₆ = \[37 (q₊₁ + q₋₁) − 8 (q₊₂ + q₋₂) + (q₊₃ + q₋₃)\] / 60, written as the mean of the two
/// nearest cells and differences, so that a constant is carried exactly.
///
/// Source: WS02.
/// Units: `mass` kg s⁻¹, `q` kg kg⁻¹ (three cells on either side); returns kg s⁻¹.
#[inline(always)]
pub fn fifth_order_flux<R: FluxConstants>(mass: R, q: [R; 6]) -> R {
    let [below_3, below_2, below_1, above_1, above_2, above_3] = q;
    let near = above_1 + below_1;
    let middle = above_2 + below_2;
    let far = above_3 + below_3;
    // 37 near - 8 middle + far = 30 near + (far - near) - 8 (middle - near), over 60.
    let centred = near * R::HALF + ((far - near) - R::of(8.0) * (middle - near)) * R::SIXTIETH;
    // Fifth difference: 1, -5, 10.
    let upwind = ((above_3 - below_3) - R::of(5.0) * (above_2 - below_2)
        + R::of(10.0) * (above_1 - below_1))
        * R::SIXTIETH;
    mass * centred - mass.abs() * upwind
}

/// Third-order flux: the fourth-order centred value of four cells with an upwind correction.
///
/// Φ = F q₄ + |F|/12 · \[(q₊₂ − q₋₂) − 3 (q₊₁ − q₋₁)\]
///
/// q₄ = \[7 (q₊₁ + q₋₁) − (q₊₂ + q₋₂)\] / 12, written so that a constant is carried exactly.
///
/// Source: WS02.
/// Units: `mass` kg s⁻¹, `q` kg kg⁻¹ (two cells on either side); returns kg s⁻¹.
#[inline(always)]
pub fn third_order_flux<R: FluxConstants>(mass: R, q: [R; 4]) -> R {
    let [below_2, below_1, above_1, above_2] = q;
    let near = above_1 + below_1;
    let far = above_2 + below_2;
    // 7 near - far = 6 near - (far - near), over 12.
    let centred = near * R::HALF - (far - near) * R::TWELFTH;
    // Third difference: 1, -3.
    let upwind = ((above_2 - below_2) - R::of(3.0) * (above_1 - below_1)) * R::TWELFTH;
    mass * centred + mass.abs() * upwind
}

/// Flux of a value interpolated between two cells, without upwinding.
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
/// Φ = max(F, 0) q₋ + min(F, 0) q₊
///
/// Source: W09 (low-order flux of the monotonic limiter).
/// Units: `mass` kg s⁻¹, `q` kg kg⁻¹; returns kg s⁻¹.
#[inline(always)]
pub fn upwind_flux<R: Real>(mass: R, q: [R; 2]) -> R {
    mass.larger(R::ZERO) * q[0] + mass.smaller(R::ZERO) * q[1]
}

/// First-order upwind flux of at most half the mass around the face.
///
/// Φ = min(max(F, 0), K) q₋ + max(min(F, 0), −K) q₊
///
/// Source: SW09 (low-order flux of the positive-definite limiter).
/// Units: `mass` kg s⁻¹, `capacity` K kg s⁻¹, `q` kg kg⁻¹; returns kg s⁻¹.
#[inline(always)]
pub fn capped_flux<R: Real>(mass: R, capacity: R, q: [R; 2]) -> R {
    mass.larger(R::ZERO).smaller(capacity) * q[0] + mass.smaller(R::ZERO).larger(-capacity) * q[1]
}

/// What belongs to the six faces of a cell, or of a row of cells.
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
