//! Conversion of cloud water to rain: autoconversion and accretion.

use super::params::{KesslerConstants, KesslerFactors};

/// Cloud water that rain collects in a call, relative to the remaining cloud water, 1.
///
/// x = c₃ dt max(qr, 0)^c₄
///
/// Exactly 0 without rain: otherwise a trace of rain in a cloud would grow manifold in a call.
///
/// Source: K69. Units: `dt` s, `qr` at the start of the call kg kg⁻¹; returns 1, ≥ 0.
#[inline(always)]
pub fn accretion<R: KesslerConstants>(p: &KesslerFactors<R>, dt: R, qr: R) -> R {
    p.accretion * (R::ACCRETION_RATE * dt * qr.larger(R::ZERO).powf(R::ACCRETION_EXPONENT))
}

/// Cloud water converted to rain in a call: autoconversion, and accretion taken implicitly.
///
/// C = (x qc + c₁ dt max(qc - c₂, 0)) / (1 + x) with the x of [`accretion`]
///
/// Source: K69, KW78. Units: `dt` s; `qc`, `qr` at the start of the call kg kg⁻¹; returns kg kg⁻¹, negative for
/// negative `qc`.
#[inline(always)]
pub fn conversion<R: KesslerConstants>(p: &KesslerFactors<R>, dt: R, qc: R, qr: R) -> R {
    let accretion = accretion(p, dt, qr);
    let excess = (qc - R::AUTOCONVERSION_THRESHOLD).larger(R::ZERO);
    let autoconversion = p.autoconversion * (R::AUTOCONVERSION_RATE * dt * excess);
    R::ONE / (R::ONE + accretion) * (accretion * qc + autoconversion)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the specification.
    #[test]
    fn published_figures() {
        let p = KesslerFactors::<f64>::default();
        let near = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 2e-9, "{x:e}, not {y:e}");
        near(accretion(&p, 60.0, 1.0e-3), 0.313_021_329);
        near(conversion(&p, 60.0, 2.0e-3, 1.0e-3), 5.224_916_33e-4);
    }

    #[test]
    fn no_rain_comes_of_nothing() {
        for qc in [0.0_f32, 5.0e-4, 9.99e-4] {
            assert_eq!(conversion(&KesslerFactors::default(), 120.0, qc, 0.0), 0.0);
        }
    }
}
