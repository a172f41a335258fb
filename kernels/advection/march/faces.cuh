// The fluxes through the faces of the cells of a thread, at one level.
#pragma once

#include "advection/limiter.cuh"
#include "advection/march/cells.cuh"

// What a thread reads at a level: pointers to the first of its cells, or to the face west, south
// of or below it.
struct Level {
    int k;
    const real* latest;
    const real* start;
    const real* mass_x;
    const real* mass_y;
    const real* mass_z;
};

// The first cell of a thread in a level, a level, and all levels, as numbers of elements.
__device__ inline int cell_of(const TransportArgs& args, const Place& place)
{
    return place.j * args.nx + place.i;
}

__device__ inline int plane_of(const TransportArgs& args) { return args.ny * args.nx; }

__device__ inline long long cells_of(const TransportArgs& args)
{
    return static_cast<long long>(NZ) * plane_of(args);
}

__device__ inline Level level_at(const TransportArgs& args, const Place& place, int k)
{
    const int here = k * plane_of(args) + cell_of(args, place);
    const long long tracer = place.tracer * cells_of(args);
    return {
        k,
        args.latest + tracer + here,
        args.start + tracer + here,
        args.flux_x + here + k * args.ny + place.j,
        args.flux_y + here + k * args.nx,
        args.flux_z + here,
    };
}

// The value of a field that is a sum of two products, as mass per `per_dt`.
__device__ inline real layered(const LayeredPointers& field, int k, int cell, real factor)
{
    return __ldg(field.with_mu + cell) * (__ldg(field.c1 + k) * factor)
           + __ldg(field.without_mu + cell) * (__ldg(field.c2 + k) * factor);
}

// The mass of the cells of a thread.
__device__ inline Cells mass_of(const TransportArgs& args, const LayeredPointers& field,
                                const Place& place, int k)
{
    const int cell = cell_of(args, place);
    const Cells with_mu = group_at(field.with_mu + cell);
    const Cells without_mu = group_at(field.without_mu + cell);
    const real c1 = __ldg(field.c1 + k), c2 = __ldg(field.c2 + k);
    Cells mass;
    for (int c = 0; c < CELLS; ++c) mass.at[c] = with_mu.at[c] * c1 + without_mu.at[c] * c2;
    return mass;
}

// High-order flux of lower order near a side that is not periodic, through lateral face `face` of
// an axis of n cells, of which it is less than REACH from one end. The cells on both sides of it
// are `stride` apart, the one above it at `above`.
__device__ inline real lower_order_lateral(int face, int n, real mass, const real* above, int stride)
{
    const int distance = min(face, n - face);
    if (distance == 0) return 0;
    const real q[2] = {above[-stride], above[0]};
    if (distance == 1) return linear_flux(mass, q, {real(0.5), real(0.5)});
    return third_order_flux(mass, {above[-2 * stride], q[0], q[1], above[stride]});
}

// High-order flux through the face below level k, of the cells of levels k - 2 to k + 1.
__device__ inline real high_order_z(const TransportArgs& args, int k, real mass, const real (&q)[4])
{
    if (k == 0 || k == NZ) return 0;
    if (k == 1 || k == NZ - 1)
        return linear_flux(mass, {q[1], q[2]},
                           {__ldg(args.weight_below + k), __ldg(args.weight_above + k)});
    return third_order_flux(mass, q);
}

// Fluxes through the lateral faces of the cells: x[c] west of cell c.
template <class Flux>
struct Lateral {
    Flux x[CELLS + 1];
    Flux south[CELLS], north[CELLS];
};

// Replaces the fluxes through faces near a side that is not periodic. Few threads have any: what
// they need is loaded again, which leaves the others their registers.
__device__ inline void lower_orders(const TransportArgs& args, const Place& place,
                                    const Level& level, Lateral<real>& flux)
{
    asm volatile("" ::: "memory");
    const int nx = args.nx, ny = args.ny, i = place.i, j = place.j;
    for (int f = 0; f <= CELLS; ++f)
        if (!periodic_x() && min(i + f, nx - i - f) < REACH)
            flux.x[f] =
                lower_order_lateral(i + f, nx, __ldg(level.mass_x + f), level.latest + f, 1);
    for (int c = 0; c < CELLS; ++c) {
        const real* latest = level.latest + c;
        const real* mass = level.mass_y + c;
        if (!periodic_y() && min(j, ny - j) < REACH)
            flux.south[c] = lower_order_lateral(j, ny, __ldg(mass), latest, nx);
        if (!periodic_y() && min(j + 1, ny - j - 1) < REACH)
            flux.north[c] = lower_order_lateral(j + 1, ny, __ldg(mass + nx), latest + nx, nx);
    }
}

// High-order fluxes through the lateral faces; `here` are the values of the cells.
__device__ inline Lateral<real> high_order(const TransportArgs& args, const Place& place,
                                           const Level& level, const Cells& here)
{
    Lateral<real> flux;
    real row[SEEN_X];
    look_along(args, place, level.latest, here, row);
    for (int f = 0; f <= CELLS; ++f)
        flux.x[f] = fifth_order_flux(__ldg(level.mass_x + f), {row[f], row[f + 1], row[f + 2],
                                                               row[f + 3], row[f + 4], row[f + 5]});
    Cells rows[SEEN_Y];
    for (int s = 0; s < SEEN_Y; ++s)
        rows[s] = s == REACH ? here : group_at(level.latest + place.y[s]);
    const Cells south = group_at(level.mass_y), north = group_at(level.mass_y + args.nx);
    for (int c = 0; c < CELLS; ++c) {
        real q[SEEN_Y];
        for (int s = 0; s < SEEN_Y; ++s) q[s] = rows[s].at[c];
        flux.south[c] = fifth_order_flux(south.at[c], {q[0], q[1], q[2], q[3], q[4], q[5]});
        flux.north[c] = fifth_order_flux(north.at[c], {q[1], q[2], q[3], q[4], q[5], q[6]});
    }
    if (near_x(place) || near_y(args, place)) lower_orders(args, place, level, flux);
    return flux;
}
