// Scale factors of the corrections (antidiffusive fluxes). Derivations, sources and units: src/advection/limiter.rs.
#pragma once

#include "advection/flux.cuh"

// Amount of tracer in a cell after the low-order fluxes, SW09. See src/advection/limiter.rs.
__device__ inline real low_order_mass(real mass, real q, real dt, const Faces& low)
{
    return fused(mass, q, -(dt * low.net_outflow()));
}

// Fraction of the wanted amount that is available, at most 1, SW09, W09. See src/advection/limiter.rs.
__device__ inline real limiter_ratio(real available, real wanted)
{
    const real ratio = max(available / (wanted + SMALLEST), real(0));
    return wanted > available ? ratio : real(1);
}

// The lower and the upper bound of a cell.
struct Bounds {
    real least, most;
};

// Bounds from a cell's own value and the values that the wind carries into it, W09. See src/advection/limiter.rs.
__device__ inline Bounds bounds(real q, const Faces& around, const Faces& mass)
{
    const real seen[] = {
        mass.west > 0 ? around.west : q,
        mass.east > 0 ? q : around.east,
        mass.south > 0 ? around.south : q,
        mass.north > 0 ? q : around.north,
        mass.bottom > 0 ? around.bottom : q,
        mass.top > 0 ? q : around.top,
    };
    Bounds found = {q, q};
    for (const real x : seen) found = {min(x, found.least), max(x, found.most)};
    return found;
}

// A flux limited by the scale factor of the donor cell, SW09. See src/advection/limiter.rs.
__device__ inline real positive_flux(real low, real correction, const real (&outgoing)[2])
{
    const real factor = correction > 0 ? outgoing[0] : outgoing[1];
    return fused(factor, correction, low);
}

// A flux limited by the scale factors of the donor and the receiving cell, W09. See src/advection/limiter.rs.
__device__ inline real monotonic_flux(real low, real correction, const real (&outgoing)[2],
                                      const real (&incoming)[2])
{
    const real upward = min(outgoing[0], incoming[1]);
    const real downward = min(outgoing[1], incoming[0]);
    const real factor = correction > 0 ? upward : downward;
    return fused(factor, correction, low);
}
