// All rates of ice, snow and graupel in a cell. See src/physics/wsm6/ice.rs.
#pragma once

#include "physics/wsm5/ice.cuh"
#include "physics/wsm6/collection.cuh"
#include "physics/wsm6/vapour.cuh"

namespace wsm6::ice {

// psmlt and pgeml: melting of a species by collected water (S -> R, G -> R). See src/physics/wsm6/ice.rs.
__device__ inline real melting_by_water(real dt_cloud, real cold, real q, real water)
{
    const real melting = min(max(C_LIQUID * cold * water / L_FUSION, -q / dt_cloud), real(0));
    return (cold > 0) | (q <= 0) ? real(0) : melting;
}

// pgaut: aggregation of snow to graupel (S -> G). See src/physics/wsm6/ice.rs.
__device__ inline real pgaut(real dt_cloud, real cold, real qs)
{
    const real rate = GRAUPEL_AGGREGATION * exp(-GRAUPEL_AGGREGATION_DECAY * cold);
    const real pgaut = min(max(rate * (qs - GRAUPEL_AGGREGATION_THRESHOLD), real(0)), qs / dt_cloud);
    return (cold <= 0) | (qs <= 0) ? real(0) : pgaut;
}

// The rates of collection. See src/physics/wsm6/ice.rs.
__device__ inline Wsm6IceRates collection_rates(
    const Wsm6Params& p, real dt, const Air& air, const Wsm6Cell& cell, const Wsm6Coefficients& coefficients,
    const Collision& motion)
{
    const real psacw = collection::psacw(p, dt, air, cell, coefficients);
    const real pgacw = collection::pgacw(p, dt, air, cell, coefficients);
    Wsm6IceRates rates{};
    rates.praci = collection::praci(p, dt, cell, coefficients, motion);
    rates.piacr = collection::piacr(p, dt, air, cell, coefficients, motion);
    rates.psaci = collection::psaci(p, dt, cell, coefficients, motion);
    rates.pgaci = collection::pgaci(p, dt, cell, coefficients, motion);
    rates.paacw = collection::paacw(psacw, pgacw, cell.qs, cell.qg);
    rates.pracs = collection::pracs(p, dt, air, cell, coefficients, motion);
    rates.psacr = collection::psacr(p, dt, air, cell, coefficients, motion);
    rates.pgacr = collection::pgacr(p, dt, air, cell, coefficients, motion);
    return rates;
}

// The rates of deposition, formation and aggregation. See src/physics/wsm6/ice.rs.
__device__ inline Wsm6IceRates growth_rates(
    const Wsm6Params& p, real dt_cloud, const Air& air, const StepStart& step_start, const Wsm6Cell& cell,
    const Wsm6Coefficients& coefficients, const Collision& motion, real prevp)
{
    const real cold = FREEZING - cell.t;
    const real rhi = max(cell.qv / step_start.qsi, Q_MIN);
    const real excess = (max(cell.qv, Q_MIN) - step_start.qsi) / dt_cloud;
    // Only a process whose species is present checks whether the excess is used up.
    const auto is_used_up = [&](real used) { return fabs(used) >= fabs(excess); };

    real used = prevp;
    Growth growth{rhi, excess, excess - prevp};
    Wsm6IceRates rates{};
    rates.pidep = vapour::pidep(dt_cloud, cell.qi, motion.diameter, motion.number, growth, coefficients);
    used += rates.pidep;
    growth.left -= rates.pidep;
    bool stop = (cell.qi > 0) & is_used_up(used);

    const real psdep = ::ice::psdep(p.common, dt_cloud, cell.qs, growth, coefficients.common);
    rates.psdep = stop ? real(0) : psdep;
    used += rates.psdep;
    growth.left -= rates.psdep;
    stop |= (cell.qs > 0) & is_used_up(used);

    const real pgdep = vapour::pgdep(p, dt_cloud, cell.qg, growth, coefficients);
    rates.pgdep = stop ? real(0) : pgdep;
    used += rates.pgdep;
    growth.left -= rates.pgdep;
    stop |= (cell.qg > 0) & is_used_up(used);

    const real pigen = ::ice::pigen(dt_cloud, cold, air.rho, cell.qi, growth);
    rates.pigen = stop ? real(0) : pigen;
    rates.psaut = ::ice::psaut(p.common, dt_cloud, air.rho, cell.qi);
    rates.pgaut = pgaut(dt_cloud, cold, cell.qs);
    return rates;
}

// The rates of melting by collected water and of evaporation. See src/physics/wsm6/ice.rs.
__device__ inline Wsm6IceRates melting_rates(
    const Wsm6Params& p, real dt_cloud, const StepStart& step_start, const Wsm6Cell& cell,
    const Wsm6Coefficients& coefficients, const Wsm6IceRates& collected)
{
    const real cold = FREEZING - cell.t;
    const real rhw = max(cell.qv / step_start.qsw, Q_MIN);
    const auto melted = [&](real q, real water) { return melting_by_water(dt_cloud, cold, q, water); };
    const auto evaporated = [&](real q, real surface) {
        // At freezing itself nothing evaporates.
        return vapour::melt_evaporation(dt_cloud, cold < 0 ? q : real(0), rhw, surface, coefficients);
    };
    Wsm6IceRates rates{};
    rates.pseml = melted(cell.qs, collected.paacw + collected.psacr);
    rates.pgeml = melted(cell.qg, collected.paacw + collected.pgacr);
    rates.psevp = evaporated(cell.qs, vapour::snow_surface(p, coefficients));
    rates.pgevp = evaporated(cell.qg, vapour::graupel_surface(p, coefficients));
    return rates;
}

// All cold rates of a cell. See src/physics/wsm6/ice.rs.
__device__ inline Wsm6IceRates rates(
    const Wsm6Params& p, real dt_cloud, const Air& air, const StepStart& step_start, const Wsm6Cell& cell,
    const Wsm6Coefficients& coefficients, real prevp)
{
    const real number = ::slope::ice_number(air.rho, cell.qi);
    const Collision motion = collection::collision(p, air, cell, number, coefficients);
    Wsm6IceRates rates = collection_rates(p, dt_cloud, air, cell, coefficients, motion);
    if (cell.t < FREEZING) {
        const Wsm6IceRates grown =
            growth_rates(p, dt_cloud, air, step_start, cell, coefficients, motion, prevp);
        rates.pidep = grown.pidep;
        rates.psdep = grown.psdep;
        rates.pgdep = grown.pgdep;
        rates.pigen = grown.pigen;
        rates.psaut = grown.psaut;
        rates.pgaut = grown.pgaut;
    } else {
        const Wsm6IceRates melted = melting_rates(p, dt_cloud, step_start, cell, coefficients, rates);
        rates.pseml = melted.pseml;
        rates.pgeml = melted.pgeml;
        rates.psevp = melted.psevp;
        rates.pgevp = melted.pgevp;
    }
    return rates;
}

}  // namespace wsm6::ice
