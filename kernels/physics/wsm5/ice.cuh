// Processes of ice and snow below freezing, and the riming of snow at any temperature. See src/physics/wsm5/ice.rs. Rates
// are computed in every cell and then selected: see warm.cuh.
#pragma once

#include "physics/wsm5/slope.cuh"

namespace ice {

// psaci: collection of ice by snow (I -> S). See src/physics/wsm5/ice.rs.
__device__ inline real psaci(
    const Wsm5Params& p, real cold, const Air& air, const Cell& cell, real number,
    const Coefficients& coefficients)
{
    const real diameter = min(slope::ice_diameter(p, air.rho, cell.qi, number), p.dimax);
    const real ice_speed = slope::fall_speed_crystal(diameter);
    const real snow_speed = slope::fall_speed(p.pvts, coefficients.snow, air.density_factor);
    const real s = coefficients.snow.length;
    const real sweep = 2 * s * s * s + 2 * diameter * s * s + diameter * diameter * s;
    const real psaci = PI
        * cell.qi
        * exp(-COLLECTION_DECAY * cold)
        * p.n0s
        * coefficients.n0s_factor
        * fabs(snow_speed - ice_speed)
        * sweep
        * (real(0.5) * real(0.5));
    const bool is_any = (cold > 0) & (cell.qs > Q_PRECIPITATION_MIN) & (cell.qi > Q_MIN);
    return is_any ? psaci : real(0);
}

// psacw: collection of cloud water by snow (C -> S below freezing, C -> R above).
// See src/physics/wsm5/ice.rs.
__device__ inline real psacw(
    const Wsm5Params& p, real dt_cloud, real qc, real qs, const Coefficients& coefficients,
    real density_factor)
{
    const Slope snow = coefficients.snow;
    const real s3 = snow.length * snow.length * snow.length;
    const real psacw = min(
        p.pacrc * coefficients.n0s_factor * s3 * snow.power * qc * density_factor, qc / dt_cloud);
    return (qs <= Q_PRECIPITATION_MIN) | (qc <= Q_MIN) ? real(0) : psacw;
}

// pidep: deposition of vapour on ice; sublimation if negative (V -> I). See src/physics/wsm5/ice.rs.
__device__ inline real pidep(
    const Wsm5Params& p, real dt_cloud, real rho, real qi, real number, const Growth& growth,
    const Coefficients& coefficients)
{
    const real diameter = slope::ice_diameter(p, rho, qi, number);
    const real pidep =
        (real(2) + real(2)) * diameter * number * (growth.rhi - 1) / coefficients.resistance_ice;
    const real half = real(0.5) * growth.excess;
    // By the sign of the supersaturation, not of the rate: see src/physics/wsm5/ice.rs.
    const real bounded = growth.rhi < 1 ? max(max(max(pidep, half), growth.left), -qi / dt_cloud)
                                        : min(min(pidep, half), growth.left);
    return qi <= 0 ? real(0) : bounded;
}

// psdep: deposition of vapour on snow; sublimation if negative (V -> S). See src/physics/wsm5/ice.rs.
__device__ inline real psdep(
    const Wsm5Params& p, real dt_cloud, real qs, const Growth& growth,
    const Coefficients& coefficients)
{
    const real surface = slope::ventilated_surface(
        p.precs1, p.precs2, coefficients.ventilation, coefficients.snow);
    const real psdep =
        (growth.rhi - 1) * coefficients.n0s_factor * surface / coefficients.resistance_ice;
    const real half = real(0.5) * growth.excess;
    const real bounded = psdep < 0 ? max(max(max(psdep, -qs / dt_cloud), half), growth.left)
                                   : min(min(psdep, half), growth.left);
    return qs <= 0 ? real(0) : bounded;
}

// pigen: formation of ice on nuclei (V -> I). See src/physics/wsm5/ice.rs.
__device__ inline real pigen(real dt_cloud, real cold, real rho, real qi, const Growth& growth)
{
    const real nuclei = NUCLEI * exp(NUCLEI_GROWTH * cold);
    const real content = INITIAL_ICE * pow(nuclei, INITIAL_ICE_EXPONENT);
    const real pigen = max((content / rho - max(qi, real(0))) / dt_cloud, real(0));
    return growth.excess <= 0 ? real(0) : min(min(pigen, growth.excess), growth.left);
}

// psaut: aggregation of ice to snow (I -> S). See src/physics/wsm5/ice.rs.
__device__ inline real psaut(const Wsm5Params& p, real dt_cloud, real rho, real qi)
{
    return qi <= 0 ? real(0) : max((qi - p.roqimax / rho) / dt_cloud, real(0));
}

// All cold rates of a cell. See src/physics/wsm5/ice.rs.
__device__ inline IceRates rates(
    const Wsm5Params& p, real dt_cloud, const Air& air, const StepStart& step_start, const Cell& cell,
    const Coefficients& coefficients, real prevp)
{
    const real cold = FREEZING - cell.t;
    IceRates rates{};
    rates.psacw =
        psacw(p, dt_cloud, cell.qc, cell.qs, coefficients, air.density_factor);
    if (cold <= 0) return rates;
    const real number = slope::ice_number(air.rho, cell.qi);
    rates.psaci = psaci(p, cold, air, cell, number, coefficients);

    const real rhi = max(cell.qv / step_start.qsi, Q_MIN);
    const real excess = (max(cell.qv, Q_MIN) - step_start.qsi) / dt_cloud;
    Growth growth{rhi, excess, excess - prevp};
    const real pidep =
        ice::pidep(p, dt_cloud, air.rho, cell.qi, number, growth, coefficients);
    // Only a process whose species is present can use up the excess.
    bool used_up = cell.qi > 0 && fabs(prevp + pidep) >= fabs(excess);

    growth.left = excess - prevp - pidep;
    const real all_psdep = ice::psdep(p, dt_cloud, cell.qs, growth, coefficients);
    const real psdep = used_up ? real(0) : all_psdep;
    used_up = used_up || (cell.qs > 0 && fabs(prevp + pidep + psdep) >= fabs(excess));

    growth.left = excess - prevp - pidep - psdep;
    const real all_pigen = ice::pigen(dt_cloud, cold, air.rho, cell.qi, growth);
    const real pigen = used_up ? real(0) : all_pigen;
    rates.pidep = pidep;
    rates.psdep = psdep;
    rates.pigen = pigen;
    rates.psaut = psaut(p, dt_cloud, air.rho, cell.qi);
    return rates;
}

}  // namespace ice
