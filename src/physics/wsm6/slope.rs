//! Size distribution and terminal velocity of graupel, and the common terminal velocity of snow and graupel. Those of
//! the other species are WSM5's.

use super::params::{Wsm6Constants, Wsm6Params};
use super::shared::slope::{Slope, fall_speed, fall_speed_snow};

/// Slope of the graupel size distribution.
///
/// 1/λ = (qg rho / (π rhog n0g))^(1/4)  if qg > 1e-9, else its smallest value
///
/// Source: HL06. Units: `rho` kg m⁻³, `qg` kg kg⁻¹.
#[inline(always)]
pub fn slope_graupel<R: Wsm6Constants>(p: &Wsm6Params<R>, rho: R, qg: R) -> Slope<R> {
    if qg <= R::Q_PRECIPITATION_MIN {
        return Slope { length: p.graupel.slope_min, power: p.graupel.slope_min_b };
    }
    let quotient = p.graupel.pidn0g / (qg * rho);
    let length = R::ONE / quotient.sqrt().sqrt();
    Slope { length, power: R::power_of_root(length, quotient, p.graupel.bvtg) }
}

/// Mean terminal velocity of graupel by itself; 0 without graupel.
///
/// Source: HL06. Units: `rho` kg m⁻³, `density_factor` 1, `qg` kg kg⁻¹; returns m s⁻¹, downward.
#[inline(always)]
pub fn fall_speed_graupel<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    rho: R,
    density_factor: R,
    qg: R,
) -> R {
    if qg <= R::ZERO {
        return R::ZERO;
    }
    fall_speed(p.graupel.pvtg, slope_graupel(p, rho, qg), density_factor)
}

/// Terminal velocity of snow and graupel together, the mean by mass of their own ones; 0 without either.
///
/// w = (ws qs + wg qg) / (qs + qg)  if qs + qg > 1e-15, else 0
///
/// Source: DHL08. Units: `ws`, `wg` m s⁻¹, `qs`, `qg` kg kg⁻¹; returns m s⁻¹, downward.
#[inline(always)]
pub fn common_speed<R: Wsm6Constants>(ws: R, wg: R, qs: R, qg: R) -> R {
    let sum = qs + qg;
    if sum <= R::Q_COMMON_MIN {
        return R::ZERO;
    }
    (ws * qs + wg * qg) / sum
}

/// Terminal velocity of snow and graupel in sedimentation, where a species that is absent does not fall.
///
/// Source: DHL08. Units: `rho` kg m⁻³, `density_factor`, `n0s_factor` 1, `qs`, `qg` kg kg⁻¹; returns m s⁻¹, downward.
#[inline(always)]
pub fn fall_speed_snow_graupel<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    rho: R,
    density_factor: R,
    n0s_factor: R,
    qs: R,
    qg: R,
) -> R {
    let ws = fall_speed_snow(&p.common, rho, density_factor, qs, n0s_factor);
    let wg = fall_speed_graupel(p, rho, density_factor, qg);
    common_speed(ws, wg, qs, qg)
}
