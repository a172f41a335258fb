//! Instantaneous changes of phase: melting, freezing, and the adjustment to saturation, with their signs.
//!
//! Amounts of one minor step, in kg kg⁻¹. All but [`pgmlt`] are WSM5's; they are applied here, since rain freezes to
//! graupel.

use super::cell::{Wsm6Cell, without_graupel};
use super::params::{Wsm6Constants, Wsm6Params};
use super::scheme::Scheme;
use super::shared::melt::{pcond, pihmf, pihtf, pimlt, psfrz, psmlt};
use super::shared::slope::{Slope, slope_rain, slope_snow, ventilated_surface};
use super::shared::{Air, StepStart};
use super::slope::slope_graupel;
use crate::thermo::{conductivity, diffusivity, saturation_water, ventilation, viscosity};

/// Melts snow and then graupel where it is warmer than freezing.
///
/// q += x, qr -= x, t += lf / cpm x with x ≤ 0 of [`psmlt`] and [`pgmlt`]
///
/// The temperature before decides if anything melts, and gives the ventilation; the rest of [`pgmlt`] is by the
/// temperature after snow has melted. Units: `dt_cloud` s.
#[inline(always)]
pub fn melt<R: Wsm6Constants>(p: &Scheme<R>, dt_cloud: R, air: &Air<R>, cell: &mut Wsm6Cell<R>) {
    if cell.t <= R::FREEZING {
        return;
    }
    let ventilation = ventilation(viscosity(cell.t, air.rho), diffusivity(cell.t, air.p), air.rho);
    // The factor of the snow's intercept is 1 above freezing.
    let snow = slope_snow(&p.common, air.rho, cell.qs, R::ONE);
    let graupel = slope_graupel(p, air.rho, cell.qg);
    let psmlt = psmlt(&p.common, dt_cloud, air, &without_graupel(cell), R::ONE, snow);
    let psmlt = p.factors.psmlt * psmlt;
    let warming = R::L_FUSION / air.heat_capacity;
    cell.qs += psmlt;
    cell.qr -= psmlt;
    cell.t += warming * psmlt;
    let pgmlt = p.factors.pgmlt * pgmlt(p, dt_cloud, air, cell, ventilation, graupel);
    cell.qg += pgmlt;
    cell.qr -= pgmlt;
    cell.t += warming * pgmlt;
}

/// `pgmlt`: melting of graupel (G → R), an amount.
///
/// pgmlt = K / lf (t0 - t) (precg1 s² + precg2 V s² √(s s^b)) / rho dt, between -qg and 0  if qg > 0, else 0
///
/// It is 0 where the melting of snow has cooled the cell to freezing.
///
/// Source: HL06 eq. A23. Units: `dt_cloud` s, `ventilation` V s¹ᐟ² m⁻¹; returns kg kg⁻¹, ≤ 0.
#[inline(always)]
pub fn pgmlt<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    dt_cloud: R,
    air: &Air<R>,
    cell: &Wsm6Cell<R>,
    ventilation: R,
    graupel: Slope<R>,
) -> R {
    if cell.qg <= R::ZERO {
        return R::ZERO;
    }
    let surface = ventilated_surface(p.graupel.precg1, p.graupel.precg2, ventilation, graupel);
    let conductivity = conductivity(viscosity(cell.t, air.rho), air.rho);
    let pgmlt = conductivity / R::L_FUSION * (R::FREEZING - cell.t) * surface / air.rho;
    (pgmlt * dt_cloud).larger(-cell.qg).smaller(R::ZERO)
}

/// Melts ice and freezes drops, each process acting on the result of the preceding one.
///
/// Rain freezes to graupel (`pgfrz`), by the amount of WSM5's `psfrz` (HL06 eq. A20). `qr_for_slope` is the rain before
/// snow and graupel melted into it, kg kg⁻¹, whose drop size sets that amount. Units: `dt_cloud` s.
#[inline(always)]
pub fn adjust_phase<R: Wsm6Constants>(
    p: &Scheme<R>,
    dt_cloud: R,
    air: &Air<R>,
    qr_for_slope: R,
    cell: &mut Wsm6Cell<R>,
) {
    let cold = R::FREEZING - cell.t;
    let fusion = if cold < R::ZERO { R::L_FUSION } else { R::L_SUBLIMATION - air.latent_heat };
    let warming = fusion / air.heat_capacity;

    let pimlt = p.factors.pimlt * pimlt(cold, cell.qi);
    if pimlt > R::ZERO {
        cell.qc += pimlt;
        cell.t -= warming * pimlt;
        cell.qi = R::ZERO;
    }
    let pihmf = p.factors.pihmf * pihmf(cold, cell.qc);
    if pihmf > R::ZERO {
        cell.qi += pihmf;
        cell.t += warming * pihmf;
        cell.qc = R::ZERO;
    }
    // Unlike in WSM5, traces do not freeze.
    let qc = if cell.qc > R::Q_MIN { cell.qc } else { R::ZERO };
    let pihtf = p.factors.pihtf * pihtf(&p.common, dt_cloud, cold, air.rho, qc);
    cell.qi += pihtf;
    cell.t += warming * pihtf;
    cell.qc -= pihtf;
    let rain = slope_rain(&p.common, air.rho, qr_for_slope);
    let pgfrz = p.factors.pgfrz * psfrz(&p.common, dt_cloud, cold, air.rho, cell.qr, rain);
    cell.qg += pgfrz;
    cell.t += warming * pgfrz;
    cell.qr -= pgfrz;
}

/// Condenses the excess over water saturation, or evaporates cloud water into the deficit, by WSM5's `pcond`.
///
/// Returns the water that clipping at zero adds, kg kg⁻¹.
#[inline(always)]
pub fn condense<R: Wsm6Constants>(
    p: &Scheme<R>,
    dt_cloud: R,
    air: &Air<R>,
    step_start: &StepStart<R>,
    cell: &mut Wsm6Cell<R>,
) -> R {
    // Saturation at the start of the minor step is still valid if the temperature has not changed.
    let is_unchanged = (cell.t - step_start.t) == R::ZERO;
    let qsw = if is_unchanged {
        step_start.qsw
    } else {
        saturation_water(cell.t, air.p, p.common.vapour_pressure_cap)
    };
    let pcond = p.factors.pcond * pcond(dt_cloud, air, &without_graupel(cell), qsw);
    let qc = cell.qc + pcond * dt_cloud;
    cell.qv -= pcond * dt_cloud;
    cell.qc = qc.larger(R::ZERO);
    cell.t += pcond * air.latent_heat / air.heat_capacity * dt_cloud;
    cell.qc - qc
}
