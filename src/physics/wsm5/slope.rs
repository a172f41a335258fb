//! Size distributions: slopes of rain and snow, numbers of ice crystals, and the terminal velocities that follow.

use crate::cuda_abi::shared_struct;
use crate::physics::wsm5::params::{SchemeConstants, Wsm5Params};

shared_struct! {
    /// Slope length 1/λ of an exponential size distribution, and its power in the terminal velocity.
    #[derive(Default)]
    pub struct Slope<R> {
        /// 1/λ (WRF `rslope`).
        length: R, "m";
        /// (1/λ)ᵇ with the exponent b of the fall speed (WRF `rslopeb`).
        power: R, "mᵇ";
    }
}

/// Slope of the rain size distribution.
///
/// 1/λ = (qr rho / (π rhow n0r))^(1/4)  if qr > 1e-9, else its smallest value
///
/// Source: HDC04 eq. 3. Units: `rho` kg m⁻³, `qr` kg kg⁻¹.
#[inline(always)]
pub fn slope_rain<R: SchemeConstants>(p: &Wsm5Params<R>, rho: R, qr: R) -> Slope<R> {
    if qr <= R::Q_PRECIPITATION_MIN {
        return Slope { length: p.slope_rain_min, power: p.slope_rain_min_b };
    }
    let quotient = p.pidn0r / (qr * rho);
    let length = R::ONE / quotient.sqrt().sqrt();
    Slope { length, power: R::power_of_root(length, quotient, p.bvtr) }
}

/// Slope of the snow size distribution.
///
/// 1/λ = (qs rho / (π rhos n0s F))^(1/4)  if qs > 1e-9, else its smallest value
///
/// Source: HDC04 eq. 3. Units: `rho` kg m⁻³, `qs` kg kg⁻¹, `n0s_factor` F 1.
#[inline(always)]
pub fn slope_snow<R: SchemeConstants>(p: &Wsm5Params<R>, rho: R, qs: R, n0s_factor: R) -> Slope<R> {
    if qs <= R::Q_PRECIPITATION_MIN {
        return Slope { length: p.slope_snow_min, power: p.slope_snow_min_b };
    }
    let quotient = p.pidn0s * n0s_factor / (qs * rho);
    let length = R::ONE / quotient.sqrt().sqrt();
    Slope { length, power: R::power_of_root(length, quotient, p.bvts) }
}

/// Factor of the snow intercept over its value at freezing (WRF `n0sfac`).
///
/// F = max(min(exp(α (t0 - t)), n0smax / n0s), 1)
///
/// Source: HDC04 eq. 6. Units: `t` K; returns 1, 1 to 5e4.
#[inline(always)]
pub fn snow_intercept_factor<R: SchemeConstants>(p: &Wsm5Params<R>, t: R) -> R {
    (p.alpha * (R::FREEZING - t)).exp().smaller(p.n0s_factor_max).larger(R::ONE)
}

/// Number of ice crystals (WRF `xni`).
///
/// N = 5.38e7 (rho qi)^(3/4), between 1e3 and 1e6
///
/// Source: HDC04 eq. 5c. Units: `rho` kg m⁻³, `qi` kg kg⁻¹; returns m⁻³.
#[inline(always)]
pub fn ice_number<R: SchemeConstants>(rho: R, qi: R) -> R {
    // The original has `Q_MIN` here, with the same result: both bounds give the fewest crystals. In single precision
    // the cube of `Q_MIN` is subnormal; processors handle that in microcode, and kernels with fast-math flush it to
    // zero.
    let content = rho * qi.larger(R::SCARCE_ICE);
    let number = R::ICE_NUMBER * (content * content * content).sqrt().sqrt();
    number.larger(R::ICE_NUMBER_MIN).smaller(R::ICE_NUMBER_MAX)
}

/// Diameter of an ice crystal, without a bound.
///
/// D = 11.9 √(rho qi / N)
///
/// Source: HDC04 eq. 5b. Units: `rho` kg m⁻³, `qi` kg kg⁻¹, `number` m⁻³; returns m.
#[inline(always)]
pub fn ice_diameter<R: SchemeConstants>(p: &Wsm5Params<R>, rho: R, qi: R, number: R) -> R {
    p.dicon * (rho * qi / number).sqrt()
}

/// Surface of a size distribution through which vapour or heat passes, ventilation included.
///
/// a s² + b V s² √(s s^b)
///
/// with the factors a, b of rain (`precr1`, `precr2`) or snow (`precs1`, `precs2`).
///
/// Source: HDC04 eq. 14. Units: `ventilation` V s¹ᐟ² m⁻¹; returns m⁻².
#[inline(always)]
pub fn ventilated_surface<R: SchemeConstants>(
    still: R,
    ventilated: R,
    ventilation: R,
    slope: Slope<R>,
) -> R {
    let s2 = slope.length * slope.length;
    still * s2 + ventilated * ventilation * s2 * (slope.length * slope.power).sqrt()
}

/// Mean fall speed of a size distribution: the mass-weighted terminal velocity.
///
/// v = a s^b √(rho0 / rho)
///
/// with the `factor` a of rain (`pvtr`) or snow (`pvts`).
///
/// Source: HDC04 eq. 4. Units: `density_factor` 1; returns m s⁻¹, downward.
#[inline(always)]
pub fn fall_speed<R: SchemeConstants>(factor: R, slope: Slope<R>, density_factor: R) -> R {
    factor * slope.power * density_factor
}

/// Mean terminal velocity of rain; 0 without rain.
///
/// Source: HDC04 eq. 4. Units: `qr` kg kg⁻¹, `density_factor` 1; returns m s⁻¹, downward.
#[inline(always)]
pub fn fall_speed_rain<R: SchemeConstants>(
    p: &Wsm5Params<R>,
    rho: R,
    density_factor: R,
    qr: R,
) -> R {
    if qr <= R::ZERO {
        return R::ZERO;
    }
    fall_speed(p.pvtr, slope_rain(p, rho, qr), density_factor)
}

/// Mean terminal velocity of snow; 0 without snow.
///
/// Source: HDC04 eq. 4. Units: `qs` kg kg⁻¹, `n0s_factor`, `density_factor` 1; returns m s⁻¹.
#[inline(always)]
pub fn fall_speed_snow<R: SchemeConstants>(
    p: &Wsm5Params<R>,
    rho: R,
    density_factor: R,
    qs: R,
    n0s_factor: R,
) -> R {
    if qs <= R::ZERO {
        return R::ZERO;
    }
    fall_speed(p.pvts, slope_snow(p, rho, qs, n0s_factor), density_factor)
}

/// Terminal velocity of an ice crystal.
///
/// v = 1.49e4 D^1.31
///
/// Source: HDC04 eq. 5a. Units: `diameter` m; returns m s⁻¹, downward.
#[inline(always)]
pub fn fall_speed_crystal<R: SchemeConstants>(diameter: R) -> R {
    R::ICE_FALL * diameter.powf(R::ICE_FALL_EXPONENT)
}

/// Terminal velocity of cloud ice; 0 without ice.
///
/// Source: HDC04 eq. 5. Units: `qi` kg kg⁻¹, `number` m⁻³; returns m s⁻¹, downward.
#[inline(always)]
pub fn fall_speed_ice<R: SchemeConstants>(p: &Wsm5Params<R>, rho: R, qi: R, number: R) -> R {
    if qi <= R::ZERO {
        return R::ZERO;
    }
    let diameter = ice_diameter(p, rho, qi, number);
    fall_speed_crystal(diameter.smaller(p.dimax).larger(R::ICE_DIAMETER_MIN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constants::Constants;

    /// The number of crystals as published, with `Q_MIN`; its cube may be subnormal.
    fn published(rho: f64, qi: f64) -> f64 {
        let number = f64::ICE_NUMBER * (rho * qi.max(f64::Q_MIN)).powf(0.75);
        number.clamp(f64::ICE_NUMBER_MIN, f64::ICE_NUMBER_MAX)
    }

    /// The bound of [`ice_number`] changes no number in any air. A bound a thousand times as large would, and the
    /// published one is subnormal in single precision when cubed.
    #[test]
    fn scarce_ice_has_the_fewest_crystals() {
        let densities = [1e-3, 0.1, 1.0, 2.0, 100.0];
        for rho in densities {
            for qi in [0.0, f64::Q_MIN, 1e-12, 0.5 * f64::SCARCE_ICE, 2.0 * f64::SCARCE_ICE, 1e-7] {
                let (found, expected) = (ice_number(rho, qi), published(rho, qi));
                assert!((found - expected).abs() <= 1e-12 * expected, "{rho} {qi}: {found}");
            }
            let content = rho as f32 * f32::SCARCE_ICE;
            assert!((content * content * content).is_normal(), "{rho}");
        }
        assert!(published(2.0, 1e3 * f64::SCARCE_ICE) > f64::ICE_NUMBER_MIN);
        assert!(!f32::Q_MIN.powi(3).is_normal());
    }
}
