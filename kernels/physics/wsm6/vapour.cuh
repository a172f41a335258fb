// Exchange of ice, snow and graupel with vapour. See src/physics/wsm6/vapour.rs.
#pragma once

#include "physics/wsm5/slope.cuh"

namespace wsm6::vapour {

// A rate of growth in vapour, limited. See src/physics/wsm6/vapour.rs.
__device__ inline real limited_growth(real rate, real most_lost, const Growth& growth)
{
    const real half = real(0.5) * growth.excess;
    // By the humidity, not by the rate, which may vanish by underflow.
    return growth.rhi < 1 ? max(max(max(rate, half), growth.left), -most_lost) : min(min(rate, half), growth.left);
}

// pidep: deposition of vapour on ice; sublimation if negative (V -> I). See src/physics/wsm6/vapour.rs.
__device__ inline real pidep(
    real dt_cloud, real qi, real diameter, real number, const Growth& growth, const Wsm6Coefficients& coefficients)
{
    const real resistance = coefficients.common.resistance_ice;
    const real pidep = (real(2) + real(2)) * diameter * number * (growth.rhi - 1) / resistance;
    return qi <= 0 ? real(0) : limited_growth(pidep, qi / dt_cloud, growth);
}

// Surface of the snow of a cell. See src/physics/wsm6/vapour.rs.
__device__ inline real snow_surface(const Wsm6Params& p, const Wsm6Coefficients& coefficients)
{
    const Coefficients& c = coefficients.common;
    return c.n0s_factor * ::slope::ventilated_surface(p.common.precs1, p.common.precs2, c.ventilation, c.snow);
}

// Surface of the graupel of a cell. See src/physics/wsm6/vapour.rs.
__device__ inline real graupel_surface(const Wsm6Params& p, const Wsm6Coefficients& coefficients)
{
    const real ventilation = coefficients.common.ventilation;
    return ::slope::ventilated_surface(p.graupel.precg1, p.graupel.precg2, ventilation, coefficients.graupel);
}

// pgdep: deposition of vapour on graupel; sublimation if negative (V -> G). See src/physics/wsm6/vapour.rs.
__device__ inline real pgdep(
    const Wsm6Params& p, real dt_cloud, real qg, const Growth& growth, const Wsm6Coefficients& coefficients)
{
    if (qg <= 0) return 0;
    const real surface = graupel_surface(p, coefficients);
    const real pgdep = (growth.rhi - 1) * surface / coefficients.common.resistance_ice;
    return limited_growth(pgdep, qg / dt_cloud, growth);
}

// psevp, pgevp: evaporation of melting snow or graupel (S -> V, G -> V). See src/physics/wsm6/vapour.rs.
__device__ inline real melt_evaporation(
    real dt_cloud, real q, real rhw, real surface, const Wsm6Coefficients& coefficients)
{
    const real evaporation = (rhw - 1) * surface / coefficients.common.resistance_water;
    const real bounded = min(max(evaporation, -q / dt_cloud), real(0));
    return (q <= 0) | (rhw >= 1) ? real(0) : bounded;
}

}  // namespace wsm6::vapour
