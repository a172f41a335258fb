//! Processes of ice and snow below freezing, and the riming of snow at any temperature.

use crate::cuda_abi::shared_struct;
use crate::physics::wsm5::params::{SchemeConstants, Wsm5Params};
use crate::physics::wsm5::scheme::Scheme;
use crate::physics::wsm5::slope::{
    fall_speed, fall_speed_crystal, ice_diameter, ice_number, ventilated_surface,
};
use crate::physics::wsm5::{Air, Cell, Coefficients, StepStart};

shared_struct! {
    /// Rates of the cold processes, kg kg⁻¹ s⁻¹.
    #[derive(Default)]
    pub struct IceRates<R> {
        /// Collection of ice by snow (I → S), ≥ 0.
        psaci: R, "kg kg⁻¹ s⁻¹";
        /// Collection of cloud water by snow (C → S, or C → R above freezing), ≥ 0.
        psacw: R, "kg kg⁻¹ s⁻¹";
        /// Deposition on ice (V → I), < 0 where ice sublimates.
        pidep: R, "kg kg⁻¹ s⁻¹";
        /// Deposition on snow (V → S), < 0 where snow sublimates.
        psdep: R, "kg kg⁻¹ s⁻¹";
        /// Formation of ice (V → I).
        pigen: R, "kg kg⁻¹ s⁻¹";
        /// Aggregation of ice to snow (I → S), ≥ 0.
        psaut: R, "kg kg⁻¹ s⁻¹";
    }
}

/// All cold rates of a cell.
///
/// Excess vapour is shared in the order pidep, psdep, pigen, until it is used up.
#[inline(always)]
pub fn rates<R: SchemeConstants>(
    p: &Scheme<R>,
    dt_cloud: R,
    air: &Air<R>,
    step_start: &StepStart<R>,
    cell: &Cell<R>,
    coefficients: &Coefficients<R>,
    prevp: R,
) -> IceRates<R> {
    let cold = R::FREEZING - cell.t;
    let f = &p.factors;
    let psacw = psacw(p, dt_cloud, cell.qc, cell.qs, coefficients, air.density_factor) * f.psacw;
    if cold <= R::ZERO {
        return IceRates { psacw, ..IceRates::default() };
    }
    let number = ice_number(air.rho, cell.qi);
    let psaci = psaci(p, cold, air, cell, number, coefficients) * f.psaci;

    let rhi = (cell.qv / step_start.qsi).larger(R::Q_MIN);
    let excess = (cell.qv.larger(R::Q_MIN) - step_start.qsi) / dt_cloud;
    let growth = Growth { rhi, excess, left: excess - prevp };
    let pidep = pidep(p, dt_cloud, air.rho, cell.qi, number, &growth, coefficients) * f.pidep;
    // Only a process whose species is present checks whether the excess is used up.
    let mut used_up = cell.qi > R::ZERO && (prevp + pidep).abs() >= excess.abs();

    let growth = Growth { left: excess - prevp - pidep, ..growth };
    let psdep = if used_up { R::ZERO } else { psdep(p, dt_cloud, cell.qs, &growth, coefficients) };
    let psdep = psdep * f.psdep;
    used_up = used_up || cell.qs > R::ZERO && (prevp + pidep + psdep).abs() >= excess.abs();

    let growth = Growth { left: excess - prevp - pidep - psdep, ..growth };
    let pigen = if used_up { R::ZERO } else { pigen(dt_cloud, cold, air.rho, cell.qi, &growth) };
    let pigen = pigen * f.pigen;
    let psaut = psaut(p, dt_cloud, air.rho, cell.qi) * f.psaut;
    IceRates { psaci, psacw, pidep, psdep, pigen, psaut }
}

shared_struct! {
    /// Excess vapour for the growth of ice.
    #[derive(Default)]
    pub struct Growth<R> {
        /// Relative humidity over ice at the start of the minor step.
        rhi: R, "1";
        /// Excess over ice saturation.
        excess: R, "kg kg⁻¹ s⁻¹";
        /// Excess that is left after the preceding rates.
        left: R, "kg kg⁻¹ s⁻¹";
    }
}

/// `psaci`: collection of ice by snow (I → S).
///
/// psaci = π qi exp(-0.07 (t0 - t)) n0s F |vs - vi| (2 s³ + 2 D s² + D² s) / 4
///
/// if t < t0, qs > 1e-9 and qi > qmin, else 0.
///
/// Source: HDC04 eq. 10. Units: `cold` t0 - t K, `number` m⁻³; returns kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn psaci<R: SchemeConstants>(
    p: &Wsm5Params<R>,
    cold: R,
    air: &Air<R>,
    cell: &Cell<R>,
    number: R,
    coefficients: &Coefficients<R>,
) -> R {
    if cold <= R::ZERO || cell.qs <= R::Q_PRECIPITATION_MIN || cell.qi <= R::Q_MIN {
        return R::ZERO;
    }
    let diameter = ice_diameter(p, air.rho, cell.qi, number).smaller(p.dimax);
    let ice_speed = fall_speed_crystal(diameter);
    let snow_speed = fall_speed(p.pvts, coefficients.snow, air.density_factor);
    let s = coefficients.snow.length;
    let sweep = R::TWO * s * s * s + R::TWO * diameter * s * s + diameter * diameter * s;
    R::PI
        * cell.qi
        * (-R::COLLECTION_DECAY * cold).exp()
        * p.n0s
        * coefficients.n0s_factor
        * (snow_speed - ice_speed).abs()
        * sweep
        * (R::HALF * R::HALF)
}

/// `psacw`: collection of cloud water by snow (C → S below freezing, C → R above).
///
/// psacw = min(pacrc F s³ s^b qc √(rho0 / rho), qc / dt)  if qs > 1e-9 and qc > qmin, else 0
///
/// Source: HDC04 eq. 15 for snow. Units: `dt_cloud` s, `qc`, `qs` kg kg⁻¹, `density_factor` 1;
/// returns kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn psacw<R: SchemeConstants>(
    p: &Wsm5Params<R>,
    dt_cloud: R,
    qc: R,
    qs: R,
    coefficients: &Coefficients<R>,
    density_factor: R,
) -> R {
    if qs <= R::Q_PRECIPITATION_MIN || qc <= R::Q_MIN {
        return R::ZERO;
    }
    let snow = coefficients.snow;
    let s3 = snow.length * snow.length * snow.length;
    (p.pacrc * coefficients.n0s_factor * s3 * snow.power * qc * density_factor)
        .smaller(qc / dt_cloud)
}

/// `pidep`: deposition of vapour on ice, or sublimation where negative (V → I).
///
/// pidep = 4 D N (rhi - 1) / Ai  if qi > 0, else 0
///
/// limited to half the excess of vapour, what is left of the excess, and the ice present.
///
/// Source: HDC04 eq. 9. Units: `dt_cloud` s, `rho` kg m⁻³, `qi` kg kg⁻¹, `number` m⁻³; returns
/// kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn pidep<R: SchemeConstants>(
    p: &Wsm5Params<R>,
    dt_cloud: R,
    rho: R,
    qi: R,
    number: R,
    growth: &Growth<R>,
    coefficients: &Coefficients<R>,
) -> R {
    if qi <= R::ZERO {
        return R::ZERO;
    }
    let diameter = ice_diameter(p, rho, qi, number);
    let pidep =
        (R::TWO + R::TWO) * diameter * number * (growth.rhi - R::ONE) / coefficients.resistance_ice;
    let half = R::HALF * growth.excess;
    // The branch depends on the humidity, not on the sign of the rate: the rate is 0 if the ice diameter underflows,
    // and the branch for growth would then return the whole deficit as a rate.
    if growth.rhi < R::ONE {
        pidep.larger(half).larger(growth.left).larger(-qi / dt_cloud)
    } else {
        pidep.smaller(half).smaller(growth.left)
    }
}

/// `psdep`: deposition of vapour on snow, or sublimation where negative (V → S).
///
/// psdep = (rhi - 1) F (precs1 s² + precs2 V s² √(s s^b)) / Ai  if qs > 0, else 0
///
/// limited to the snow present, half the excess of vapour, and what is left of the excess.
///
/// Source: HDC04 eq. 14. Units: `dt_cloud` s, `qs` kg kg⁻¹; returns kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn psdep<R: SchemeConstants>(
    p: &Wsm5Params<R>,
    dt_cloud: R,
    qs: R,
    growth: &Growth<R>,
    coefficients: &Coefficients<R>,
) -> R {
    if qs <= R::ZERO {
        return R::ZERO;
    }
    let surface =
        ventilated_surface(p.precs1, p.precs2, coefficients.ventilation, coefficients.snow);
    let psdep =
        (growth.rhi - R::ONE) * coefficients.n0s_factor * surface / coefficients.resistance_ice;
    let half = R::HALF * growth.excess;
    if psdep < R::ZERO {
        psdep.larger(-qs / dt_cloud).larger(half).larger(growth.left)
    } else {
        psdep.smaller(half).smaller(growth.left)
    }
}

/// `pigen`: formation of ice on nuclei (V → I).
///
/// pigen = min(max(0, (4.92e-11 n0^1.33 / rho - qi) / dt), excess, left), n0 = 1e3 exp(0.1 (t0 - t))
///
/// if there is excess, else 0. It can be negative if the preceding rates exceed the excess.
///
/// Source: HDC04 eq. 7, 8. Units: `dt_cloud` s, `cold` t0 - t K, `rho` kg m⁻³, `qi` kg kg⁻¹;
/// returns kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn pigen<R: SchemeConstants>(dt_cloud: R, cold: R, rho: R, qi: R, growth: &Growth<R>) -> R {
    if growth.excess <= R::ZERO {
        return R::ZERO;
    }
    let nuclei = R::NUCLEI * (R::NUCLEI_GROWTH * cold).exp();
    let content = R::INITIAL_ICE * nuclei.powf(R::INITIAL_ICE_EXPONENT);
    let pigen = ((content / rho - qi.larger(R::ZERO)) / dt_cloud).larger(R::ZERO);
    pigen.smaller(growth.excess).smaller(growth.left)
}

/// `psaut`: aggregation of ice to snow (I → S).
///
/// psaut = max(0, (qi - roqimax / rho) / dt)  if qi > 0, else 0
///
/// Source: HDC04 eq. 12. Units: `dt_cloud` s, `rho` kg m⁻³, `qi` kg kg⁻¹; returns
/// kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn psaut<R: SchemeConstants>(p: &Wsm5Params<R>, dt_cloud: R, rho: R, qi: R) -> R {
    if qi <= R::ZERO {
        return R::ZERO;
    }
    ((qi - p.roqimax / rho) / dt_cloud).larger(R::ZERO)
}
