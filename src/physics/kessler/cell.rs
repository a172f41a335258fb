//! A cell: what it holds, and what the processes make of it when the rain has fallen.

use super::conversion::conversion;
use super::evaporation::{evaporation, limited};
use super::params::{KesslerConstants, KesslerFactors};
use super::saturation::{excess, mixing_ratio, pressure, vapour_pressure, warming};
use crate::real::Real;
use crate::shared::shared_struct;

shared_struct! {
    /// Contents of a cell.
    #[derive(Default)]
    pub struct KesslerCell<R> {
        /// Potential temperature, less a base.
        theta: R, "K";
        /// Vapour.
        qv: R, "kg kg⁻¹";
        /// Cloud water.
        qc: R, "kg kg⁻¹";
        /// Rain.
        qr: R, "kg kg⁻¹";
        /// Water that clipping at zero has made in it; added to.
        made: R, "kg kg⁻¹";
    }
}

/// A mixing ratio, or zero where it is negative.
///
/// A value that is not a number stays so, and is found after the call.
#[inline(always)]
pub fn clipped<R: KesslerConstants>(q: R) -> R {
    q - q.smaller(R::ZERO)
}

/// All water of a cell that the scheme changes, kg kg⁻¹.
#[inline(always)]
pub fn water<R: Real>(qv: R, qc: R, qr: R) -> R {
    qv + qc + qr
}

/// Water that clipping a mixing ratio at zero makes, kg kg⁻¹.
#[inline(always)]
pub fn made<R: KesslerConstants>(q: R) -> R {
    R::ZERO - q.smaller(R::ZERO)
}

/// The larger of two amounts, or the first where it is not a number.
#[inline(always)]
pub fn at_least<R: KesslerConstants>(amount: R, least: R) -> R {
    if amount < least { least } else { amount }
}

/// A cell after conversion, saturation adjustment and evaporation, once for the whole call.
///
/// `cell` is that at the start of the call; `qr_fallen` is its rain after the fall, kg kg⁻¹.
///
/// 1. C turns cloud water into rain ([`conversion`]), by the rain at the start of the call.
/// 2. S brings the air to saturation ([`excess`]): condensation G = max(S, -qc), once cloud water is converted.
/// 3. E evaporates rain, as far as the cloud water that evaporates is not enough ([`limited`]).
///
/// θ ← θ + γ (G - E); q ← max(q - G + E, 0); qc ← qc + G; qr ← qr - E
///
/// Source: KW78. Units: `dt` s, `theta_base` K, `rho` kg m⁻³, `exner` 1.
#[inline(always)]
pub fn processed<R: KesslerConstants>(
    p: &KesslerFactors<R>,
    dt: R,
    theta_base: R,
    rho: R,
    exner: R,
    qr_fallen: R,
    cell: &KesslerCell<R>,
) -> KesslerCell<R> {
    let converted = conversion(p, dt, cell.qc, cell.qr);
    let (qc_left, qr_left) = (cell.qc - converted, qr_fallen + converted);
    let (qc, qr) = (clipped(qc_left), clipped(qr_left));
    let t = exner * (cell.theta + theta_base);
    let pressure = pressure(exner);
    let es = vapour_pressure(t);
    let qvs = mixing_ratio(pressure, es);
    let excess = excess(p, t, pressure, es, qvs, cell.qv);
    let evaporated = limited(evaporation(p, dt, rho, pressure, qvs, cell.qv, qr), excess, qc, qr);
    let condensed = at_least(excess, -qc);
    let qv_left = cell.qv - condensed + evaporated;
    KesslerCell {
        theta: cell.theta + warming(exner) * (condensed - evaporated),
        qv: clipped(qv_left),
        qc: qc + condensed,
        qr: qr - evaporated,
        made: cell.made + (made(qc_left) + made(qr_left) + made(qv_left)),
    }
}
