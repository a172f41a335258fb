// Signs of the rates: the source and the target species of each process. Instantaneous changes: melt.cuh. See
// src/physics/wsm5/balance.rs.
#pragma once

namespace balance {

// Factor that limits losses to the content. See src/physics/wsm5/balance.rs.
__device__ inline real limiter_factor(real available, real loss)
{
    available = max(available, Q_MIN);
    return loss > available ? available / loss : real(1);
}

// Scales the rates so that no species is overdrawn. See src/physics/wsm5/balance.rs.
__device__ inline void limit(real dt, WarmRates& warm, IceRates& ice, const Cell& cell)
{
    const bool is_cold = cell.t <= FREEZING;

    const real cloud = limiter_factor(cell.qc, (warm.praut + warm.pracw + ice.psacw) * dt);
    warm.praut *= cloud;
    warm.pracw *= cloud;
    ice.psacw *= cloud;

    const real crystals = limiter_factor(cell.qi, (ice.psaut + ice.psaci - ice.pigen - ice.pidep) * dt);
    ice.psaut *= crystals;
    ice.psaci *= crystals;
    ice.pigen *= crystals;
    ice.pidep *= crystals;

    const real melted = is_cold ? real(0) : ice.psacw;
    const real rain = limiter_factor(cell.qr, (-warm.praut - warm.pracw - warm.prevp - melted) * dt);
    warm.praut *= rain;
    warm.pracw *= rain;
    warm.prevp *= rain;

    const real snow = limiter_factor(cell.qs, (-ice.psdep - ice.psaut - ice.psaci - ice.psacw) * dt);
    ice.psdep *= snow;
    ice.psaut *= snow;
    ice.psaci *= snow;
    ice.psacw *= is_cold ? snow : rain;
}

// Adds to a species and clips it at zero. See src/physics/wsm5/balance.rs.
__device__ inline real add_clipped(real& q, real amount)
{
    const real sum = q + amount;
    q = max(sum, real(0));
    return q - sum;
}

// Subtracts from a species and clips it at zero. See src/physics/wsm5/balance.rs.
__device__ inline real sub_clipped(real& q, real amount)
{
    return add_clipped(q, -amount);
}

// Changes by the rates below freezing. See src/physics/wsm5/balance.rs.
__device__ inline real apply_cold(
    real dt, const Air& air, const WarmRates& warm, const IceRates& ice, Cell& cell)
{
    const real vapour = -(warm.prevp + ice.psdep + ice.pigen + ice.pidep);
    const real heating = L_SUBLIMATION * (ice.psdep + ice.pidep + ice.pigen)
        + air.latent_heat * warm.prevp
        + (L_SUBLIMATION - air.latent_heat) * ice.psacw;
    cell.qv += vapour * dt;
    cell.t += heating / air.heat_capacity * dt;
    return sub_clipped(cell.qc, (warm.praut + warm.pracw + ice.psacw) * dt)
        + add_clipped(cell.qr, (warm.praut + warm.pracw + warm.prevp) * dt)
        + sub_clipped(cell.qi, (ice.psaut + ice.psaci - ice.pigen - ice.pidep) * dt)
        + add_clipped(cell.qs, (ice.psdep + ice.psaut + ice.psaci + ice.psacw) * dt);
}

// Changes by the rates above freezing. See src/physics/wsm5/balance.rs.
__device__ inline real apply_warm(
    real dt, const Air& air, const WarmRates& warm, const IceRates& ice, Cell& cell)
{
    cell.qv -= warm.prevp * dt;
    cell.t += air.latent_heat * warm.prevp / air.heat_capacity * dt;
    return sub_clipped(cell.qc, (warm.praut + warm.pracw + ice.psacw) * dt)
        + add_clipped(cell.qr, (warm.praut + warm.pracw + warm.prevp + ice.psacw) * dt);
}

// Limits the rates so that no species is overdrawn, and applies them. See src/physics/wsm5/balance.rs.
__device__ inline real apply(
    real dt_cloud, const Air& air, WarmRates warm, IceRates ice, Cell& cell)
{
    limit(dt_cloud, warm, ice, cell);
    if (cell.t <= FREEZING) {
        return apply_cold(dt_cloud, air, warm, ice, cell);
    } else {
        return apply_warm(dt_cloud, air, warm, ice, cell);
    }
}

}  // namespace balance
