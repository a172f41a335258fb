// Tracer carried through one face. Derivations, sources and units: src/advection/flux.rs.
#pragma once

// Fifth-order flux of six cells, WS02. See src/advection/flux.rs.
__device__ inline real fifth_order_flux(real mass, const real (&q)[6])
{
    const real below_3 = q[0], below_2 = q[1], below_1 = q[2];
    const real above_1 = q[3], above_2 = q[4], above_3 = q[5];
    const real near = above_1 + below_1;
    const real middle = above_2 + below_2;
    const real far = above_3 + below_3;
    // 37 near - 8 middle + far = 30 near + (far - near) - 8 (middle - near), over 60: WS02.
    const real centred = near * real(0.5) + ((far - near) - 8 * (middle - near)) * SIXTIETH;
    // Fifth difference, WS02: 1, -5, 10.
    const real upwind = ((above_3 - below_3) - 5 * (above_2 - below_2)
                         + 10 * (above_1 - below_1)) * SIXTIETH;
    return mass * centred - fabs(mass) * upwind;
}

// Third-order flux of four cells, WS02. See src/advection/flux.rs.
__device__ inline real third_order_flux(real mass, const real (&q)[4])
{
    const real below_2 = q[0], below_1 = q[1], above_1 = q[2], above_2 = q[3];
    const real near = above_1 + below_1;
    const real far = above_2 + below_2;
    // 7 near - far = 6 near - (far - near), over 12: WS02.
    const real centred = near * real(0.5) - (far - near) * TWELFTH;
    // Third difference, WS02: 1, -3.
    const real upwind = ((above_2 - below_2) - 3 * (above_1 - below_1)) * TWELFTH;
    return mass * centred + fabs(mass) * upwind;
}

// Flux of a value interpolated between two cells, S06. See src/advection/flux.rs.
__device__ inline real linear_flux(real mass, const real (&q)[2], const real (&weights)[2])
{
    return mass * (weights[1] * q[1] + weights[0] * q[0]);
}

// First-order upwind flux, W09. See src/advection/flux.rs.
__device__ inline real upwind_flux(real mass, const real (&q)[2])
{
    return max(mass, real(0)) * q[0] + min(mass, real(0)) * q[1];
}

// First-order upwind flux of at most half the mass around the face, SW09. See src/advection/flux.rs.
__device__ inline real capped_flux(real mass, real capacity, const real (&q)[2])
{
    return min(max(mass, real(0)), capacity) * q[0] + max(min(mass, real(0)), -capacity) * q[1];
}

// What belongs to the six faces of a cell. See src/advection/flux.rs.
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
