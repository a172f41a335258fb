// Signs of the rates: the source and the target species of each process. Instantaneous changes: melt.cuh. See
// src/physics/wsm6/balance.rs.
#pragma once

#include "physics/wsm5/balance.cuh"

namespace wsm6::balance {

// Parts of what is collected that become snow. See src/physics/wsm6/balance.rs.
__device__ inline Targets targets(const Wsm6Cell& cell)
{
    const auto part = [](bool holds) { return holds ? real(1) : real(0); };
    const real of_ice = part(cell.qr < Q_GRAUPEL_FORMATION);
    return Targets{of_ice * part(cell.qs < Q_GRAUPEL_FORMATION), of_ice};
}

// Loss of cloud water, kg kg-1 s-1. See src/physics/wsm6/balance.rs.
__device__ inline real cloud_loss(const WarmRates& warm, const Wsm6IceRates& ice)
{
    return warm.praut + warm.pracw + 2 * ice.paacw;
}

// Loss of ice below freezing, kg kg-1 s-1. See src/physics/wsm6/balance.rs.
__device__ inline real ice_loss(const Wsm6IceRates& ice)
{
    return ice.psaut - ice.pigen - ice.pidep + ice.praci + ice.psaci + ice.pgaci;
}

// Gain of rain below freezing, kg kg-1 s-1. See src/physics/wsm6/balance.rs.
__device__ inline real rain_gain_cold(const WarmRates& warm, const Wsm6IceRates& ice)
{
    return warm.praut + warm.prevp + warm.pracw - ice.piacr - ice.psacr - ice.pgacr;
}

// Gain of rain above freezing, kg kg-1 s-1. See src/physics/wsm6/balance.rs.
__device__ inline real rain_gain_warm(const WarmRates& warm, const Wsm6IceRates& ice)
{
    return 2 * ice.paacw + warm.praut + warm.pracw + warm.prevp - ice.pseml - ice.pgeml;
}

// Gain of snow below freezing, kg kg-1 s-1. See src/physics/wsm6/balance.rs.
__device__ inline real snow_gain_cold(const Wsm6IceRates& ice, const Targets& targets)
{
    const real of_snow = targets.of_snow, of_ice = targets.of_ice;
    return ice.psdep + ice.psaut - ice.pgaut + ice.paacw + ice.piacr * of_ice + ice.praci * of_ice
        - ice.pracs * (1 - of_snow)
        + ice.psacr * of_snow
        + ice.psaci;
}

// Gain of graupel below freezing, kg kg-1 s-1. See src/physics/wsm6/balance.rs.
__device__ inline real graupel_gain_cold(const Wsm6IceRates& ice, const Targets& targets)
{
    const real of_snow = 1 - targets.of_snow, of_ice = 1 - targets.of_ice;
    return ice.pgdep
        + ice.pgaut
        + ice.piacr * of_ice
        + ice.praci * of_ice
        + ice.psacr * of_snow
        + ice.pracs * of_snow
        + ice.pgaci
        + ice.paacw
        + ice.pgacr;
}

// Scales the losses of cloud water. See src/physics/wsm6/balance.rs.
__device__ inline void limit_cloud(real dt, WarmRates& warm, Wsm6IceRates& ice, const Wsm6Cell& cell)
{
    const real cloud = ::balance::limiter_factor(cell.qc, cloud_loss(warm, ice) * dt);
    warm.praut *= cloud;
    warm.pracw *= cloud;
    ice.paacw *= cloud;
}

// Scales the rates below freezing. See src/physics/wsm6/balance.rs.
__device__ inline void limit_cold(
    real dt, WarmRates& warm, Wsm6IceRates& ice, const Targets& targets, const Wsm6Cell& cell)
{
    const real crystals = ::balance::limiter_factor(cell.qi, ice_loss(ice) * dt);
    ice.psaut *= crystals;
    ice.pigen *= crystals;
    ice.pidep *= crystals;
    ice.praci *= crystals;
    ice.psaci *= crystals;
    ice.pgaci *= crystals;

    const real rain = ::balance::limiter_factor(cell.qr, -rain_gain_cold(warm, ice) * dt);
    warm.praut *= rain;
    warm.prevp *= rain;
    warm.pracw *= rain;
    ice.piacr *= rain;
    ice.psacr *= rain;
    ice.pgacr *= rain;

    // Gains are scaled with the losses.
    const real snow = ::balance::limiter_factor(cell.qs, -snow_gain_cold(ice, targets) * dt);
    ice.psdep *= snow;
    ice.psaut *= snow;
    ice.pgaut *= snow;
    ice.paacw *= snow;
    ice.piacr *= snow;
    ice.praci *= snow;
    ice.psaci *= snow;
    ice.pracs *= snow;
    ice.psacr *= snow;

    const real graupel = ::balance::limiter_factor(cell.qg, -graupel_gain_cold(ice, targets) * dt);
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

// Scales the rates above freezing. See src/physics/wsm6/balance.rs.
__device__ inline void limit_warm(real dt, WarmRates& warm, Wsm6IceRates& ice, const Wsm6Cell& cell)
{
    const real rain = ::balance::limiter_factor(cell.qr, -rain_gain_warm(warm, ice) * dt);
    warm.praut *= rain;
    warm.prevp *= rain;
    warm.pracw *= rain;
    ice.paacw *= rain;
    ice.pseml *= rain;
    ice.pgeml *= rain;

    const real least = Q_PRECIPITATION_MIN;
    const real snow = ::balance::limiter_factor(max(cell.qs, least), -(ice.pseml + ice.psevp) * dt);
    ice.psevp *= snow;
    ice.pseml *= snow;

    const real graupel = ::balance::limiter_factor(max(cell.qg, least), -(ice.pgevp + ice.pgeml) * dt);
    ice.pgevp *= graupel;
    ice.pgeml *= graupel;
}

// Changes by the rates below freezing. See src/physics/wsm6/balance.rs.
__device__ inline real apply_cold(
    real dt, const Air& air, const WarmRates& warm, const Wsm6IceRates& ice, const Targets& targets, Wsm6Cell& cell)
{
    const real deposited = ice.psdep + ice.pgdep + ice.pidep + ice.pigen;
    const real frozen = ice.piacr + 2 * ice.paacw + ice.pgacr + ice.psacr;
    const real heating = L_SUBLIMATION * deposited
        + air.latent_heat * warm.prevp
        + (L_SUBLIMATION - air.latent_heat) * frozen;
    cell.qv -= (warm.prevp + deposited) * dt;
    cell.t += heating / air.heat_capacity * dt;
    return ::balance::sub_clipped(cell.qc, cloud_loss(warm, ice) * dt)
        + ::balance::add_clipped(cell.qr, rain_gain_cold(warm, ice) * dt)
        + ::balance::sub_clipped(cell.qi, ice_loss(ice) * dt)
        + ::balance::add_clipped(cell.qs, snow_gain_cold(ice, targets) * dt)
        + ::balance::add_clipped(cell.qg, graupel_gain_cold(ice, targets) * dt);
}

// Changes by the rates above freezing. See src/physics/wsm6/balance.rs.
__device__ inline real apply_warm(
    real dt, const Air& air, const WarmRates& warm, const Wsm6IceRates& ice, Wsm6Cell& cell)
{
    const real condensed = warm.prevp + ice.psevp + ice.pgevp;
    const real heating =
        air.latent_heat * condensed + (L_SUBLIMATION - air.latent_heat) * (ice.pseml + ice.pgeml);
    cell.qv -= condensed * dt;
    cell.t += heating / air.heat_capacity * dt;
    return ::balance::sub_clipped(cell.qc, cloud_loss(warm, ice) * dt)
        + ::balance::add_clipped(cell.qr, rain_gain_warm(warm, ice) * dt)
        + ::balance::add_clipped(cell.qs, (ice.psevp + ice.pseml) * dt)
        + ::balance::add_clipped(cell.qg, (ice.pgevp + ice.pgeml) * dt);
}

// Limits the rates so that no species is overdrawn, and applies them. See src/physics/wsm6/balance.rs.
__device__ inline real apply(real dt_cloud, const Air& air, WarmRates warm, Wsm6IceRates ice, Wsm6Cell& cell)
{
    limit_cloud(dt_cloud, warm, ice, cell);
    if (cell.t <= FREEZING) {
        const Targets targets = balance::targets(cell);
        limit_cold(dt_cloud, warm, ice, targets, cell);
        return apply_cold(dt_cloud, air, warm, ice, targets, cell);
    } else {
        limit_warm(dt_cloud, warm, ice, cell);
        return apply_warm(dt_cloud, air, warm, ice, cell);
    }
}

}  // namespace wsm6::balance
