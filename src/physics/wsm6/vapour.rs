//! Exchange of ice, snow and graupel with vapour: deposition and sublimation below freezing, evaporation of melting snow
//! and graupel above. Deposition on snow and the formation of ice are WSM5's.

use super::cell::Wsm6Coefficients;
use super::params::{Wsm6Constants, Wsm6Params};
use super::shared::ice::Growth;
use super::shared::slope::ventilated_surface;

/// A rate of growth in vapour, limited to half the excess of vapour, to what is left of the excess, and to the species
/// present.
///
/// Units: `rate`, `most_lost` = q / dt kg kg⁻¹ s⁻¹; returns kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn limited_growth<R: Wsm6Constants>(rate: R, most_lost: R, growth: &Growth<R>) -> R {
    let half = R::HALF * growth.excess;
    // The branch depends on the humidity: a rate may vanish by underflow.
    if growth.rhi < R::ONE {
        rate.larger(half).larger(growth.left).larger(-most_lost)
    } else {
        rate.smaller(half).smaller(growth.left)
    }
}

/// `pidep`: deposition of vapour on ice, or sublimation where negative (V → I).
///
/// pidep = 4 D N (rhi - 1) / Ai  if qi > 0, else 0, with [`limited_growth`]
///
/// The `diameter` D is that of a falling crystal, unlike in WSM5, whose is unbounded.
///
/// Source: HDC04 eq. 9. Units: `dt_cloud` s, `qi` kg kg⁻¹, `diameter` m, `number` N m⁻³; returns kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn pidep<R: Wsm6Constants>(
    dt_cloud: R,
    qi: R,
    diameter: R,
    number: R,
    growth: &Growth<R>,
    coefficients: &Wsm6Coefficients<R>,
) -> R {
    if qi <= R::ZERO {
        return R::ZERO;
    }
    let resistance = coefficients.common.resistance_ice;
    let pidep = (R::TWO + R::TWO) * diameter * number * (growth.rhi - R::ONE) / resistance;
    limited_growth(pidep, qi / dt_cloud, growth)
}

/// `pgdep`: deposition of vapour on graupel, or sublimation where negative (V → G).
///
/// pgdep = (rhi - 1) (precg1 s² + precg2 V s² √(s s^b)) / Ai  if qg > 0, else 0, with [`limited_growth`]
///
/// Source: HL06 eq. A21. Units: `dt_cloud` s, `qg` kg kg⁻¹; returns kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn pgdep<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    dt_cloud: R,
    qg: R,
    growth: &Growth<R>,
    coefficients: &Wsm6Coefficients<R>,
) -> R {
    if qg <= R::ZERO {
        return R::ZERO;
    }
    let surface = graupel_surface(p, coefficients);
    let pgdep = (growth.rhi - R::ONE) * surface / coefficients.common.resistance_ice;
    limited_growth(pgdep, qg / dt_cloud, growth)
}

/// Surface of the snow of a cell, with its intercept, through which vapour passes, m⁻².
#[inline(always)]
pub fn snow_surface<R: Wsm6Constants>(p: &Wsm6Params<R>, coefficients: &Wsm6Coefficients<R>) -> R {
    let c = &coefficients.common;
    c.n0s_factor * ventilated_surface(p.common.precs1, p.common.precs2, c.ventilation, c.snow)
}

/// Surface of the graupel of a cell through which vapour passes, m⁻².
#[inline(always)]
pub fn graupel_surface<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    coefficients: &Wsm6Coefficients<R>,
) -> R {
    let ventilation = coefficients.common.ventilation;
    ventilated_surface(p.graupel.precg1, p.graupel.precg2, ventilation, coefficients.graupel)
}

/// Evaporation of a melting species, `psevp` of snow (S → V) and `pgevp` of graupel (G → V), each with its `surface`.
///
/// (rhw - 1) H / Aw, between -q / dt and 0  if rhw < 1 and q > 0, else 0
///
/// Source: HL06 eq. A35, A25. Units: `dt_cloud` s, `q` kg kg⁻¹, `rhw` 1, `surface` H m⁻²; returns kg kg⁻¹ s⁻¹, ≤ 0.
#[inline(always)]
pub fn melt_evaporation<R: Wsm6Constants>(
    dt_cloud: R,
    q: R,
    rhw: R,
    surface: R,
    coefficients: &Wsm6Coefficients<R>,
) -> R {
    if q <= R::ZERO || rhw >= R::ONE {
        return R::ZERO;
    }
    let evaporation = (rhw - R::ONE) * surface / coefficients.common.resistance_water;
    evaporation.larger(-q / dt_cloud).smaller(R::ZERO)
}
