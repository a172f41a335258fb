//! A cell: its contents, and the processes in it after sedimentation.

use super::conversion::conversion;
use super::evaporation::{evaporation, limited};
use super::params::{KesslerConstants, KesslerFactors};
use super::saturation::{excess, mixing_ratio, pressure, vapour_pressure, warming};
use crate::cuda_abi::shared_struct;
use crate::real::Real;

shared_struct! {
    /// Contents of a cell.
    #[derive(Default)]
    pub struct KesslerCell<R> {
        /// Potential temperature minus an offset.
        theta: R, "K";
        /// Vapour.
        qv: R, "kg kg⁻¹";
        /// Cloud water.
        qc: R, "kg kg⁻¹";
        /// Rain.
        qr: R, "kg kg⁻¹";
        /// Water that clipping at zero has added in the cell; accumulated.
        made: R, "kg kg⁻¹";
    }
}

/// A mixing ratio clipped at zero.
///
/// NaN stays NaN, and is detected after the call.
#[inline(always)]
pub fn clipped<R: KesslerConstants>(q: R) -> R {
    q - q.smaller(R::ZERO)
}

/// All water of a cell that the scheme changes, kg kg⁻¹.
#[inline(always)]
pub fn water<R: Real>(qv: R, qc: R, qr: R) -> R {
    qv + qc + qr
}

/// Water that clipping a mixing ratio at zero adds, kg kg⁻¹.
#[inline(always)]
pub fn made<R: KesslerConstants>(q: R) -> R {
    R::ZERO - q.smaller(R::ZERO)
}

/// The larger of two amounts; NaN if the first is NaN.
#[inline(always)]
pub fn at_least<R: KesslerConstants>(amount: R, least: R) -> R {
    if amount < least { least } else { amount }
}

/// A cell after conversion, saturation adjustment and evaporation, once for the whole call.
///
/// `cell` is that at the start of the call; `qr_fallen` is its rain after sedimentation, kg kg⁻¹.
///
/// 1. C turns cloud water into rain ([`conversion`]), by the rain at the start of the call.
/// 2. S brings the air to saturation ([`excess`]): condensation G = max(S, -qc), with qc after conversion.
/// 3. E evaporates rain, as far as evaporating cloud water does not suffice ([`limited`]).
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
