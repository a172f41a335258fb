//! Saturation over water, and the adjustment to it.

use super::params::{KesslerConstants, KesslerFactors};

/// Pressure from the Exner function, as the scheme computes it.
///
/// p = p₀ π^(cp / rd) with the cp of the adjustment
///
/// Units: `exner` 1; returns Pa.
#[inline(always)]
pub fn pressure<R: KesslerConstants>(exner: R) -> R {
    R::REFERENCE_PRESSURE * exner.powf(R::PRESSURE_EXPONENT)
}

/// Saturation vapour pressure over water, at any temperature.
///
/// es = es₀ exp(a (T - T₀) / (T - T_b))
///
/// Source: B80 eq. 10. Units: `t` K; returns Pa.
#[inline(always)]
pub fn vapour_pressure<R: KesslerConstants>(t: R) -> R {
    let exponent = R::BOLTON_FACTOR * (t - R::FREEZING) / (t - R::BOLTON_OFFSET);
    R::BOLTON_PRESSURE * exponent.exp()
}

/// Saturation mixing ratio.
///
/// qvs = ε es / (p - es)
///
/// Units: `p`, `es` Pa; returns kg kg⁻¹.
#[inline(always)]
pub fn mixing_ratio<R: KesslerConstants>(pressure: R, es: R) -> R {
    R::EPSILON * es / (pressure - es)
}

/// Vapour in excess of saturation that condenses, negative for a deficit: one Newton step.
///
/// S = (q - qvs) / (1 + p / (p - es) qvs f₅ / (T - T_b)²)
///
/// The denominator is 1 + dqvs/dT L / cp.
///
/// Source: SO73, KW78. Units: `t` K, `pressure`, `es` Pa, `qvs`, `qv` kg kg⁻¹; returns kg kg⁻¹.
#[inline(always)]
pub fn excess<R: KesslerConstants>(
    p: &KesslerFactors<R>,
    t: R,
    pressure: R,
    es: R,
    qvs: R,
    qv: R,
) -> R {
    let above = t - R::BOLTON_OFFSET;
    let warming = pressure / (pressure - es) * qvs * R::SATURATION_GROWTH / (above * above);
    p.condensation * ((qv - qvs) / (R::ONE + warming))
}

/// Change of the potential temperature by the condensation of a unit of water (WRF `gam`).
///
/// γ = L / (cp π)
///
/// Units: `exner` 1; returns K.
#[inline(always)]
pub fn warming<R: KesslerConstants>(exner: R) -> R {
    R::L_VAPORISATION / (R::CP_ADJUSTMENT * exner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the specification.
    #[test]
    fn published_figures() {
        let near = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 5e-9, "{x:e}, not {y:e}");
        for [t, exner, p, es, qvs, denominator, gamma] in [
            [293.15, 0.97, 89_892.636, 2_336.947_12, 1.659_512_83e-2, 3.627_753_98, 2_567.051_38],
            [273.15, 0.90, 69_171.708_1, 611.2, 5.542_751_59e-3, 2.009_967_83, 2_766.710_93],
            [253.15, 0.80, 45_812.478_4, 125.739_988, 1.711_194_42e-3, 1.367_843_86, 3_112.549_8],
            [213.15, 0.60, 16_746.184_5, 1.892_251_83, 7.026_324_99e-5, 1.022_347_59, 4_150.066_4],
        ] {
            near(pressure(exner), p);
            near(vapour_pressure(t), es);
            near(mixing_ratio(pressure(exner), vapour_pressure(t)), qvs);
            let excess = excess(&KesslerFactors::default(), t, p, es, qvs, 2.0 * qvs);
            near(qvs / excess, denominator);
            near(warming(exner), gamma);
        }
    }
}
