//! Radar reflectivity at 10 cm: WSM5's, with graupel.
//!
//! Z = Zr + Zs + Zg by Rayleigh scattering; below the melting level, one above the highest level at which snow or
//! graupel melts, Zs and Zg are those of melting particles.

use super::params::{Wsm6Constants, Wsm6Params};
use super::shared::reflectivity::{
    Bins, Target, backscatter_of_melting, content, has_rain, has_snow, inverse_slope,
    melted_fraction, seventh_power, sixth_moment, sphere,
};
use crate::cuda_abi::shared_struct;

/// Size bins of melting snow and of melting graupel.
#[derive(Clone, Debug)]
pub struct MeltingBins<R> {
    /// Of snow.
    pub snow: Bins<R>,
    /// Of graupel.
    pub graupel: Bins<R>,
}

impl<R: Wsm6Constants> Default for MeltingBins<R> {
    fn default() -> Self {
        Self { snow: Bins::default(), graupel: Bins::up_to(f64::GRAUPEL_BIN_MAX) }
    }
}

shared_struct! {
    /// A level of a column as the radar sees it.
    pub struct Wsm6Target<R> {
        /// That of WSM5.
        common: Target<R>, "1";
        /// Graupel.
        qg: R, "kg kg⁻¹";
    }
}

/// Returns `true` if there is graupel above the threshold of the radar, `Q_PRECIPITATION_MIN`.
#[inline(always)]
pub fn has_graupel<R: Wsm6Constants>(qg: R) -> bool {
    qg > R::Q_PRECIPITATION_MIN
}

/// Returns `true` if snow or graupel melts at this level: it is warmer than freezing and holds rain, and `above`, the
/// next level, holds either.
#[inline(always)]
pub fn is_melting<R: Wsm6Constants>(target: &Wsm6Target<R>, above: &Wsm6Target<R>) -> bool {
    let is_frozen_above = has_snow(&above.common) || has_graupel(above.qg);
    target.common.t > R::FREEZING && has_rain(&target.common) && is_frozen_above
}

/// Reflectivity factor of dry graupel.
///
/// Zg = 0.176 / 0.93 (6 / π)² (am / 900)² n0g Γ(7) L⁷
///
/// Units: returns m³.
#[inline(always)]
pub fn z_graupel<R: Wsm6Constants>(p: &Wsm6Params<R>, target: &Wsm6Target<R>) -> R {
    if !has_graupel(target.qg) {
        return R::Z_NONE;
    }
    let g = &p.graupel;
    let length = inverse_slope(content(&target.common, target.qg), g.density, g.n0g);
    let packing = R::GAMMA_4 / R::PI * sphere(g.density) / R::RHO_ICE;
    R::ICE_DIELECTRIC * packing * packing * g.n0g * R::GAMMA_7 * seventh_power(length)
}

/// Reflectivity factor of melting graupel.
///
/// Zg = W(φ) / Kw n0g Σ σ D⁶ exp(-D / L) ΔD, φ = 1 - Mg / Mg(melting level)
///
/// Units: `graupel_above` kg m⁻³; returns m³.
pub fn z_melting_graupel<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    bins: &Bins<R>,
    target: &Wsm6Target<R>,
    graupel_above: R,
) -> R {
    let (g, graupel) = (&p.graupel, content(&target.common, target.qg));
    let length = inverse_slope(graupel, g.density, g.n0g);
    let melted = melted_fraction(graupel, graupel_above);
    backscatter_of_melting(g.density, melted) / R::WATER_DIELECTRIC
        * g.n0g
        * sixth_moment(bins, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the specification, for snow, graupel and hail.
    #[test]
    fn melting_particles_scatter_as_specified() {
        for (density, expected) in [
            (100.0, [3.786_490e-3, 5.742_984e-2, 9.349_911e-3]),
            (500.0, [7.457_668e-2, 3.138_232e-1, 2.337_478e-1]),
            (700.0, [1.310_268e-1, 4.091_140e-1, 4.581_456e-1]),
        ] {
            for (melted, expected) in [0.005, 0.3, 0.99].into_iter().zip(expected) {
                let found = backscatter_of_melting::<f64>(density, melted);
                assert!((found / expected - 1.0).abs() < 1e-6, "{density} {melted}: {found:e}");
            }
        }
    }
}
