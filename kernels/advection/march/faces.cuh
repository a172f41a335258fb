// Fluxes through the faces of a thread's cells at one level.
#pragma once

#include "advection/limiter.cuh"
#include "advection/march/cells.cuh"

// Index of a thread's first cell in a level, size of a level and size of a tracer, in elements.
__device__ inline int cell_of(const TransportArgs& args, const Place& place)
{
    return place.j * pitch(args) + place.i;
}

__device__ inline int plane_of(const TransportArgs& args) { return ny_of(args) * pitch(args); }

__device__ inline long long cells_of(const TransportArgs& args)
{
    return static_cast<long long>(NZ) * plane_of(args);
}

// Pointers of a thread at a level, to the first of its cells or to the face west, south of or below it. Pointers to
// tracers are incremented from level to level, which takes fewer instructions than computing them anew; pointers to the
// wind are computed from the index of the cell, which takes fewer registers.
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
        return args.flux_x + (here + (k * ny_of(args) + row) * more_faces());
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

// The value of a layered field (with_mu c1 + without_mu c2) times `factor`.
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

// Flux of second order, from the two cells beside a face.
__device__ inline real second_order_flux(real mass, const real (&q)[2])
{
    return linear_flux(mass, q, {real(0.5), real(0.5)});
}

// High-order flux through a lateral face that is `distance` cells from a side that is not periodic, from the six cells
// around it and the flux of fifth order: of lower order if the stencil would reach beyond the side. The result for the
// side itself is never used.
__device__ inline real lower_order(int distance, real mass, const real (&q)[6], real fifth)
{
    const real third = third_order_flux(mass, {q[1], q[2], q[3], q[4]});
    const real second = second_order_flux(mass, {q[2], q[3]});
    return distance == 1 ? second : distance == 2 ? third : fifth;
}

// Lowers the order of fluxes through the x-faces of a group near a side, as `lower_order` does; face f is between row[f
// + 2] and row[f + 3]. With four cells or more in a group only the first and the last group are near a side, with one
// face one cell from the side and one face two cells from it, so that a thread computes each lower order only once.
template <int FACES>
__device__ inline void lower_at_ends(const TransportArgs& args, const Place& place,
                                     const real (&row)[FACES + 2 * HALO - 1],
                                     const real (&mass)[FACES], real (&flux)[FACES])
{
    if (CELLS < 4) {
        for (int f = 0; f < FACES; ++f) {
            const real q[] = {row[f], row[f + 1], row[f + 2], row[f + 3], row[f + 4], row[f + 5]};
            flux[f] = lower_order(min(place.i + f, nx_of(args) - place.i - f), mass[f], q, flux[f]);
        }
        return;
    }
    const bool west = at_west(place), east = at_east(args, place);
    const int west_1 = min(first_cell() + 1, FACES - 1), west_2 = min(west_1 + 1, FACES - 1);
    const int east_1 = last_cell(), east_2 = last_but_one();
    const real second =
        second_order_flux(west ? mass[west_1] : mass[east_1],
                          {west ? row[west_1 + 2] : row[east_1 + 2], west ? row[west_1 + 3] : row[east_1 + 3]});
    real q[4];
    for (int s = 0; s < 4; ++s) q[s] = west ? row[west_2 + 1 + s] : row[east_2 + 1 + s];
    const real third = third_order_flux(west ? mass[west_2] : mass[east_2], q);
    if (west) flux[west_1] = second, flux[west_2] = third;
    if (east) flux[east_1] = second, flux[east_2] = third;
    // The last face of the last but one group is two cells from the side if the last group has only two cells.
    constexpr int LAST = FACES - 1;
    if (LAST == CELLS && last_cell() + 1 < HALO && place.i + 2 * CELLS == pitch(args))
        flux[LAST] = third_order_flux(mass[LAST], {row[LAST + 1], row[LAST + 2], row[LAST + 3], row[LAST + 4]});
}

// High-order fluxes through the faces below level k, from the cells of levels k - 2 to k + 1.
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

// Tracer fluxes through the lateral faces of the cells: x[c] is west of cell c.
struct Lateral {
    real x[CELLS + 1];
    Cells south, north;
};

// High-order fluxes through the lateral faces; `here` are the values of the cells. In a block near a side all threads
// also compute the lower orders, since nearly every warp contains an end of a row.
__device__ inline Lateral high_order(const TransportArgs& args, const Place& place,
                                     const Level& level, const Cells& here)
{
    const int ny = ny_of(args), j = place.j;
    Lateral flux;
    real row[SEEN_X], mass[CELLS + 1];
    load_row(place, level.latest, here, row);
    faces_at(level.mass_x(), mass);
    for (int f = 0; f <= CELLS; ++f) {
        const real q[] = {row[f], row[f + 1], row[f + 2], row[f + 3], row[f + 4], row[f + 5]};
        flux.x[f] = fifth_order_flux(mass[f], q);
    }
    if (!periodic_x() && !place.is_inner) lower_at_ends(args, place, row, mass, flux.x);
    Cells rows[SEEN_Y];
    for (int s = 0; s < SEEN_Y; ++s)
        rows[s] = s == HALO ? here : group_at(level.latest + place.y[s]);
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
