//! Instantaneous changes of phase: melting, freezing, and the adjustment to saturation.
//!
//! Amounts of one minor step, in kg kg⁻¹, are computed and applied in one place each, since each acts on the result of
//! the preceding one.

use crate::physics::wsm5::params::{SchemeConstants, Wsm5Params};
use crate::physics::wsm5::scheme::Scheme;
use crate::physics::wsm5::slope::{
    Slope, slope_rain, slope_snow, snow_intercept_factor, ventilated_surface,
};
use crate::physics::wsm5::{Air, Cell, StepStart};
use crate::thermo::{conductivity, diffusivity, saturation_water, ventilation, viscosity};

/// Melts snow where it is warmer than freezing.
///
/// qs += psmlt dt, qr -= psmlt dt, t += lf / cpm psmlt dt
///
/// Units: `dt_cloud` s.
#[inline(always)]
pub fn melt_snow<R: SchemeConstants>(p: &Scheme<R>, dt_cloud: R, air: &Air<R>, cell: &mut Cell<R>) {
    if cell.t <= R::FREEZING || cell.qs <= R::ZERO {
        return;
    }
    let n0s_factor = snow_intercept_factor(p, cell.t);
    let snow = slope_snow(p, air.rho, cell.qs, n0s_factor);
    melt(air, p.factors.psmlt * psmlt(p, dt_cloud, air, cell, n0s_factor, snow), cell);
}

/// Melts snow in one of `substeps` parts of a minor step, where it is warmer than freezing.
///
/// `snow` is the slope at the start of the minor step, as in the original. Units: `dt_cloud`, the whole minor step, s.
#[inline(always)]
pub fn melt_snow_in_substep<R: SchemeConstants>(
    p: &Scheme<R>,
    dt_cloud: R,
    substeps: R,
    air: &Air<R>,
    snow: Slope<R>,
    cell: &mut Cell<R>,
) {
    if cell.t <= R::FREEZING || cell.qs <= R::ZERO {
        return;
    }
    let psmlt = psmlt_in_substep(p, dt_cloud, substeps, air, cell, snow);
    melt(air, p.factors.psmlt * psmlt, cell);
}

/// Turns the amount of snow `psmlt` ≤ 0, kg kg⁻¹, into rain, and takes its latent heat.
#[inline(always)]
pub fn melt<R: SchemeConstants>(air: &Air<R>, psmlt: R, cell: &mut Cell<R>) {
    cell.qs += psmlt;
    cell.qr -= psmlt;
    cell.t += R::L_FUSION / air.heat_capacity * psmlt;
}

/// `psmlt`: melting of snow (S → R), an amount.
///
/// psmlt = m / rho dt, between -qs and 0, with [`melting`] m, if t > t0 and qs > 0, else 0.
///
/// Source: HL06 eq. A33. Units: `dt_cloud` s, `n0s_factor` F 1; returns kg kg⁻¹, ≤ 0.
#[inline(always)]
pub fn psmlt<R: SchemeConstants>(
    p: &Wsm5Params<R>,
    dt_cloud: R,
    air: &Air<R>,
    cell: &Cell<R>,
    n0s_factor: R,
    snow: Slope<R>,
) -> R {
    if cell.t <= R::FREEZING || cell.qs <= R::ZERO {
        return R::ZERO;
    }
    let psmlt = melting(p, air, cell.t, n0s_factor, snow) / air.rho;
    (psmlt * dt_cloud).larger(-cell.qs).smaller(R::ZERO)
}

/// `psmlt` in one of `substeps` parts of a minor step (S → R), an amount.
///
/// psmlt = m dt / n, between -qs / n and 0, with [`melting`] m, if t > t0 and qs > 0, else 0.
///
/// The number is in kg m⁻³ but is used as kg kg⁻¹: the original does not divide by rho.
///
/// Source: HL06 eq. A33. Units: `dt_cloud` s, `substeps` n 1; returns kg kg⁻¹, ≤ 0.
#[inline(always)]
pub fn psmlt_in_substep<R: SchemeConstants>(
    p: &Wsm5Params<R>,
    dt_cloud: R,
    substeps: R,
    air: &Air<R>,
    cell: &Cell<R>,
    snow: Slope<R>,
) -> R {
    if cell.t <= R::FREEZING || cell.qs <= R::ZERO {
        return R::ZERO;
    }
    // The factor of the snow's intercept is 1 above freezing.
    let psmlt = melting(p, air, cell.t, R::ONE, snow);
    (psmlt * dt_cloud / substeps).larger(-cell.qs / substeps).smaller(R::ZERO)
}

/// Melting of snow of a given size in air of temperature `t`.
///
/// m = K / lf (t0 - t) π / 2 F (precs1 s² + precs2 V s² √(s s^b))
///
/// Source: HL06 eq. A33. Units: `t` K, `n0s_factor` F 1; returns kg m⁻³ s⁻¹, < 0 above freezing.
#[inline(always)]
pub fn melting<R: SchemeConstants>(
    p: &Wsm5Params<R>,
    air: &Air<R>,
    t: R,
    n0s_factor: R,
    snow: Slope<R>,
) -> R {
    let viscosity = viscosity(t, air.rho);
    let ventilation = ventilation(viscosity, diffusivity(t, air.p), air.rho);
    let surface = ventilated_surface(p.precs1, p.precs2, ventilation, snow);
    conductivity(viscosity, air.rho) / R::L_FUSION
        * (R::FREEZING - t)
        * R::PI
        * R::HALF
        * n0s_factor
        * surface
}

/// Melts ice and freezes drops, each process acting on the result of the preceding one.
///
/// `qr_for_slope` is the rain content whose drop size sets the freezing rate: that before snow melted into it, or that
/// at the start of the minor step ([`Sedimentation`](super::Sedimentation)). Units: `dt_cloud` s, `qr_for_slope`
/// kg kg⁻¹.
#[inline(always)]
pub fn adjust_phase<R: SchemeConstants>(
    p: &Scheme<R>,
    dt_cloud: R,
    air: &Air<R>,
    qr_for_slope: R,
    cell: &mut Cell<R>,
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
    let pihtf = p.factors.pihtf * pihtf(p, dt_cloud, cold, air.rho, cell.qc);
    cell.qi += pihtf;
    cell.t += warming * pihtf;
    cell.qc -= pihtf;
    if cold > R::ZERO && cell.qr > R::ZERO {
        let rain = slope_rain(p, air.rho, qr_for_slope);
        let psfrz = p.factors.psfrz * psfrz(p, dt_cloud, cold, air.rho, cell.qr, rain);
        cell.qs += psfrz;
        cell.t += warming * psfrz;
        cell.qr -= psfrz;
    }
}

/// `pimlt`: melting of all cloud ice above freezing (I → C), an amount.
///
/// Source: RH83 eq. A18. Units: `cold` t0 - t K, `qi` kg kg⁻¹; returns kg kg⁻¹, ≥ 0.
#[inline(always)]
pub fn pimlt<R: SchemeConstants>(cold: R, qi: R) -> R {
    if cold < R::ZERO && qi > R::ZERO { qi } else { R::ZERO }
}

/// `pihmf`: freezing of all cloud water below -40 °C (C → I), an amount.
///
/// Source: HL06. Units: `cold` t0 - t K, `qc` kg kg⁻¹; returns kg kg⁻¹, ≥ 0.
#[inline(always)]
pub fn pihmf<R: SchemeConstants>(cold: R, qc: R) -> R {
    if cold > R::HOMOGENEOUS_FREEZING && qc > R::ZERO { qc } else { R::ZERO }
}

/// Growth of freezing on nuclei with supercooling.
///
/// g = exp(pfrz2 (t0 - t)) - 1
///
/// with t0 - t capped at the limit of the variant of the scheme.
///
/// Source: HL06. Units: `cold` t0 - t K; returns 1.
#[inline(always)]
pub fn freezing_growth<R: SchemeConstants>(p: &Wsm5Params<R>, cold: R) -> R {
    (p.pfrz2 * cold.smaller(p.freezing_cold_max)).exp() - R::ONE
}

/// `pihtf`: freezing of cloud drops on nuclei (C → I), an amount.
///
/// pihtf = min(pfrz1 g rho / rhow / xncr qc² dt, qc) with [`freezing_growth`] g
///
/// if t < t0 and qc > 0, else 0.
///
/// Source: HL06. Units: `dt_cloud` s, `cold` t0 - t K, `rho` kg m⁻³, `qc` kg kg⁻¹; returns
/// kg kg⁻¹, ≥ 0.
#[inline(always)]
pub fn pihtf<R: SchemeConstants>(p: &Wsm5Params<R>, dt_cloud: R, cold: R, rho: R, qc: R) -> R {
    if cold <= R::ZERO || qc <= R::ZERO {
        return R::ZERO;
    }
    let growth = freezing_growth(p, cold);
    (p.pfrz1 * growth * rho / R::RHO_WATER / p.xncr * qc * qc * dt_cloud).smaller(qc)
}

/// `psfrz`: freezing of rain (R → S), an amount.
///
/// psfrz = min(20 π² pfrz1 n0r rhow / rho g s⁷ dt, qr) with [`freezing_growth`] g
///
/// if t < t0 and qr > 0, else 0.
///
/// Source: HL06; RH83. Units: `dt_cloud` s, `cold` t0 - t K, `rho` kg m⁻³, `qr` kg kg⁻¹; returns
/// kg kg⁻¹, ≥ 0.
#[inline(always)]
pub fn psfrz<R: SchemeConstants>(
    p: &Wsm5Params<R>,
    dt_cloud: R,
    cold: R,
    rho: R,
    qr: R,
    rain: Slope<R>,
) -> R {
    if cold <= R::ZERO || qr <= R::ZERO {
        return R::ZERO;
    }
    let growth = freezing_growth(p, cold);
    let s = rain.length;
    // This order keeps the product far from the smallest normal number in single precision.
    let volume = R::RAIN_FREEZING * R::PI * R::PI * p.n0r * s * s * s * s * (s * s * s);
    (p.pfrz1 * growth * R::RHO_WATER / rho * volume * dt_cloud).smaller(qr)
}

/// Condenses the excess over water saturation, or evaporates cloud water into the deficit.
///
/// Returns the water that clipping at zero adds, kg kg⁻¹.
#[inline(always)]
pub fn condense<R: SchemeConstants>(
    p: &Scheme<R>,
    dt_cloud: R,
    air: &Air<R>,
    step_start: &StepStart<R>,
    cell: &mut Cell<R>,
) -> R {
    // Saturation at the start of the minor step is still valid if the temperature has not changed.
    let is_unchanged = (cell.t - step_start.t) == R::ZERO;
    let qsw = if is_unchanged {
        step_start.qsw
    } else {
        saturation_water(cell.t, air.p, p.vapour_pressure_cap)
    };
    let pcond = p.factors.pcond * pcond(dt_cloud, air, cell, qsw);
    let qc = cell.qc + pcond * dt_cloud;
    cell.qv -= pcond * dt_cloud;
    cell.qc = qc.larger(R::ZERO);
    cell.t += pcond * air.latent_heat / air.heat_capacity * dt_cloud;
    cell.qc - qc
}

/// `pcond`: condensation by one Newton step towards water saturation (V → C).
///
/// x = (max(qv, qmin) - qsw) / (1 + L² / (rv cpm) qsw / t²); pcond = x / dt, limited to the vapour present if positive,
/// and to the cloud water present if negative.
///
/// Source: HL06 eq. A46. Units: `dt_cloud` s, `qsw` kg kg⁻¹; returns kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn pcond<R: SchemeConstants>(dt_cloud: R, air: &Air<R>, cell: &Cell<R>, qsw: R) -> R {
    let l = air.latent_heat;
    let stiffness = l * l / (R::R_VAPOUR * air.heat_capacity) * qsw / (cell.t * cell.t);
    let excess = (cell.qv.larger(R::Q_MIN) - qsw) / (R::ONE + stiffness);
    if cell.qc > R::ZERO && excess < R::ZERO {
        return excess.larger(-cell.qc) / dt_cloud;
    }
    (excess / dt_cloud).larger(R::ZERO).smaller(cell.qv.larger(R::ZERO) / dt_cloud)
}
