//! All rates of ice, snow and graupel in a cell, the aggregation of snow, and the melting by collected water.

use super::cell::{Wsm6Cell, Wsm6Coefficients};
use super::collection::{
    Collision, collision, paacw, pgaci, pgacr, pgacw, piacr, praci, pracs, psaci, psacr, psacw,
};
use super::params::Wsm6Constants;
use super::scheme::Scheme;
use super::shared::ice::{Growth, pigen, psaut, psdep};
use super::shared::slope::ice_number;
use super::shared::{Air, StepStart};
use super::vapour::{graupel_surface, melt_evaporation, pgdep, pidep, snow_surface};
use crate::cuda_abi::shared_struct;

shared_struct! {
    /// Rates of the processes of ice, snow and graupel, kg kg⁻¹ s⁻¹.
    #[derive(Default)]
    pub struct Wsm6IceRates<R> {
        /// Collection of ice by rain (I → S or G), ≥ 0.
        praci: R, "kg kg⁻¹ s⁻¹";
        /// Freezing of rain that collects ice (R → S or G), ≥ 0.
        piacr: R, "kg kg⁻¹ s⁻¹";
        /// Collection of ice by snow (I → S), ≥ 0.
        psaci: R, "kg kg⁻¹ s⁻¹";
        /// Collection of ice by graupel (I → G), ≥ 0.
        pgaci: R, "kg kg⁻¹ s⁻¹";
        /// Collection of cloud water by snow and, once more, by graupel (C → S and C → G, or C → R), ≥ 0.
        paacw: R, "kg kg⁻¹ s⁻¹";
        /// Collection of snow by rain (S → G), ≥ 0.
        pracs: R, "kg kg⁻¹ s⁻¹";
        /// Collection of rain by snow (R → S or G), ≥ 0.
        psacr: R, "kg kg⁻¹ s⁻¹";
        /// Collection of rain by graupel (R → G), ≥ 0.
        pgacr: R, "kg kg⁻¹ s⁻¹";
        /// Melting of snow by collected water (S → R), ≤ 0.
        pseml: R, "kg kg⁻¹ s⁻¹";
        /// Melting of graupel by collected water (G → R), ≤ 0.
        pgeml: R, "kg kg⁻¹ s⁻¹";
        /// Deposition on ice (V → I), < 0 where ice sublimates.
        pidep: R, "kg kg⁻¹ s⁻¹";
        /// Deposition on snow (V → S), < 0 where snow sublimates.
        psdep: R, "kg kg⁻¹ s⁻¹";
        /// Deposition on graupel (V → G), < 0 where graupel sublimates.
        pgdep: R, "kg kg⁻¹ s⁻¹";
        /// Formation of ice (V → I).
        pigen: R, "kg kg⁻¹ s⁻¹";
        /// Aggregation of ice to snow (I → S), ≥ 0.
        psaut: R, "kg kg⁻¹ s⁻¹";
        /// Aggregation of snow to graupel (S → G), ≥ 0.
        pgaut: R, "kg kg⁻¹ s⁻¹";
        /// Evaporation of melting snow (S → V), ≤ 0.
        psevp: R, "kg kg⁻¹ s⁻¹";
        /// Evaporation of melting graupel (G → V), ≤ 0.
        pgevp: R, "kg kg⁻¹ s⁻¹";
    }
}

/// All cold rates of a cell.
#[inline(always)]
pub fn rates<R: Wsm6Constants>(
    p: &Scheme<R>,
    dt_cloud: R,
    air: &Air<R>,
    step_start: &StepStart<R>,
    cell: &Wsm6Cell<R>,
    coefficients: &Wsm6Coefficients<R>,
    prevp: R,
) -> Wsm6IceRates<R> {
    let number = ice_number(air.rho, cell.qi);
    let motion = collision(p, air, cell, number, coefficients);
    let collected = collection_rates(p, dt_cloud, air, cell, coefficients, &motion);
    if cell.t < R::FREEZING {
        let grown = growth_rates(p, dt_cloud, air, step_start, cell, coefficients, &motion, prevp);
        let Wsm6IceRates { pidep, psdep, pgdep, pigen, psaut, pgaut, .. } = grown;
        Wsm6IceRates { pidep, psdep, pgdep, pigen, psaut, pgaut, ..collected }
    } else {
        let melted = melting_rates(p, dt_cloud, step_start, cell, coefficients, &collected);
        let Wsm6IceRates { pseml, pgeml, psevp, pgevp, .. } = melted;
        Wsm6IceRates { pseml, pgeml, psevp, pgevp, ..collected }
    }
}

/// The rates of collection.
#[inline(always)]
pub fn collection_rates<R: Wsm6Constants>(
    p: &Scheme<R>,
    dt: R,
    air: &Air<R>,
    cell: &Wsm6Cell<R>,
    coefficients: &Wsm6Coefficients<R>,
    motion: &Collision<R>,
) -> Wsm6IceRates<R> {
    let f = &p.factors;
    let psacw = f.psacw * psacw(p, dt, air, cell, coefficients);
    let pgacw = f.pgacw * pgacw(p, dt, air, cell, coefficients);
    Wsm6IceRates {
        praci: f.praci * praci(p, dt, cell, coefficients, motion),
        piacr: f.piacr * piacr(p, dt, air, cell, coefficients, motion),
        psaci: f.psaci * psaci(p, dt, cell, coefficients, motion),
        pgaci: f.pgaci * pgaci(p, dt, cell, coefficients, motion),
        paacw: f.paacw * paacw(psacw, pgacw, cell.qs, cell.qg),
        pracs: f.pracs * pracs(p, dt, air, cell, coefficients, motion),
        psacr: f.psacr * psacr(p, dt, air, cell, coefficients, motion),
        pgacr: f.pgacr * pgacr(p, dt, air, cell, coefficients, motion),
        ..Wsm6IceRates::default()
    }
}

/// The rates of deposition, formation and aggregation, below freezing.
///
/// Excess vapour is shared in the order pidep, psdep, pgdep, pigen, until it is used up.
#[inline(always)]
pub fn growth_rates<R: Wsm6Constants>(
    p: &Scheme<R>,
    dt_cloud: R,
    air: &Air<R>,
    step_start: &StepStart<R>,
    cell: &Wsm6Cell<R>,
    coefficients: &Wsm6Coefficients<R>,
    motion: &Collision<R>,
    prevp: R,
) -> Wsm6IceRates<R> {
    let (f, cold) = (&p.factors, R::FREEZING - cell.t);
    let rhi = (cell.qv / step_start.qsi).larger(R::Q_MIN);
    let excess = (cell.qv.larger(R::Q_MIN) - step_start.qsi) / dt_cloud;
    let growth = |left: R| Growth { rhi, excess, left };
    // Only a process whose species is present checks whether the excess is used up.
    let is_used_up = |used: R| used.abs() >= excess.abs();

    let (used, left) = (prevp, excess - prevp);
    let pidep = f.pidep
        * pidep(dt_cloud, cell.qi, motion.diameter, motion.number, &growth(left), coefficients);
    let (used, left) = (used + pidep, left - pidep);
    let mut stop = cell.qi > R::ZERO && is_used_up(used);

    let psdep = psdep(&p.common, dt_cloud, cell.qs, &growth(left), &coefficients.common);
    let psdep = if stop { R::ZERO } else { f.psdep * psdep };
    let (used, left) = (used + psdep, left - psdep);
    stop = stop || cell.qs > R::ZERO && is_used_up(used);

    let pgdep = pgdep(p, dt_cloud, cell.qg, &growth(left), coefficients);
    let pgdep = if stop { R::ZERO } else { f.pgdep * pgdep };
    let (used, left) = (used + pgdep, left - pgdep);
    stop = stop || cell.qg > R::ZERO && is_used_up(used);

    let pigen = pigen(dt_cloud, cold, air.rho, cell.qi, &growth(left));
    let pigen = if stop { R::ZERO } else { f.pigen * pigen };
    let psaut = f.psaut * psaut(&p.common, dt_cloud, air.rho, cell.qi);
    let pgaut = f.pgaut * pgaut(dt_cloud, cold, cell.qs);
    Wsm6IceRates { pidep, psdep, pgdep, pigen, psaut, pgaut, ..Wsm6IceRates::default() }
}

/// The rates of melting by collected water and of evaporation, from freezing upward.
#[inline(always)]
pub fn melting_rates<R: Wsm6Constants>(
    p: &Scheme<R>,
    dt_cloud: R,
    step_start: &StepStart<R>,
    cell: &Wsm6Cell<R>,
    coefficients: &Wsm6Coefficients<R>,
    collected: &Wsm6IceRates<R>,
) -> Wsm6IceRates<R> {
    let (f, cold) = (&p.factors, R::FREEZING - cell.t);
    let Wsm6IceRates { paacw, psacr, pgacr, .. } = *collected;
    let rhw = (cell.qv / step_start.qsw).larger(R::Q_MIN);
    let melted = |q, water| melting_by_water(dt_cloud, cold, q, water);
    let evaporated = |q, surface| {
        // At freezing itself nothing evaporates.
        let q = if cold < R::ZERO { q } else { R::ZERO };
        melt_evaporation(dt_cloud, q, rhw, surface, coefficients)
    };
    Wsm6IceRates {
        pseml: f.pseml * melted(cell.qs, paacw + psacr),
        pgeml: f.pgeml * melted(cell.qg, paacw + pgacr),
        psevp: f.psevp * evaporated(cell.qs, snow_surface(p, coefficients)),
        pgevp: f.pgevp * evaporated(cell.qg, graupel_surface(p, coefficients)),
        ..Wsm6IceRates::default()
    }
}

/// Melting of a species by the heat of the water that it collects, `pseml` of snow (S → R) and `pgeml` of graupel
/// (G → R).
///
/// cliq (t0 - t) w / lf, between -q / dt and 0  if t ≥ t0 and q > 0, else 0
///
/// Source: HL06 eq. A34, A24. Units: `dt_cloud` s, `cold` t0 - t K, `q` kg kg⁻¹, `water` w kg kg⁻¹ s⁻¹; returns
/// kg kg⁻¹ s⁻¹, ≤ 0.
#[inline(always)]
pub fn melting_by_water<R: Wsm6Constants>(dt_cloud: R, cold: R, q: R, water: R) -> R {
    if cold > R::ZERO || q <= R::ZERO {
        return R::ZERO;
    }
    (R::C_LIQUID * cold * water / R::L_FUSION).larger(-q / dt_cloud).smaller(R::ZERO)
}

/// `pgaut`: aggregation of snow to graupel (S → G).
///
/// pgaut = min(max(0, 1e-3 exp(-0.09 (t0 - t)) (qs - 6e-4)), qs / dt)  if t < t0 and qs > 0, else 0
///
/// Source: HL06 eq. A4. Units: `dt_cloud` s, `cold` t0 - t K, `qs` kg kg⁻¹; returns kg kg⁻¹ s⁻¹, ≥ 0.
#[inline(always)]
pub fn pgaut<R: Wsm6Constants>(dt_cloud: R, cold: R, qs: R) -> R {
    if cold <= R::ZERO || qs <= R::ZERO {
        return R::ZERO;
    }
    let rate = R::GRAUPEL_AGGREGATION * (-R::GRAUPEL_AGGREGATION_DECAY * cold).exp();
    (rate * (qs - R::GRAUPEL_AGGREGATION_THRESHOLD)).larger(R::ZERO).smaller(qs / dt_cloud)
}
