//! The air of a weather model as the chemistry of its cells sees it: mixing ratios and number densities, humidity and
//! what follows from it.
//!
//! Source: WRF-Chem, whose molar masses and formulas these are.

/// Molecules of a mole, mol⁻¹, in the digits of WRF-Chem.
pub const AVOGADRO: f64 = 6.022e23;
/// Molar mass of dry air, g mol⁻¹.
pub const MOLAR_MASS_OF_AIR: f64 = 28.97;
/// Molar mass of water, g mol⁻¹.
pub const MOLAR_MASS_OF_WATER: f64 = 18.0152;
/// A density of 1 kg m⁻³ in g cm⁻³.
const GRAMS_PER_CM3: f64 = 1e-3;
/// Number densities of air for 1 kg m⁻³ of it, molecules cm⁻³.
pub const AIR_PER_DENSITY: f64 = GRAMS_PER_CM3 / MOLAR_MASS_OF_AIR * AVOGADRO;
/// The same of water.
pub const WATER_PER_DENSITY: f64 = GRAMS_PER_CM3 / MOLAR_MASS_OF_WATER * AVOGADRO;
/// Parts per million, 1.
pub const PPM: f64 = 1e-6;
/// Volume mixing ratio of oxygen, 1.
pub const OXYGEN: f64 = 0.209;
/// Volume mixing ratio of nitrogen, 1.
pub const NITROGEN: f64 = 0.79;

/// Saturation vapour pressure at the melting point, Pa.
const SATURATION: f64 = 611.2;
/// Slope of its exponent.
const SLOPE: f64 = 17.67;
/// Melting point, K.
const MELTING: f64 = 273.15;
/// Temperature that the exponent is counted from, K.
const OFFSET: f64 = 29.65;

/// Time scale of the uptake by dry particles, s.
const DRY: f64 = 3.6e4;
/// The same by wet ones, s.
const WET: f64 = 300.0;
/// Humidity at which the particles grow, 1.
const GROWTH: f64 = 0.28;
/// Steepness of the growth.
const STEEPNESS: f64 = 2.8;

/// The numbers of these formulas by name, for kernels.
#[cfg(feature = "gpu")]
pub(super) fn constants() -> [(&'static str, f64); 16] {
    [
        ("AIR_PER_DENSITY", AIR_PER_DENSITY),
        ("WATER_PER_DENSITY", WATER_PER_DENSITY),
        ("PPM", PPM),
        ("OXYGEN", OXYGEN),
        ("NITROGEN", NITROGEN),
        ("SATURATION", SATURATION),
        ("SLOPE", SLOPE),
        ("MELTING", MELTING),
        ("OFFSET", OFFSET),
        ("DRY", DRY),
        ("WET", WET),
        ("GROWTH", GROWTH),
        ("STEEPNESS", STEEPNESS),
        ("PER_AIR_FACTOR", super::rates::PER_AIR_FACTOR),
        ("DAY", super::zenith::DAY),
        ("TAU", std::f64::consts::TAU),
    ]
}

/// Number density of dry air (molecules cm⁻³) of a density (kg m⁻³).
///
/// M = 10⁻³ N / μ ρ
pub fn air(rho: f64) -> f64 {
    AIR_PER_DENSITY * rho
}

/// Number density of water vapour (molecules cm⁻³) of its mixing ratio (kg kg⁻¹) in dry air (kg m⁻³); none where the
/// mixing ratio is negative.
///
/// H₂O = 10⁻³ N / μ(H₂O) qv ρ
pub fn water(qv: f64, rho: f64) -> f64 {
    WATER_PER_DENSITY * qv.max(0.0) * rho
}

/// Number density (molecules cm⁻³) of a mixing ratio (ppmv) in air of `m` molecules cm⁻³; none below zero.
pub(crate) fn number_density(ppmv: f64, m: f64) -> f64 {
    PPM * m * ppmv.max(0.0)
}

/// Mixing ratio (ppmv) of a number density (molecules cm⁻³) in air of `m` molecules cm⁻³; it is negative where that is.
pub fn mixing_ratio(density: f64, m: f64) -> f64 {
    density / (PPM * m)
}

/// Relative humidity, 0 to 1, at a pressure (Pa), a temperature (K) and a mixing ratio of water vapour (kg kg⁻¹).
///
/// e = 611.2 exp(17.67 (T - 273.15) / (T - 29.65)), qs = e / (p - e), rh = qv / qs
pub fn relative_humidity(p: f64, t: f64, qv: f64) -> f64 {
    let vapour = SATURATION * crate::simd::double::exp(SLOPE * (t - MELTING) / (t - OFFSET));
    // qv / qs without a division by what may be zero; where air would boil nothing is saturated.
    let humidity = qv * (p - vapour) / vapour;
    if humidity > 0.0 { humidity.min(1.0) } else { 0.0 }
}

/// Rate constant of the hydrolysis of N2O5 (s⁻¹) at a relative humidity from 0 to 1, as WRF-Chem has it for RADM2.
///
/// 1 / (3.6·10⁴ exp(-(rh / 0.28)^2.8) + 300)
pub fn hydrolysis(humidity: f64) -> f64 {
    let growth = crate::simd::double::powf(humidity / GROWTH, STEEPNESS);
    1.0 / (DRY * crate::simd::double::exp(-growth) + WET)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs()
    }

    #[test]
    fn air_and_water_have_the_number_densities_of_their_molar_masses() {
        // By hand: 1.2 kg m-3 are 1.2e-3 / 28.97 mol cm-3.
        assert!(is_near(air(1.2), 1.2e-3 / 28.97 * 6.022e23));
        assert!(is_near(water(0.01, 1.2), 1.2e-5 / 18.0152 * 6.022e23));
        assert_eq!(water(-1e-9, 1.2), 0.0);
        // At the ground of the standard atmosphere there are 2.5e19 molecules in a cubic centimetre.
        assert!((air(1.225) / 2.547e19 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn mixing_ratios_come_back_from_number_densities() {
        let m = air(0.7);
        for ppmv in [0.0, 1e-9, 0.04, 1.8, 380.0] {
            let back = mixing_ratio(number_density(ppmv, m), m);
            assert!((back - ppmv).abs() <= 4.0 * f64::EPSILON * ppmv, "{ppmv}: {back}");
        }
        assert_eq!(number_density(-1e-12, m), 0.0);
        assert!(mixing_ratio(-1.0, m) < 0.0);
    }

    #[test]
    fn humidity_is_one_in_saturated_air_and_has_bounds() {
        let (p, t) = (90_000.0, 283.15);
        let vapour = 611.2 * (17.67 * (t - 273.15) / (t - 29.65_f64)).exp();
        let saturated = vapour / (p - vapour);
        assert!(is_near(relative_humidity(p, t, 0.5 * saturated), 0.5));
        assert_eq!(relative_humidity(p, t, 1.5 * saturated), 1.0);
        assert_eq!(relative_humidity(p, t, -1e-9), 0.0);
        // Hotter than the boiling point at a low pressure.
        assert_eq!(relative_humidity(1_000.0, 320.0, 0.01), 0.0);
    }

    #[test]
    fn hydrolysis_is_slow_in_dry_and_fast_in_wet_air() {
        assert!(is_near(hydrolysis(0.0), 1.0 / 36_300.0));
        let wet = 1.0 / (3.6e4 * (-(1.0_f64 / 0.28).powf(2.8)).exp() + 300.0);
        assert!(is_near(hydrolysis(1.0), wet) && is_near(wet, 1.0 / 300.0));
        let half = 1.0 / (3.6e4 * (-(0.5_f64 / 0.28).powf(2.8)).exp() + 300.0);
        assert!(is_near(hydrolysis(0.5), half));
    }
}
