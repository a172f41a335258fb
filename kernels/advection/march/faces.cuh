// The fluxes through the faces of the cells of a thread, at one level.
#pragma once

#include "advection/limiter.cuh"
#include "advection/march/cells.cuh"

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

// What a thread reads and writes at a level: pointers to the first of its cells, or to the face
// west, south of or below it. Those of the tracer rise with the march, which takes fewer
// instructions than finding each anew; those of the wind follow from where its cell is, which takes
// fewer registers.
struct Level {
    const TransportArgs& args;
    int k, row, here;
    const real* latest;
    const real* start;
    real* result;

    __device__ inline Level(const TransportArgs& args, const Place& place, int k)
        : args(args), k(k), row(place.j)
    {
        here = k * plane_of(args) + cell_of(args, place);
        const long long tracer = place.tracer * cells_of(args);
        latest = args.latest + tracer + here;
        start = args.start + tracer + here;
        result = args.result + tracer + here;
    }

    __device__ inline const real* mass_x() const
    {
        return args.flux_x + (here + k * args.ny + row);
    }
    __device__ inline const real* mass_y() const { return args.flux_y + (here + k * args.nx); }
    __device__ inline const real* mass_z() const { return args.flux_z + here; }

    __device__ inline void rise()
    {
        const int plane = plane_of(args);
        ++k;
        here += plane;
        latest += plane;
        start += plane;
        result += plane;
    }
};

// The value of a field that is a sum of two products, as mass per `per_dt`.
__device__ inline real layered(const LayeredPointers& field, int k, int cell, real factor)
{
    return __ldg(field.with_mu + cell) * (__ldg(field.c1 + k) * factor)
           + __ldg(field.without_mu + cell) * (__ldg(field.c2 + k) * factor);
}

// The mass of a group of cells of a level with these numbers.
__device__ inline Cells mass_of(const LayeredPointers& field, int cell, real c1, real c2)
{
    const Cells with_mu = group_at(field.with_mu + cell);
    const Cells without_mu = group_at(field.without_mu + cell);
    Cells mass;
    for (int c = 0; c < CELLS; ++c) mass.at[c] = with_mu.at[c] * c1 + without_mu.at[c] * c2;
    return mass;
}

// The mass of the cells of a thread.
__device__ inline Cells mass_of(const TransportArgs& args, const LayeredPointers& field,
                                const Place& place, int k)
{
    return mass_of(field, cell_of(args, place), __ldg(field.c1 + k), __ldg(field.c2 + k));
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

// High-order fluxes through the faces below level k, of the cells of levels k - 2 to k + 1.
__device__ inline Cells high_order_z(const TransportArgs& args, int k, const Cells& mass,
                                     const Cells (&q)[4])
{
    Cells flux = {};
    if (k == 0 || k == NZ) return flux;
    if (k == 1 || k == NZ - 1) {
        const real weights[] = {__ldg(args.weight_below + k), __ldg(args.weight_above + k)};
        for (int c = 0; c < CELLS; ++c)
            flux.at[c] = linear_flux(mass.at[c], {q[1].at[c], q[2].at[c]}, {weights[0], weights[1]});
        return flux;
    }
    for (int c = 0; c < CELLS; ++c)
        flux.at[c] = third_order_flux(mass.at[c], {q[0].at[c], q[1].at[c], q[2].at[c], q[3].at[c]});
    return flux;
}

// Tracer through the lateral faces of the cells: x[c] west of cell c.
struct Lateral {
    real x[CELLS + 1];
    Cells south, north;
};

// Replaces the fluxes through lateral faces near a side that is not periodic. Few threads have any:
// what they need is loaded again, which leaves the others their registers.
__device__ inline void lower_orders(const TransportArgs& args, const Place& place,
                                    const Level& level, Lateral& flux)
{
    asm volatile("" ::: "memory");
    const int nx = args.nx, ny = args.ny, i = place.i, j = place.j;
    for (int f = 0; f <= CELLS; ++f)
        if (!periodic_x() && min(i + f, nx - i - f) < REACH)
            flux.x[f] =
                lower_order_lateral(i + f, nx, __ldg(level.mass_x() + f), level.latest + f, 1);
    for (int c = 0; c < CELLS; ++c) {
        const real* latest = level.latest + c;
        const real* mass = level.mass_y() + c;
        if (!periodic_y() && min(j, ny - j) < REACH)
            flux.south.at[c] = lower_order_lateral(j, ny, __ldg(mass), latest, nx);
        if (!periodic_y() && min(j + 1, ny - j - 1) < REACH)
            flux.north.at[c] = lower_order_lateral(j + 1, ny, __ldg(mass + nx), latest + nx, nx);
    }
}

// High-order fluxes through the lateral faces; `here` are the values of the cells. Those near a side
// are replaced at the end of all, so that no thread has to wait for it before it loads the rest.
__device__ inline Lateral high_order(const TransportArgs& args, const Place& place,
                                     const Level& level, const Cells& here)
{
    Lateral flux;
    real row[SEEN_X];
    look_along(args, place, level.latest, here, row);
    for (int f = 0; f <= CELLS; ++f)
        flux.x[f] = fifth_order_flux(__ldg(level.mass_x() + f), {row[f], row[f + 1], row[f + 2],
                                                               row[f + 3], row[f + 4], row[f + 5]});
    Cells rows[SEEN_Y];
    for (int s = 0; s < SEEN_Y; ++s)
        rows[s] = s == REACH ? here : group_at(level.latest + place.y[s]);
    const Cells mass_south = group_at(level.mass_y()), mass_north = group_at(level.mass_y() + args.nx);
    for (int c = 0; c < CELLS; ++c) {
        real q[SEEN_Y];
        for (int s = 0; s < SEEN_Y; ++s) q[s] = rows[s].at[c];
        flux.south.at[c] =
            fifth_order_flux(mass_south.at[c], {q[0], q[1], q[2], q[3], q[4], q[5]});
        flux.north.at[c] =
            fifth_order_flux(mass_north.at[c], {q[1], q[2], q[3], q[4], q[5], q[6]});
    }
    if (place.near_side) lower_orders(args, place, level, flux);
    return flux;
}
