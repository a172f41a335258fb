//! Evaporation of rain.

use super::params::{KesslerConstants, KesslerFactors};

/// Rain that evaporates in a call without limits.
///
/// E₁ = dt (1.6 + 124.9 w^0.2046) w^0.525 / (2.55e8 / (p qvs) + 5.4e5) max(qvs - q, 0) / (w₁ qvs)
///
/// with the rain content w in g cm⁻³ and the density of air w₁ in the same unit.
///
/// Source: SO73, KW78. Units: `dt` s, `rho` kg m⁻³, `pressure` Pa, `qvs`, `qv`, `qr` kg kg⁻¹; returns
/// kg kg⁻¹, ≥ 0.
#[inline(always)]
pub fn evaporation<R: KesslerConstants>(
    p: &KesslerFactors<R>,
    dt: R,
    rho: R,
    pressure: R,
    qvs: R,
    qv: R,
    qr: R,
) -> R {
    let air = R::GRAMS_PER_CM3 * rho;
    let content = air * qr;
    let ventilation = R::EVAPORATION_STILL
        + R::EVAPORATION_VENTILATED * content.powf(R::EVAPORATION_VENTILATION_EXPONENT);
    let resistance = R::EVAPORATION_DIFFUSION / (pressure * qvs) + R::EVAPORATION_CONDUCTION;
    let deficit = (qvs - qv).larger(R::ZERO) / (air * qvs);
    let rate = ventilation * content.powf(R::EVAPORATION_EXPONENT) / resistance * deficit;
    p.evaporation * (dt * rate)
}

/// Rain that evaporates in a call, limited to the saturation deficit that is left after all cloud water has evaporated,
/// and to the rain.
///
/// E = min(E₁, max(-S - qc, 0), qr)
///
/// Units: all kg kg⁻¹; `evaporation` as in [`evaporation`], `excess` as in
/// [`excess`](super::saturation::excess).
#[inline(always)]
pub fn limited<R: KesslerConstants>(evaporation: R, excess: R, qc: R, qr: R) -> R {
    let missing = (-excess - qc).larger(R::ZERO);
    qr.smaller(evaporation.smaller(missing))
}

#[cfg(test)]
mod tests {
    use super::super::saturation::{excess, mixing_ratio, pressure, vapour_pressure};
    use super::*;

    /// The numbers of the specification.
    #[test]
    fn published_figures() {
        let near = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 5e-9, "{x:e}, not {y:e}");
        let p = KesslerFactors::default();
        let (t, exner, rho, qv, qr, dt) = (283.15, 0.95, 1.05, 5.0e-3, 1.0e-3, 60.0);
        let (pressure, es) = (pressure(exner), vapour_pressure(t));
        let qvs = mixing_ratio(pressure, es);
        near(pressure, 83_574.046);
        near(qvs, 9.265_600_15e-3);
        near(evaporation(&p, dt, rho, pressure, qvs, qv, qr), 1.993_473_24e-4);
        near(excess(&p, t, pressure, es, qvs, qv), -1.661_709_81e-3);
    }
}
