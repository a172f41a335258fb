//! Scale factors of the corrections (antidiffusive fluxes), the differences between high-order and low-order fluxes, as
//! functions of scalars.
//!
//! A limited flux is the low-order flux plus the correction times a factor between 0 and 1 (flux-corrected transport).
//! The factor belongs to the cells on either side of the face, and the sign of the correction, not of the wind, decides
//! which cell gives and which receives.

use super::flux::{Faces, FluxConstants};
use crate::real::Real;

/// Amount of tracer in a cell after the low-order fluxes of a step.
///
/// P = M q − Δt ∇·Φ
///
/// Source: SW09.
/// Units: `mass` kg, `q` kg kg⁻¹, `dt` s, `low` kg s⁻¹; returns kg.
#[inline(always)]
pub fn low_order_mass<R: Real>(mass: R, q: R, dt: R, low: Faces<R>) -> R {
    mass * q - dt * low.net_outflow()
}

/// Limiter ratio: the largest factor of a total that an available amount admits.
///
/// max(0, available / wanted) if wanted > available, else 1
///
/// With the sum of all outgoing corrections as the total and the low-order content as the amount, this is the factor of
/// the positive-definite limiter. The two factors of the monotonic limiter take the distances of the content from its
/// lower and from its upper bound instead.
///
/// Source: SW09; W09.
/// Units: kg; returns 0 to 1.
#[inline(always)]
pub fn limiter_ratio<R: FluxConstants>(available: R, wanted: R) -> R {
    let ratio = (available / (wanted + R::SMALLEST)).larger(R::ZERO);
    if wanted > available { ratio } else { R::ONE }
}

/// Lower and upper bound of a cell: the extrema of its own value and the values that the wind brings in.
///
/// `around` are the values of the six neighbours, `mass` the mass fluxes through the faces. A face without mass flux
/// counts as inflow from the neighbour of lower index.
///
/// Source: W09.
/// Units: `q` and `around` kg kg⁻¹, `mass` kg s⁻¹; returns kg kg⁻¹.
#[inline(always)]
pub fn bounds<R: Real>(q: R, around: Faces<R>, mass: Faces<R>) -> (R, R) {
    let from_below = |flux: R, value: R| if flux > R::ZERO { value } else { q };
    let from_above = |flux: R, value: R| if flux > R::ZERO { q } else { value };
    let seen = [
        from_below(mass.west, around.west),
        from_above(mass.east, around.east),
        from_below(mass.south, around.south),
        from_above(mass.north, around.north),
        from_below(mass.bottom, around.bottom),
        from_above(mass.top, around.top),
    ];
    seen.iter().fold((q, q), |(least, most), &x| (x.smaller(least), x.larger(most)))
}

/// A flux limited by the scale factor of the giving cell.
///
/// Φ + R A, with R of the cell of lower index if A > 0, else of the higher
///
/// Source: SW09.
/// Units: `low` Φ and `correction` A kg s⁻¹, `outgoing` 1 (lower, higher cell); returns kg s⁻¹.
#[inline(always)]
pub fn positive_flux<R: Real>(low: R, correction: R, outgoing: [R; 2]) -> R {
    let factor = if correction > R::ZERO { outgoing[0] } else { outgoing[1] };
    low + factor * correction
}

/// A flux limited by the scale factors of the giving and the receiving cell.
///
/// Φ + min(Rout₋, Rin₊) A if A > 0, else Φ + min(Rin₋, Rout₊) A
///
/// Source: W09.
/// Units: `low` Φ and `correction` A kg s⁻¹, `outgoing` and `incoming` 1 (lower, higher cell);
/// returns kg s⁻¹.
#[inline(always)]
pub fn monotonic_flux<R: Real>(low: R, correction: R, outgoing: [R; 2], incoming: [R; 2]) -> R {
    let upward = outgoing[0].smaller(incoming[1]);
    let downward = outgoing[1].smaller(incoming[0]);
    let factor = if correction > R::ZERO { upward } else { downward };
    low + factor * correction
}
