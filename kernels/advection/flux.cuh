// Fluxes of a tracer through one face. Derivations, sources and units: src/advection/flux.rs.
#pragma once

#include "primitives/fma.cuh"
#include "primitives/rounded.cuh"

// Fifth-order flux of six cells, WS02. See src/advection/flux.rs.
__device__ inline real fifth_order_flux(real mass, const real (&q)[6])
{
    const real below_3 = q[0], below_2 = q[1], below_1 = q[2];
    const real above_1 = q[3], above_2 = q[4], above_3 = q[5];
    const real outer_below = below_2 - below_3;
    const real inner_below = below_1 - below_2;
    const real across = above_1 - below_1;
    const real inner_above = above_2 - above_1;
    const real outer_above = above_3 - above_2;
    // Centred part in differences, WS02: coefficients -1, 7, 0, -7, 1 over 60, plus the mean of the two nearest cells.
    const real curved = (outer_above - outer_below) - 7 * (inner_above - inner_below);
    const real centred = fused(curved, SIXTIETH, (above_1 + below_1) * real(0.5));
    // Upwind part, the fifth difference, in differences, WS02: coefficients 1, -4, 6, -4, 1.
    const real upwind = ((outer_above + outer_below) - 4 * (inner_above + inner_below)) + 6 * across;
    return fused(mass, centred, -(fabs(mass) * SIXTIETH * upwind));
}

// Third-order flux of four cells, WS02. See src/advection/flux.rs.
__device__ inline real third_order_flux(real mass, const real (&q)[4])
{
    const real below_2 = q[0], below_1 = q[1], above_1 = q[2], above_2 = q[3];
    const real below = below_1 - below_2;
    const real across = above_1 - below_1;
    const real above = above_2 - above_1;
    const real centred = fused(above - below, -TWELFTH, (above_1 + below_1) * real(0.5));
    // Upwind part, the third difference, in differences, WS02: coefficients 1, -2, 1.
    const real upwind = (above + below) - 2 * across;
    return fused(mass, centred, fabs(mass) * TWELFTH * upwind);
}

// Flux of a value interpolated between two cells, S06. See src/advection/flux.rs.
__device__ inline real linear_flux(real mass, const real (&q)[2], const real (&weights)[2])
{
    return product(mass, fused(weights[1], q[1], weights[0] * q[0]));
}

// First-order upwind flux, W09. See src/advection/flux.rs.
__device__ inline real upwind_flux(real mass, const real (&q)[2])
{
    return product(mass, mass > 0 ? q[0] : q[1]);
}

// First-order upwind flux of an air mass clipped to plus or minus `capacity`, SW09. See src/advection/flux.rs.
__device__ inline real courant_limited_upwind(real mass, real capacity, const real (&q)[2])
{
    return upwind_flux(min(max(mass, -capacity), capacity), q);
}

// Mixing ratio after a net outflow, WS02. See src/advection/flux.rs.
__device__ inline real updated(real q, real dt, real outflow, real mass)
{
    const real left = q - dt * outflow / mass;
    return fabs(left) < LEAST_KEPT ? real(0) : left;
}

// Values at the six faces of a cell. See src/advection/flux.rs.
struct Faces {
    real west, east, south, north, bottom, top;

    // Net outflow of fluxes that are positive toward higher indices. See src/advection/flux.rs.
    __device__ inline real net_outflow() const
    {
        return ((east - west) + (north - south)) + (top - bottom);
    }

    // Sum of the fluxes that leave the cell. See src/advection/flux.rs.
    __device__ inline real outgoing() const
    {
        return ((max(east, real(0)) - min(west, real(0))) + (max(north, real(0)) - min(south, real(0))))
               + (max(top, real(0)) - min(bottom, real(0)));
    }

    // Sum of the fluxes that enter the cell. See src/advection/flux.rs.
    __device__ inline real incoming() const
    {
        return ((max(west, real(0)) - min(east, real(0))) + (max(south, real(0)) - min(north, real(0))))
               + (max(bottom, real(0)) - min(top, real(0)));
    }
};
