//! Processes of warm rain: autoconversion, collection of cloud water, evaporation.

use crate::cuda_abi::shared_struct;
use crate::physics::wsm5::params::{SchemeConstants, Wsm5Params};
use crate::physics::wsm5::scheme::Scheme;
use crate::physics::wsm5::slope::{Slope, ventilated_surface};
use crate::physics::wsm5::{Air, Cell, Coefficients, StepStart};

shared_struct! {
    /// Rates of the warm processes, kg kg⁻¹ s⁻¹.
    #[derive(Default)]
    pub struct WarmRates<R> {
        /// Autoconversion (C → R), ≥ 0.
        praut: R, "kg kg⁻¹ s⁻¹";
        /// Collection of cloud water by rain (C → R), ≥ 0.
        pracw: R, "kg kg⁻¹ s⁻¹";
        /// Condensation on rain (V → R), < 0 where rain evaporates.
        prevp: R, "kg kg⁻¹ s⁻¹";
    }
}

/// All warm rates of a cell.
#[inline(always)]
pub fn rates<R: SchemeConstants>(
    p: &Scheme<R>,
    dt_cloud: R,
    air: &Air<R>,
    step_start: &StepStart<R>,
    cell: &Cell<R>,
    coefficients: &Coefficients<R>,
) -> WarmRates<R> {
    let rhw = (cell.qv / step_start.qsw).larger(R::Q_MIN);
    let excess = (cell.qv.larger(R::Q_MIN) - step_start.qsw) / dt_cloud;
    let pracw = pracw(p, dt_cloud, cell.qc, cell.qr, coefficients.rain, air.density_factor);
    WarmRates {
        praut: p.factors.praut * praut(p, dt_cloud, cell.qc),
        pracw: p.factors.pracw * pracw,
        prevp: p.factors.prevp * prevp(p, dt_cloud, cell.qr, rhw, excess, coefficients),
    }
}

/// `praut`: autoconversion of cloud water to rain (C → R).
///
/// praut = min(qck1 qc^(7/3), qc / dt)  if qc > qc0, else 0
///
/// Source: HDC04 eq. 16. Units: `dt_cloud` s, `qc` kg kg⁻¹; returns kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn praut<R: SchemeConstants>(p: &Wsm5Params<R>, dt_cloud: R, qc: R) -> R {
    if qc <= p.qc0 {
        return R::ZERO;
    }
    (p.qck1 * qc.powf(R::SEVEN_THIRDS)).smaller(qc / dt_cloud)
}

/// `pracw`: collection of cloud water by rain (C → R).
///
/// pracw = min(pacrr s³ s^b qc √(rho0 / rho), qc / dt)  if qr > 1e-9 and qc > qmin, else 0
///
/// Source: HDC04 eq. 15. Units: `dt_cloud` s, `qc`, `qr` kg kg⁻¹, `density_factor` 1; returns
/// kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn pracw<R: SchemeConstants>(
    p: &Wsm5Params<R>,
    dt_cloud: R,
    qc: R,
    qr: R,
    rain: Slope<R>,
    density_factor: R,
) -> R {
    if qr <= R::Q_PRECIPITATION_MIN || qc <= R::Q_MIN {
        return R::ZERO;
    }
    let s3 = rain.length * rain.length * rain.length;
    (p.pacrr * s3 * rain.power * qc * density_factor).smaller(qc / dt_cloud)
}

/// `prevp`: condensation of vapour on rain, or evaporation of rain where negative (V → R).
///
/// prevp = (rhw - 1) (precr1 s² + precr2 V s² √(s s^b)) / Aw
///
/// no more than half the excess of vapour, and no less than the rain that is there.
///
/// Source: HDC04 eq. 14. Units: `dt_cloud` s, `qr` kg kg⁻¹, `rhw` 1, `excess` of vapour over
/// water saturation kg kg⁻¹ s⁻¹; returns kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn prevp<R: SchemeConstants>(
    p: &Wsm5Params<R>,
    dt_cloud: R,
    qr: R,
    rhw: R,
    excess: R,
    coefficients: &Coefficients<R>,
) -> R {
    if qr <= R::ZERO {
        return R::ZERO;
    }
    let surface =
        ventilated_surface(p.precr1, p.precr2, coefficients.ventilation, coefficients.rain);
    let prevp = (rhw - R::ONE) * surface / coefficients.resistance_water;
    if prevp < R::ZERO {
        prevp.larger(-qr / dt_cloud).larger(R::HALF * excess)
    } else {
        prevp.smaller(R::HALF * excess)
    }
}
