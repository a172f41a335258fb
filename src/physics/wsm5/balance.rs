//! Signs of the rates: the source and target species of each process. Signs of instantaneous changes are in
//! [`melt`](super::melt).

use crate::physics::wsm5::ice::IceRates;
use crate::physics::wsm5::params::SchemeConstants;
use crate::physics::wsm5::warm::WarmRates;
use crate::physics::wsm5::{Air, Cell};

/// Limits the rates so that no species is overdrawn, and applies them.
///
/// Returns the water that clipping at zero adds, kg kg⁻¹.
#[inline(always)]
pub fn apply<R: SchemeConstants>(
    dt_cloud: R,
    air: &Air<R>,
    mut warm: WarmRates<R>,
    mut ice: IceRates<R>,
    cell: &mut Cell<R>,
) -> R {
    limit(dt_cloud, &mut warm, &mut ice, cell);
    if cell.t <= R::FREEZING {
        apply_cold(dt_cloud, air, &warm, &ice, cell)
    } else {
        apply_warm(dt_cloud, air, &warm, &ice, cell)
    }
}

/// Scales the rates so that no species is overdrawn in `dt` seconds.
///
/// Species are limited one after the other, each with the rates as scaled so far. Above freezing there is no ice, and
/// snow collects cloud water, which becomes rain: all other rates of ice are zero, and the factors of their source
/// species are 1.
#[inline(always)]
pub fn limit<R: SchemeConstants>(
    dt: R,
    warm: &mut WarmRates<R>,
    ice: &mut IceRates<R>,
    cell: &Cell<R>,
) {
    let is_cold = cell.t <= R::FREEZING;

    let cloud = limiter_factor(cell.qc, (warm.praut + warm.pracw + ice.psacw) * dt);
    warm.praut *= cloud;
    warm.pracw *= cloud;
    ice.psacw *= cloud;

    let crystals = limiter_factor(cell.qi, (ice.psaut + ice.psaci - ice.pigen - ice.pidep) * dt);
    ice.psaut *= crystals;
    ice.psaci *= crystals;
    ice.pigen *= crystals;
    ice.pidep *= crystals;

    let melted = if is_cold { R::ZERO } else { ice.psacw };
    let rain = limiter_factor(cell.qr, (-warm.praut - warm.pracw - warm.prevp - melted) * dt);
    warm.praut *= rain;
    warm.pracw *= rain;
    warm.prevp *= rain;

    let snow = limiter_factor(cell.qs, (-ice.psdep - ice.psaut - ice.psaci - ice.psacw) * dt);
    ice.psdep *= snow;
    ice.psaut *= snow;
    ice.psaci *= snow;
    ice.psacw *= if is_cold { snow } else { rain };
}

/// Factor that limits losses to the content.
///
/// min(1, available / loss). Units: both alike; returns 1, in (0, 1].
#[inline(always)]
pub fn limiter_factor<R: SchemeConstants>(available: R, loss: R) -> R {
    let available = available.larger(R::Q_MIN);
    if loss > available { available / loss } else { R::ONE }
}

/// Changes by the rates below freezing: each one times `dt` from one species to another, with its latent heat.
///
/// Units: `dt` s, rates kg kg⁻¹ s⁻¹; returns the water that clipping at zero adds, kg kg⁻¹.
#[inline(always)]
pub fn apply_cold<R: SchemeConstants>(
    dt: R,
    air: &Air<R>,
    warm: &WarmRates<R>,
    ice: &IceRates<R>,
    cell: &mut Cell<R>,
) -> R {
    let vapour = -(warm.prevp + ice.psdep + ice.pigen + ice.pidep);
    let heating = R::L_SUBLIMATION * (ice.psdep + ice.pidep + ice.pigen)
        + air.latent_heat * warm.prevp
        + (R::L_SUBLIMATION - air.latent_heat) * ice.psacw;
    cell.qv += vapour * dt;
    cell.t += heating / air.heat_capacity * dt;
    sub_clipped(&mut cell.qc, (warm.praut + warm.pracw + ice.psacw) * dt)
        + add_clipped(&mut cell.qr, (warm.praut + warm.pracw + warm.prevp) * dt)
        + sub_clipped(&mut cell.qi, (ice.psaut + ice.psaci - ice.pigen - ice.pidep) * dt)
        + add_clipped(&mut cell.qs, (ice.psdep + ice.psaut + ice.psaci + ice.psacw) * dt)
}

/// Changes by the rates above freezing, as [`apply_cold`]; cloud water that snow collects becomes rain.
#[inline(always)]
pub fn apply_warm<R: SchemeConstants>(
    dt: R,
    air: &Air<R>,
    warm: &WarmRates<R>,
    ice: &IceRates<R>,
    cell: &mut Cell<R>,
) -> R {
    cell.qv -= warm.prevp * dt;
    cell.t += air.latent_heat * warm.prevp / air.heat_capacity * dt;
    sub_clipped(&mut cell.qc, (warm.praut + warm.pracw + ice.psacw) * dt)
        + add_clipped(&mut cell.qr, (warm.praut + warm.pracw + warm.prevp + ice.psacw) * dt)
}

/// Adds to a species, not below zero; returns the water that the bound adds. Units: kg kg⁻¹.
#[inline(always)]
pub fn add_clipped<R: SchemeConstants>(q: &mut R, amount: R) -> R {
    let sum = *q + amount;
    *q = sum.larger(R::ZERO);
    *q - sum
}

/// Takes from a species, not below zero; returns the water that the bound adds. Units: kg kg⁻¹.
#[inline(always)]
pub fn sub_clipped<R: SchemeConstants>(q: &mut R, amount: R) -> R {
    add_clipped(q, -amount)
}
