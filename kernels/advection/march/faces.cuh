// The fluxes through the faces of the cells of a thread, at one level.
#pragma once

#include "advection/limiter.cuh"
#include "advection/march/cells.cuh"

// The first cell of a thread in a level, a level, and all levels, as numbers of elements.
__device__ inline int cell_of(const TransportArgs& args, const Place& place)
{
    return place.j * pitch(args) + place.i;
}

__device__ inline int plane_of(const TransportArgs& args) { return args.ny * pitch(args); }

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
        return args.flux_x + (here + (k * args.ny + row) * more_faces());
    }
    __device__ inline const real* mass_y() const { return args.flux_y + (here + k * pitch(args)); }
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
    return fused(__ldg(field.with_mu + cell), __ldg(field.c1 + k) * factor,
                 __ldg(field.without_mu + cell) * (__ldg(field.c2 + k) * factor));
}

// The mass of a group of cells of a level with the numbers c1 and c2.
__device__ inline Cells mass_of(const Cells& with_mu, const Cells& without_mu, real c1, real c2)
{
    Cells mass;
    for (int c = 0; c < CELLS; ++c)
        mass.at[c] = fused(with_mu.at[c], c1, without_mu.at[c] * c2);
    return mass;
}
__device__ inline Cells mass_of(const LayeredPointers& field, int cell, real c1, real c2)
{
    return mass_of(group_at(field.with_mu + cell), group_at(field.without_mu + cell), c1, c2);
}

// The mass of the cells of a thread.
__device__ inline Cells mass_of(const TransportArgs& args, const LayeredPointers& field,
                                const Place& place, int k)
{
    return mass_of(field, cell_of(args, place), __ldg(field.c1 + k), __ldg(field.c2 + k));
}

// High-order flux through a lateral face that is `distance` cells from a side that is not periodic, of the
// six cells around it and the flux of fifth order: of lower order where that would look beyond the side.
// For the side itself nobody asks.
__device__ inline real lower_order(int distance, real mass, const real (&q)[6], real fifth)
{
    const real third = third_order_flux(mass, {q[1], q[2], q[3], q[4]});
    const real second = linear_flux(mass, {q[2], q[3]}, {real(0.5), real(0.5)});
    return distance == 1 ? second : distance == 2 ? third : fifth;
}

// How far face f of a group is from the nearer end of the cells of its row, as far as that matters: of groups of
// four those at the ends of a row are near, and the one before the last where that has few cells.
__device__ inline int from_end(const TransportArgs& args, const Place& place, int f)
{
    if (CELLS < 4) return min(place.i + f, args.nx - place.i - f);
    const int from_first = f - first_cell(), from_last = last_cell() + 1 - f;
    if (from_first < REACH && at_west(place)) return from_first;
    if (from_last < REACH && at_east(args, place)) return from_last;
    const bool is_last_but_one = from_last + CELLS < REACH && place.i + 2 * CELLS == pitch(args);
    return is_last_but_one ? from_last + CELLS : REACH;
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

// High-order fluxes through the lateral faces; `here` are the values of the cells. Of a block that is
// near a side all threads also make the lower orders: nearly every warp has an end of a row.
__device__ inline Lateral high_order(const TransportArgs& args, const Place& place,
                                     const Level& level, const Cells& here)
{
    const int ny = args.ny, j = place.j;
    Lateral flux;
    real row[SEEN_X], mass[CELLS + 1];
    look_along(place, level.latest, here, row);
    faces_at(level.mass_x(), mass);
    for (int f = 0; f <= CELLS; ++f) {
        const real q[] = {row[f], row[f + 1], row[f + 2], row[f + 3], row[f + 4], row[f + 5]};
        flux.x[f] = fifth_order_flux(mass[f], q);
        if (!periodic_x() && !place.is_inner)
            flux.x[f] = lower_order(from_end(args, place, f), mass[f], q, flux.x[f]);
    }
    Cells rows[SEEN_Y];
    for (int s = 0; s < SEEN_Y; ++s)
        rows[s] = s == REACH ? here : group_at(level.latest + place.y[s]);
    const Cells mass_south = group_at(level.mass_y()), mass_north = group_at(level.mass_y() + pitch(args));
    for (int c = 0; c < CELLS; ++c) {
        real q[SEEN_Y];
        for (int s = 0; s < SEEN_Y; ++s) q[s] = rows[s].at[c];
        const real south[] = {q[0], q[1], q[2], q[3], q[4], q[5]};
        const real north[] = {q[1], q[2], q[3], q[4], q[5], q[6]};
        flux.south.at[c] = fifth_order_flux(mass_south.at[c], south);
        flux.north.at[c] = fifth_order_flux(mass_north.at[c], north);
        if (place.near_y) {
            flux.south.at[c] =
                lower_order(min(j, ny - j), mass_south.at[c], south, flux.south.at[c]);
            flux.north.at[c] =
                lower_order(min(j + 1, ny - j - 1), mass_north.at[c], north, flux.north.at[c]);
        }
    }
    return flux;
}
