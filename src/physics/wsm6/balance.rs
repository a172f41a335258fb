//! Signs of the rates: the source and target species of each process. Signs of instantaneous changes are in
//! [`melt`](super::melt).
//!
//! Species are limited one after the other, each with the rates as scaled so far. A later one can undo the balance of an
//! earlier one, whose clipping at zero then adds water, as in the original.

use super::cell::Wsm6Cell;
use super::ice::Wsm6IceRates;
use super::params::Wsm6Constants;
use super::shared::Air;
use super::shared::balance::{add_clipped, limiter_factor, sub_clipped};
use super::shared::warm::WarmRates;
use crate::cuda_abi::shared_struct;

/// Limits the rates so that no species is overdrawn, and applies them.
///
/// Returns the water that clipping at zero adds, kg kg⁻¹.
#[inline(always)]
pub fn apply<R: Wsm6Constants>(
    dt_cloud: R,
    air: &Air<R>,
    mut warm: WarmRates<R>,
    mut ice: Wsm6IceRates<R>,
    cell: &mut Wsm6Cell<R>,
) -> R {
    limit_cloud(dt_cloud, &mut warm, &mut ice, cell);
    if cell.t <= R::FREEZING {
        let targets = targets(cell);
        limit_cold(dt_cloud, &mut warm, &mut ice, &targets, cell);
        apply_cold(dt_cloud, air, &warm, &ice, &targets, cell)
    } else {
        limit_warm(dt_cloud, &mut warm, &mut ice, cell);
        apply_warm(dt_cloud, air, &warm, &ice, cell)
    }
}

shared_struct! {
    /// Parts of the collected rain, ice and snow that become snow, 1 or 0; the rest becomes graupel.
    #[derive(Default)]
    pub struct Targets<R> {
        /// Of what rain and snow collect of each other (WRF `delta2`).
        of_snow: R, "1";
        /// Of what rain and ice collect of each other (WRF `delta3`).
        of_ice: R, "1";
    }
}

/// Snow forms where there is little rain, and little snow that collects it.
///
/// Source: HL06; Lin et al. 1983.
#[inline(always)]
pub fn targets<R: Wsm6Constants>(cell: &Wsm6Cell<R>) -> Targets<R> {
    let part = |holds: bool| if holds { R::ONE } else { R::ZERO };
    let of_ice = part(cell.qr < R::Q_GRAUPEL_FORMATION);
    Targets { of_snow: of_ice * part(cell.qs < R::Q_GRAUPEL_FORMATION), of_ice }
}

/// Scales the losses of cloud water, at any temperature. It is lost to snow and to graupel at one rate each.
#[inline(always)]
pub fn limit_cloud<R: Wsm6Constants>(
    dt: R,
    warm: &mut WarmRates<R>,
    ice: &mut Wsm6IceRates<R>,
    cell: &Wsm6Cell<R>,
) {
    let cloud = limiter_factor(cell.qc, cloud_loss(warm, ice) * dt);
    warm.praut *= cloud;
    warm.pracw *= cloud;
    ice.paacw *= cloud;
}

/// Scales the rates below freezing so that no ice, rain, snow and graupel is overdrawn in `dt` seconds.
#[inline(always)]
pub fn limit_cold<R: Wsm6Constants>(
    dt: R,
    warm: &mut WarmRates<R>,
    ice: &mut Wsm6IceRates<R>,
    targets: &Targets<R>,
    cell: &Wsm6Cell<R>,
) {
    let crystals = limiter_factor(cell.qi, ice_loss(ice) * dt);
    ice.psaut *= crystals;
    ice.pigen *= crystals;
    ice.pidep *= crystals;
    ice.praci *= crystals;
    ice.psaci *= crystals;
    ice.pgaci *= crystals;

    let rain = limiter_factor(cell.qr, -rain_gain_cold(warm, ice) * dt);
    warm.praut *= rain;
    warm.prevp *= rain;
    warm.pracw *= rain;
    ice.piacr *= rain;
    ice.psacr *= rain;
    ice.pgacr *= rain;

    // Gains are scaled with the losses.
    let snow = limiter_factor(cell.qs, -snow_gain_cold(ice, targets) * dt);
    ice.psdep *= snow;
    ice.psaut *= snow;
    ice.pgaut *= snow;
    ice.paacw *= snow;
    ice.piacr *= snow;
    ice.praci *= snow;
    ice.psaci *= snow;
    ice.pracs *= snow;
    ice.psacr *= snow;

    let graupel = limiter_factor(cell.qg, -graupel_gain_cold(ice, targets) * dt);
    ice.pgdep *= graupel;
    ice.pgaut *= graupel;
    ice.piacr *= graupel;
    ice.praci *= graupel;
    ice.psacr *= graupel;
    ice.pracs *= graupel;
    ice.paacw *= graupel;
    ice.pgaci *= graupel;
    ice.pgacr *= graupel;
}

/// Scales the rates above freezing so that no rain, snow and graupel is overdrawn in `dt` seconds.
#[inline(always)]
pub fn limit_warm<R: Wsm6Constants>(
    dt: R,
    warm: &mut WarmRates<R>,
    ice: &mut Wsm6IceRates<R>,
    cell: &Wsm6Cell<R>,
) {
    let rain = limiter_factor(cell.qr, -rain_gain_warm(warm, ice) * dt);
    warm.praut *= rain;
    warm.prevp *= rain;
    warm.pracw *= rain;
    ice.paacw *= rain;
    ice.pseml *= rain;
    ice.pgeml *= rain;

    let least = R::Q_PRECIPITATION_MIN;
    let snow = limiter_factor(cell.qs.larger(least), -(ice.pseml + ice.psevp) * dt);
    ice.psevp *= snow;
    ice.pseml *= snow;

    let graupel = limiter_factor(cell.qg.larger(least), -(ice.pgevp + ice.pgeml) * dt);
    ice.pgevp *= graupel;
    ice.pgeml *= graupel;
}

/// Loss of cloud water, kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn cloud_loss<R: Wsm6Constants>(warm: &WarmRates<R>, ice: &Wsm6IceRates<R>) -> R {
    warm.praut + warm.pracw + R::TWO * ice.paacw
}

/// Loss of ice below freezing, kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn ice_loss<R: Wsm6Constants>(ice: &Wsm6IceRates<R>) -> R {
    ice.psaut - ice.pigen - ice.pidep + ice.praci + ice.psaci + ice.pgaci
}

/// Gain of rain below freezing, kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn rain_gain_cold<R: Wsm6Constants>(warm: &WarmRates<R>, ice: &Wsm6IceRates<R>) -> R {
    warm.praut + warm.prevp + warm.pracw - ice.piacr - ice.psacr - ice.pgacr
}

/// Gain of rain above freezing, kg kg⁻¹ s⁻¹. Rain that snow and graupel collect there stays rain.
#[inline(always)]
pub fn rain_gain_warm<R: Wsm6Constants>(warm: &WarmRates<R>, ice: &Wsm6IceRates<R>) -> R {
    R::TWO * ice.paacw + warm.praut + warm.pracw + warm.prevp - ice.pseml - ice.pgeml
}

/// Gain of snow below freezing, kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn snow_gain_cold<R: Wsm6Constants>(ice: &Wsm6IceRates<R>, targets: &Targets<R>) -> R {
    let Targets { of_snow, of_ice } = *targets;
    ice.psdep + ice.psaut - ice.pgaut + ice.paacw + ice.piacr * of_ice + ice.praci * of_ice
        - ice.pracs * (R::ONE - of_snow)
        + ice.psacr * of_snow
        + ice.psaci
}

/// Gain of graupel below freezing, kg kg⁻¹ s⁻¹.
#[inline(always)]
pub fn graupel_gain_cold<R: Wsm6Constants>(ice: &Wsm6IceRates<R>, targets: &Targets<R>) -> R {
    let (of_snow, of_ice) = (R::ONE - targets.of_snow, R::ONE - targets.of_ice);
    ice.pgdep
        + ice.pgaut
        + ice.piacr * of_ice
        + ice.praci * of_ice
        + ice.psacr * of_snow
        + ice.pracs * of_snow
        + ice.pgaci
        + ice.paacw
        + ice.pgacr
}

/// Changes by the rates below freezing: each one times `dt` from one species to another, with its latent heat.
///
/// Units: `dt` s, rates kg kg⁻¹ s⁻¹; returns the water that clipping at zero adds, kg kg⁻¹.
#[inline(always)]
pub fn apply_cold<R: Wsm6Constants>(
    dt: R,
    air: &Air<R>,
    warm: &WarmRates<R>,
    ice: &Wsm6IceRates<R>,
    targets: &Targets<R>,
    cell: &mut Wsm6Cell<R>,
) -> R {
    let deposited = ice.psdep + ice.pgdep + ice.pidep + ice.pigen;
    let frozen = ice.piacr + R::TWO * ice.paacw + ice.pgacr + ice.psacr;
    let heating = R::L_SUBLIMATION * deposited
        + air.latent_heat * warm.prevp
        + (R::L_SUBLIMATION - air.latent_heat) * frozen;
    cell.qv -= (warm.prevp + deposited) * dt;
    cell.t += heating / air.heat_capacity * dt;
    sub_clipped(&mut cell.qc, cloud_loss(warm, ice) * dt)
        + add_clipped(&mut cell.qr, rain_gain_cold(warm, ice) * dt)
        + sub_clipped(&mut cell.qi, ice_loss(ice) * dt)
        + add_clipped(&mut cell.qs, snow_gain_cold(ice, targets) * dt)
        + add_clipped(&mut cell.qg, graupel_gain_cold(ice, targets) * dt)
}

/// Changes by the rates above freezing, as [`apply_cold`]; there is no ice.
#[inline(always)]
pub fn apply_warm<R: Wsm6Constants>(
    dt: R,
    air: &Air<R>,
    warm: &WarmRates<R>,
    ice: &Wsm6IceRates<R>,
    cell: &mut Wsm6Cell<R>,
) -> R {
    let condensed = warm.prevp + ice.psevp + ice.pgevp;
    let heating = air.latent_heat * condensed
        + (R::L_SUBLIMATION - air.latent_heat) * (ice.pseml + ice.pgeml);
    cell.qv -= condensed * dt;
    cell.t += heating / air.heat_capacity * dt;
    sub_clipped(&mut cell.qc, cloud_loss(warm, ice) * dt)
        + add_clipped(&mut cell.qr, rain_gain_warm(warm, ice) * dt)
        + add_clipped(&mut cell.qs, (ice.psevp + ice.pseml) * dt)
        + add_clipped(&mut cell.qg, (ice.pgevp + ice.pgeml) * dt)
}
