//! Collection: of ice, snow and rain by each other and by graupel, and of cloud water by snow and graupel.
//!
//! Snow and graupel have a common terminal velocity, so that neither collects the other.

use super::cell::{Wsm6Cell, Wsm6Coefficients};
use super::params::{Wsm6Constants, Wsm6Params};
use super::shared::Air;
use super::shared::slope::{Slope, fall_speed, fall_speed_crystal, ice_diameter};
use super::slope::common_speed;
use crate::cuda_abi::shared_struct;

shared_struct! {
    /// Terminal velocities of the particles of a cell that collide, whether the species are there or not.
    #[derive(Default)]
    pub struct Collision<R> {
        /// Of rain.
        rain: R, "m s⁻¹";
        /// Of snow and graupel together.
        rimed: R, "m s⁻¹";
        /// Of ice crystals.
        ice: R, "m s⁻¹";
        /// Diameter of ice crystals.
        diameter: R, "m";
        /// Number of ice crystals.
        number: R, "m⁻³";
    }
}

/// Terminal velocities of a cell, with the given `number` of ice crystals, m⁻³.
#[inline(always)]
pub fn collision<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    air: &Air<R>,
    cell: &Wsm6Cell<R>,
    number: R,
    coefficients: &Wsm6Coefficients<R>,
) -> Collision<R> {
    let of = |factor, slope| fall_speed(factor, slope, air.density_factor);
    let ws = of(p.common.pvts, coefficients.common.snow);
    let wg = of(p.graupel.pvtg, coefficients.graupel);
    let diameter = ice_diameter(&p.common, air.rho, cell.qi, number).smaller(p.common.dimax);
    Collision {
        rain: of(p.common.pvtr, coefficients.common.rain),
        rimed: common_speed(ws, wg, cell.qs, cell.qg),
        ice: fall_speed_crystal(diameter),
        diameter,
        number,
    }
}

/// Efficiency of a collector that is scarcer than what it collects.
///
/// E = min(max(0, a / b), 1)², with the mixing ratios a of the `collector` and b of the `collected`
///
/// Units: kg kg⁻¹; returns 1, 0 to 1.
#[inline(always)]
pub fn efficiency<R: Wsm6Constants>(collector: R, collected: R) -> R {
    let ratio = (collector / collected).larger(R::ZERO).smaller(R::ONE);
    ratio * ratio
}

/// Area that particles of an exponential distribution sweep for crystals of one diameter D, over π and their number.
///
/// A = 2 s³ + 2 D s² + D² s
///
/// Source: HL06 eq. A15 to A17. Units: m; returns m³.
#[inline(always)]
pub fn ice_sweep<R: Wsm6Constants>(s: R, diameter: R) -> R {
    R::TWO * s * s * s + R::TWO * diameter * s * s + diameter * diameter * s
}

/// Content of ice that particles of an exponential distribution collect in a second with an efficiency of 1.
///
/// π qi n0 |w - wi| A / 4 with [`ice_sweep`] A
///
/// Source: HL06 eq. A15 to A17. Units: `qi` kg kg⁻¹, `intercept` m⁻⁴, `speed` m s⁻¹; returns kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn ice_collected<R: Wsm6Constants>(
    qi: R,
    intercept: R,
    speed: R,
    collector: Slope<R>,
    motion: &Collision<R>,
) -> R {
    R::PI
        * qi
        * intercept
        * (speed - motion.ice).abs()
        * ice_sweep(collector.length, motion.diameter)
        * (R::HALF * R::HALF)
}

/// Efficiency of the collection of ice by snow and graupel: that of sticking, which decreases with cold.
///
/// exp(-0.07 (t0 - t))
///
/// Source: HDC04 eq. 10. Units: `cold` t0 - t K; returns 1.
#[inline(always)]
pub fn sticking<R: Wsm6Constants>(cold: R) -> R {
    (-R::COLLECTION_DECAY * cold).exp()
}

/// Content of a precipitating species that another collects in a second with an efficiency of 1.
///
/// π² n0x n0y |wx - wy| rhox / rho (5 sx⁶ sy + 2 sx⁵ sy² + sx⁴ sy³ / 2)
///
/// Source: HL06 eq. A10 to A12. Units: `intercepts` n0x n0y m⁻⁸, `speed` wx - wy m s⁻¹, `density` rhox / rho 1, slopes
/// sx, sy m; returns kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn mass_collected<R: Wsm6Constants>(
    intercepts: R,
    speed: R,
    density: R,
    collected: Slope<R>,
    collector: Slope<R>,
) -> R {
    let (x, y) = (collected.length, collector.length);
    let x3 = x * x * x;
    // In this order no product leaves the range of single precision.
    let sixth = (R::TWO + R::TWO + R::ONE) * (x3 * x3 * y);
    let fifth = R::TWO * (x3 * x * x * y * y);
    let fourth = R::HALF * (x3 * x * y * y * y);
    R::PI * R::PI * intercepts * speed.abs() * density * (sixth + fifth + fourth)
}

/// `praci`: collection of ice by rain (I → S, or I → G with much rain).
///
/// praci = min(π qi n0r |wr - wi| A / 4 E(qr, qi), qi / dt)  if t < t0, qi > qmin and qr > 1e-9, else 0
///
/// Source: HL06 eq. A15. Units: `dt_cloud` s; returns kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn praci<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    dt_cloud: R,
    cell: &Wsm6Cell<R>,
    coefficients: &Wsm6Coefficients<R>,
    motion: &Collision<R>,
) -> R {
    if cell.t >= R::FREEZING || cell.qi <= R::Q_MIN || cell.qr <= R::Q_PRECIPITATION_MIN {
        return R::ZERO;
    }
    let rain = coefficients.common.rain;
    let praci = ice_collected(cell.qi, p.common.n0r, motion.rain, rain, motion);
    (praci * efficiency(cell.qr, cell.qi)).smaller(cell.qi / dt_cloud)
}

/// `piacr`: freezing of rain that collects ice (R → S, or R → G with much rain).
///
/// piacr = min(π² avtr n0r rhow N √(rho0 / rho) Γ(6 + b) sr⁶ sr^b / 24 / rho E(qi, qr), qr / dt)
///
/// if t < t0, qi > qmin and qr > 1e-9, else 0.
///
/// Source: HL06 eq. A19. Units: `dt_cloud` s; returns kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn piacr<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    dt_cloud: R,
    air: &Air<R>,
    cell: &Wsm6Cell<R>,
    coefficients: &Wsm6Coefficients<R>,
    motion: &Collision<R>,
) -> R {
    if cell.t >= R::FREEZING || cell.qi <= R::Q_MIN || cell.qr <= R::Q_PRECIPITATION_MIN {
        return R::ZERO;
    }
    let rain = coefficients.common.rain;
    let s3 = rain.length * rain.length * rain.length;
    let collisions = R::PI * R::PI * p.avtr * p.common.n0r * motion.number * air.density_factor;
    let mass = R::RHO_WATER * p.rain_moment * s3 * s3 * rain.power / R::PIACR_DIVISOR / air.rho;
    (collisions * mass * efficiency(cell.qi, cell.qr)).smaller(cell.qr / dt_cloud)
}

/// `psaci`: collection of ice by snow (I → S).
///
/// psaci = min(π qi exp(-0.07 (t0 - t)) n0s F |wsg - wi| A / 4, qi / dt)  if t < t0, qi > qmin and qs > 1e-9, else 0
///
/// Source: HDC04 eq. 10, with the common terminal velocity of DHL08. Units: `dt_cloud` s; returns kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn psaci<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    dt_cloud: R,
    cell: &Wsm6Cell<R>,
    coefficients: &Wsm6Coefficients<R>,
    motion: &Collision<R>,
) -> R {
    if cell.t >= R::FREEZING || cell.qi <= R::Q_MIN || cell.qs <= R::Q_PRECIPITATION_MIN {
        return R::ZERO;
    }
    let intercept = p.common.n0s * coefficients.common.n0s_factor;
    let psaci = ice_collected(cell.qi, intercept, motion.rimed, coefficients.common.snow, motion);
    (psaci * sticking(R::FREEZING - cell.t)).smaller(cell.qi / dt_cloud)
}

/// `pgaci`: collection of ice by graupel (I → G).
///
/// pgaci = min(π qi exp(-0.07 (t0 - t)) n0g |wsg - wi| A / 4, qi / dt)  if t < t0, qi > qmin and qg > 1e-9, else 0
///
/// Source: HL06 eq. A17. Units: `dt_cloud` s; returns kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn pgaci<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    dt_cloud: R,
    cell: &Wsm6Cell<R>,
    coefficients: &Wsm6Coefficients<R>,
    motion: &Collision<R>,
) -> R {
    if cell.t >= R::FREEZING || cell.qi <= R::Q_MIN || cell.qg <= R::Q_PRECIPITATION_MIN {
        return R::ZERO;
    }
    let graupel = coefficients.graupel;
    let pgaci = ice_collected(cell.qi, p.graupel.n0g, motion.rimed, graupel, motion);
    (pgaci * sticking(R::FREEZING - cell.t)).smaller(cell.qi / dt_cloud)
}

/// `psacw`: collection of cloud water by snow; it acts through [`paacw`] only.
///
/// psacw = min(pacrc F s³ s^b E(qs, qc) qc √(rho0 / rho), qc / dt)  if qs > 1e-9 and qc > qmin, else 0
///
/// Source: HL06 eq. A7. Units: `dt_cloud` s; returns kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn psacw<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    dt_cloud: R,
    air: &Air<R>,
    cell: &Wsm6Cell<R>,
    coefficients: &Wsm6Coefficients<R>,
) -> R {
    if cell.qs <= R::Q_PRECIPITATION_MIN || cell.qc <= R::Q_MIN {
        return R::ZERO;
    }
    let factor = p.common.pacrc * coefficients.common.n0s_factor;
    let psacw = water_collected(factor, coefficients.common.snow, cell.qs, cell.qc);
    (psacw * air.density_factor).smaller(cell.qc / dt_cloud)
}

/// `pgacw`: collection of cloud water by graupel; it acts through [`paacw`] only.
///
/// pgacw = min(pacrg s³ s^b E(qg, qc) qc √(rho0 / rho), qc / dt)  if qg > 1e-9 and qc > qmin, else 0
///
/// Source: HL06 eq. A6. Units: `dt_cloud` s; returns kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn pgacw<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    dt_cloud: R,
    air: &Air<R>,
    cell: &Wsm6Cell<R>,
    coefficients: &Wsm6Coefficients<R>,
) -> R {
    if cell.qg <= R::Q_PRECIPITATION_MIN || cell.qc <= R::Q_MIN {
        return R::ZERO;
    }
    let pgacw = water_collected(p.graupel.pacrg, coefficients.graupel, cell.qg, cell.qc);
    (pgacw * air.density_factor).smaller(cell.qc / dt_cloud)
}

/// Cloud water that a species collects in a second in air of the reference density.
///
/// a s³ s^b E(q, qc) qc
///
/// Units: `factor` a m⁻³⁻ᵇ s⁻¹, mixing ratios `q` of the collector and `qc` kg kg⁻¹; returns kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn water_collected<R: Wsm6Constants>(factor: R, collector: Slope<R>, q: R, qc: R) -> R {
    let s3 = collector.length * collector.length * collector.length;
    factor * s3 * collector.power * efficiency(q, qc) * qc
}

/// `paacw`: mean of [`psacw`] and [`pgacw`] by mass (C → S and, once more, C → G; C → R twice above freezing).
///
/// paacw = (qs psacw + qg pgacw) / (qs + qg)  if qs + qg > 1e-15, else 0
///
/// Source: DHL08. Units: `psacw`, `pgacw` kg kg⁻¹ s⁻¹, `qs`, `qg` kg kg⁻¹; returns kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn paacw<R: Wsm6Constants>(psacw: R, pgacw: R, qs: R, qg: R) -> R {
    let sum = qs + qg;
    if sum <= R::Q_COMMON_MIN {
        return R::ZERO;
    }
    (qs * psacw + qg * pgacw) / sum
}

/// `pracs`: collection of snow by rain (S → G, unless there is little of both).
///
/// pracs = min(c E(qr, qs), qs / dt) with [`mass_collected`] c  if t < t0, qs > 1e-9 and qr > 1e-9, else 0
///
/// Source: HL06 eq. A11. Units: `dt_cloud` s; returns kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn pracs<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    dt_cloud: R,
    air: &Air<R>,
    cell: &Wsm6Cell<R>,
    coefficients: &Wsm6Coefficients<R>,
    motion: &Collision<R>,
) -> R {
    let (qr, qs, least) = (cell.qr, cell.qs, R::Q_PRECIPITATION_MIN);
    if cell.t >= R::FREEZING || qs <= least || qr <= least {
        return R::ZERO;
    }
    let c = &coefficients.common;
    let intercepts = p.common.n0r * p.common.n0s * c.n0s_factor;
    let density = R::RHO_SNOW / air.rho;
    let pracs = mass_collected(intercepts, motion.rain - motion.rimed, density, c.snow, c.rain);
    (pracs * efficiency(qr, qs)).smaller(qs / dt_cloud)
}

/// `psacr`: collection of rain by snow (R → S with little of both, R → G otherwise; above freezing it only melts snow).
///
/// psacr = min(c E(qs, qr), qr / dt) with [`mass_collected`] c  if qs > 1e-9 and qr > 1e-9, else 0
///
/// Source: HL06 eq. A10. Units: `dt_cloud` s; returns kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn psacr<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    dt_cloud: R,
    air: &Air<R>,
    cell: &Wsm6Cell<R>,
    coefficients: &Wsm6Coefficients<R>,
    motion: &Collision<R>,
) -> R {
    let (qr, qs, least) = (cell.qr, cell.qs, R::Q_PRECIPITATION_MIN);
    if qs <= least || qr <= least {
        return R::ZERO;
    }
    let c = &coefficients.common;
    let intercepts = p.common.n0r * p.common.n0s * c.n0s_factor;
    let density = R::RHO_WATER / air.rho;
    let psacr = mass_collected(intercepts, motion.rimed - motion.rain, density, c.rain, c.snow);
    (psacr * efficiency(qs, qr)).smaller(qr / dt_cloud)
}

/// `pgacr`: collection of rain by graupel (R → G; above freezing it only melts graupel).
///
/// pgacr = min(c E(qg, qr), qr / dt) with [`mass_collected`] c  if qg > 1e-9 and qr > 1e-9, else 0
///
/// Source: HL06 eq. A12. Units: `dt_cloud` s; returns kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn pgacr<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    dt_cloud: R,
    air: &Air<R>,
    cell: &Wsm6Cell<R>,
    coefficients: &Wsm6Coefficients<R>,
    motion: &Collision<R>,
) -> R {
    let (qr, qg, least) = (cell.qr, cell.qg, R::Q_PRECIPITATION_MIN);
    if qg <= least || qr <= least {
        return R::ZERO;
    }
    let (rain, graupel) = (coefficients.common.rain, coefficients.graupel);
    let intercepts = p.common.n0r * p.graupel.n0g;
    let density = R::RHO_WATER / air.rho;
    let pgacr = mass_collected(intercepts, motion.rimed - motion.rain, density, rain, graupel);
    (pgacr * efficiency(qg, qr)).smaller(qr / dt_cloud)
}
