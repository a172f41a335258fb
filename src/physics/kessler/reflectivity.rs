//! Radar reflectivity of rain.

use super::params::KesslerConstants;

/// Reflectivity at 10 cm of raindrops of exponentially distributed sizes, which scatter as Rayleigh has it.
///
/// λ⁻⁴ = ρ qr / (π ρw N₀), Z = N₀ Γ(7) λ⁻⁷, dBZ = max(10 log₁₀ Z, -35)
///
/// The scheme itself has no sizes of drops: the intercept is that of MP48.
///
/// Units: `rho` kg m⁻³, `rain` qr kg kg⁻¹; returns dBZ, ≥ -35.
#[inline(always)]
pub fn reflectivity<R: KesslerConstants>(rho: R, rain: R) -> R {
    // NaN is no rain.
    let qr = rain.larger(R::ZERO);
    if qr <= R::RADAR_RAIN_MIN {
        return R::DBZ_LEAST;
    }
    let length = (rho * qr / (R::PI * R::RHO_WATER * R::RAIN_INTERCEPT)).sqrt().sqrt();
    let squared = length * length;
    let moment = length * squared * (squared * squared);
    let z = R::RAIN_INTERCEPT * R::SIXTH_MOMENT * moment;
    (R::TEN_DECIBELS * (z * R::MM6_IN_M3).log10()).larger(R::DBZ_LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gram_of_rain_has_the_echo_of_its_size_distribution() {
        // Z = 720 N₀ (1e-3 / (π 1000 N₀))^(7/4) for N₀ = 8e6 m⁻⁴.
        let found = reflectivity(1.0_f64, 1.0e-3);
        let n0: f64 = 8.0e6;
        let z = 720.0 * n0 * (1.0e-3 / (std::f64::consts::PI * 1000.0 * n0)).powf(1.75);
        assert!((found - 10.0 * (1e18 * z).log10()).abs() < 1e-5, "{found}");
        assert!((43.0..43.2).contains(&found), "{found}");
    }

    #[test]
    fn air_without_rain_has_no_echo() {
        for qr in [0.0_f32, -1.0e-6, 1.0e-12, f32::NAN] {
            assert_eq!(reflectivity(1.0, qr), -35.0, "{qr}");
        }
        assert!(reflectivity(1.0_f32, 1.0e-6) < reflectivity(1.0, 2.0e-6));
    }
}
