//! Sedimentation of rain by upstream differences, in sub-steps whose number is recomputed after each.

use super::params::{KesslerConstants, KesslerFactors};

/// √(ρ₁ / ρ), the factor by which thin air speeds up the fall; ρ₁ is the density of the lowest layer.
///
/// Source: KW78. Units: kg m⁻³; returns 1.
#[inline(always)]
pub fn density_factor<R: KesslerConstants>(rho_lowest: R, rho: R) -> R {
    (rho_lowest / rho).sqrt()
}

/// Distance between the middles of two layers, m.
#[inline(always)]
pub fn distance<R: KesslerConstants>(dz: R, dz_above: R) -> R {
    R::HALF * (dz + dz_above)
}

/// Terminal velocity of rain.
///
/// V = 36.34 max(0.001 qr ρ, 0)^0.1364 √(ρ₁ / ρ)
///
/// Source: SO73, KW78. Units: `rho` kg m⁻³, `density_factor` 1; returns m s⁻¹, exactly 0 without rain.
#[inline(always)]
pub fn fall_speed<R: KesslerConstants>(
    p: &KesslerFactors<R>,
    rho: R,
    density_factor: R,
    qr: R,
) -> R {
    let content = (R::GRAMS_PER_CM3 * qr * rho).larger(R::ZERO);
    p.fall * (R::FALL_RAIN * content.powf(R::FALL_RAIN_EXPONENT) * density_factor)
}

/// Layers fallen through in a time span (the Courant number).
///
/// Units: `speed` m s⁻¹, `span` s, `per_depth` of the layer m⁻¹; returns 1.
#[inline(always)]
pub fn courant<R: KesslerConstants>(speed: R, span: R, per_depth: R) -> R {
    speed * span * per_depth
}

/// Number of sub-steps for a time span with this largest Courant number.
///
/// N = max(nint(1/2 + c / 0.75), 1), halves rounded up
///
/// NaN, the root of a negative number, for more than [`KesslerConstants::SUBSTEPS_MAX`]; then the rain of the column is
/// NaN after the call.
#[inline(always)]
pub fn number_of_substeps<R: KesslerConstants>(largest: R) -> R {
    let number = (R::HALF + largest / R::COURANT_MAX).round().larger(R::ONE);
    let beyond = (R::SUBSTEPS_MAX - number).sqrt();
    if number <= R::SUBSTEPS_MAX { number } else { beyond }
}

/// Mass of rain that falls through the bottom of a layer.
///
/// Units: `rho` kg m⁻³, `qr` kg kg⁻¹, `speed` m s⁻¹; returns kg m⁻² s⁻¹.
#[inline(always)]
pub fn flux<R: KesslerConstants>(rho: R, qr: R, speed: R) -> R {
    rho * qr * speed
}

/// Precipitation of a sub-step from the flux out of the lowest layer.
///
/// Units: `flux` kg m⁻² s⁻¹, `substep` s; returns mm.
#[inline(always)]
pub fn precipitation<R: KesslerConstants>(flux: R, substep: R) -> R {
    flux * substep / R::RHO_WATER * R::MILLIMETRES_PER_METRE
}

/// Rain of a layer after a sub-step.
///
/// r - d / (h ρ) (F - F_above), with the distance h to the middle of the layer above
///
/// Units: `qr` kg kg⁻¹, `substep` s, `per_mass` 1 / (h ρ) m² kg⁻¹, fluxes kg m⁻² s⁻¹; returns kg kg⁻¹. It can be
/// negative if layers are thinner further up.
#[inline(always)]
pub fn passed<R: KesslerConstants>(qr: R, substep: R, per_mass: R, flux: R, flux_above: R) -> R {
    qr - substep * per_mass * (flux - flux_above)
}

/// Water that sedimentation creates in a layer, not counting the outflow to the ground.
///
/// ρ Δz (r* - r)
///
/// Sedimentation conserves rain weighted by the distances between middles of layers; the budget weights it by their
/// depths.
///
/// Units: `rho` kg m⁻³, `dz` m, rain kg kg⁻¹; returns kg m⁻².
#[inline(always)]
pub fn gained<R: KesslerConstants>(rho: R, dz: R, qr: R, qr_fallen: R) -> R {
    rho * dz * (qr_fallen - qr)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the specification.
    #[test]
    fn published_figures() {
        let p = KesslerFactors::<f64>::default();
        for (rho, qr, speed) in
            [(1.0, 1.0e-3, 5.790_036_02), (1.0, 1.0e-6, 2.256_738_64), (0.5, 5.0e-3, 9.278_446_77)]
        {
            let found = fall_speed(&p, rho, density_factor(1.1, rho), qr);
            assert!((found / speed - 1.0).abs() < 2e-9, "{found}, not {speed}");
        }
        assert_eq!(fall_speed(&p, 1.0, 1.0, 0.0), 0.0);
        assert_eq!(fall_speed(&p, 1.0, 1.0, -1.0e-6), 0.0);
    }

    #[test]
    fn substeps_are_counted_as_specified() {
        for (c, n) in [(0.0_f64, 1.0), (0.74, 1.0), (0.75, 2.0), (1.4, 2.0), (1.5, 3.0)] {
            assert_eq!(number_of_substeps(c), n, "{c}");
        }
        for c in [f64::INFINITY, 1.0e6] {
            assert!(number_of_substeps(c).is_nan(), "{c}");
        }
    }
}
