// The last stage of limited tracers in two passes: `scale` computes the scale factors of every cell, `update` scales
// the corrections (antidiffusive fluxes) and adds them.
#pragma once

#include "advection/march/unlimited.cuh"

// The values of the cells and of their lateral neighbours.
struct Neighbours {
    real row[CELLS + 2];   // from the western neighbour of the first cell on
    Cells south, north;
};

// Loads them from a field; `field` points to the first cell, `here` are the values of the cells themselves.
__device__ inline Neighbours around(const Place& place, const real* field, const Cells& here)
{
    Neighbours found;
    found.row[0] = field[place.west()];
    found.row[CELLS + 1] = field[place.east()];
    for (int c = 0; c < CELLS; ++c) found.row[c + 1] = here.at[c];
    found.south = group_at(field + place.y[HALO - 1]);
    found.north = group_at(field + place.y[HALO + 1]);
    return found;
}

// A low-order flux, and its correction (antidiffusive flux).
struct Split {
    real low, correction;
};

// Splits a high-order flux; `q` are the cells on both sides of the face at the start of the step.
__device__ inline Split split(real mass, const real (&q)[2], real high)
{
    const real low = upwind_flux(mass, q);
    return {low, high - low};
}

// Splits a high-order flux if the air flux may exceed the capacity of the face; `face` is its index in the planes of
// `capacity`.
__device__ inline Split split_capped(const TransportArgs& args, const LayeredPointers& capacity,
                                     int k, int face, real mass, const real (&q)[2], real high)
{
    const real low = courant_limited_upwind(mass, layered(capacity, k, face, args.per_dt), q);
    return {low, high - low};
}

// Lower bound of the capacities of a level. The capacities themselves are loaded only if the air flux through a face of
// the thread exceeds it, which is rare.
__device__ inline real sure_capacity(const TransportArgs& args, const LayeredPointers& capacity, int k)
{
    return __ldg(capacity.least + k) * args.per_dt;
}

// Splits the high-order fluxes `high` through the x-faces. The outer faces of outermost cells are split like all
// others, since outermost cells are not limited.
struct SplitX {
    Split at[CELLS + 1];
};
__device__ inline SplitX split_x(const TransportArgs& args, const Place& place, const Level& level,
                                 const real (&high)[CELLS + 1], const Neighbours& start)
{
    real mass[CELLS + 1];
    faces_at(level.mass_x(), mass);
    bool all_sure = true;
    if (LIMITER == POSITIVE_DEFINITE) {
        const real sure = sure_capacity(args, args.capacity_x, level.k);
        for (int f = 0; f <= CELLS; ++f) all_sure = all_sure && fabs(mass[f]) <= sure;
    }
    SplitX flux;
    if (all_sure) {
        for (int f = 0; f <= CELLS; ++f)
            flux.at[f] = split(mass[f], {start.row[f], start.row[f + 1]}, high[f]);
        return flux;
    }
    for (int f = 0; f <= CELLS; ++f)
        flux.at[f] = split_capped(args, args.capacity_x, level.k,
                                  cell_of(args, place) + place.j * more_faces() + f, mass[f],
                                  {start.row[f], start.row[f + 1]}, high[f]);
    return flux;
}

// Splits the high-order fluxes through the y-faces.
struct SplitY {
    Split south[CELLS], north[CELLS];
};
__device__ inline SplitY split_y(const TransportArgs& args, const Place& place, const Level& level,
                                 const Lateral& high, const Neighbours& start)
{
    const int k = level.k, row = pitch(args), cell = cell_of(args, place);
    const Cells south = group_at(level.mass_y()), north = group_at(level.mass_y() + row);
    bool all_sure = true;
    if (LIMITER == POSITIVE_DEFINITE) {
        const real sure = sure_capacity(args, args.capacity_y, k);
        for (int c = 0; c < CELLS; ++c)
            all_sure = all_sure && max(fabs(south.at[c]), fabs(north.at[c])) <= sure;
    }
    SplitY flux;
    if (all_sure) {
        for (int c = 0; c < CELLS; ++c) {
            const real own = start.row[c + 1];
            flux.south[c] = split(south.at[c], {start.south.at[c], own}, high.south.at[c]);
            flux.north[c] = split(north.at[c], {own, start.north.at[c]}, high.north.at[c]);
        }
        return flux;
    }
    for (int c = 0; c < CELLS; ++c) {
        const real own = start.row[c + 1];
        flux.south[c] = split_capped(args, args.capacity_y, k, cell + c, south.at[c],
                                     {start.south.at[c], own}, high.south.at[c]);
        flux.north[c] = split_capped(args, args.capacity_y, k, cell + row + c, north.at[c],
                                     {own, start.north.at[c]}, high.north.at[c]);
    }
    return flux;
}

// Splits the fluxes through the faces below level k. `latest` are the cells of levels k - 2 to k + 1; `below` and
// `above` are the cells on both sides of the faces at the start of the step.
struct SplitCells {
    Split at[CELLS];
};
__device__ inline SplitCells split_z(const TransportArgs& args, const Place& place, int k,
                                     const Cells& mass, const Cells (&latest)[4],
                                     const Cells& below, const Cells& above)
{
    SplitCells flux = {};
    if (k == 0 || k == NZ) return flux;
    const Cells high = high_order_z(args, k, mass, latest);
    bool all_sure = true;
    if (LIMITER == POSITIVE_DEFINITE) {
        const real sure = sure_capacity(args, args.capacity_z, k);
        for (int c = 0; c < CELLS; ++c) all_sure = all_sure && fabs(mass.at[c]) <= sure;
    }
    if (all_sure) {
        for (int c = 0; c < CELLS; ++c)
            flux.at[c] = split(mass.at[c], {below.at[c], above.at[c]}, high.at[c]);
        return flux;
    }
    for (int c = 0; c < CELLS; ++c)
        flux.at[c] = split_capped(args, args.capacity_z, k, cell_of(args, place) + c, mass.at[c],
                                  {below.at[c], above.at[c]}, high.at[c]);
    return flux;
}

// The scale factors of the corrections out of a cell and into it.
struct Scale {
    real outgoing, incoming;
};

// The final flux through a face between two cells.
__device__ inline real limited(const Split& split, const Scale& below, const Scale& above)
{
    if (LIMITER == MONOTONIC)
        return monotonic_flux(split.low, split.correction, {below.outgoing, above.outgoing},
                              {below.incoming, above.incoming});
    return positive_flux(split.low, split.correction, {below.outgoing, above.outgoing});
}

// The scale factors of cell c of mass `mass`. `column` are its values at levels k - 1 to k + 1 at the start of the
// step.
__device__ inline Scale scale_of(const TransportArgs& args, const Place& place, const Level& level,
                                 const Neighbours& start, const real (&column)[3], real mass,
                                 const Faces& low, const Faces& correction, int c)
{
    const real q = column[1], dt = args.dt;
    const real amount = low_order_mass(mass, q, dt, low);
    if (LIMITER == MONOTONIC) {
        const Faces values = {start.row[c], start.row[c + 2], start.south.at[c], start.north.at[c],
                              column[0], column[2]};
        const Faces wind = {__ldg(level.mass_x() + c), __ldg(level.mass_x() + c + 1),
                            __ldg(level.mass_y() + c), __ldg(level.mass_y() + pitch(args) + c),
                            __ldg(level.mass_z() + c), __ldg(level.mass_z() + plane_of(args) + c)};
        const Bounds bound = bounds(q, values, wind);
        const real end = layered(args.cell_end, level.k, cell_of(args, place) + c, 1);
        return {limiter_ratio(fused(-end, bound.least, amount), product(dt, correction.outgoing())),
                limiter_ratio(fused(end, bound.most, -amount), product(dt, correction.incoming()))};
    }
    return {limiter_ratio(amount, product(dt, correction.outgoing())), 1};
}

// Offset of the scale factors of a tracer.
__device__ inline long long scales_of(const TransportArgs& args, const Place& place)
{
    return (place.tracer - UNLIMITED) * cells_of(args);
}

// Computes and stores the scale factors of the cells; 1 in the outermost cells of axes that are not periodic.
__device__ inline void scale(const TransportArgs& args, const Place& place)
{
    Level level(args, place, place.first_level);
    Window latest(args, level.latest, level.k);
    Cells start[3];
    for (int s = 0; s < 2; ++s) start[s] = above(args, level.start, level.k, s - 1);
    SplitCells bottom =
        split_z(args, place, level.k, group_at(level.mass_z()), latest.q, start[0], start[1]);
    for (; level.k < place.end_level; level.rise()) {
        const int k = level.k;
        start[2] = above(args, level.start, k, 1);
        const Neighbours neighbours = around(place, level.start, start[1]);
        const Lateral high = high_order(args, place, level, latest.q[2]);
        const SplitX x = split_x(args, place, level, high.x, neighbours);
        const SplitY y = split_y(args, place, level, high, neighbours);
        const Cells mass_top = group_at(level.mass_z() + plane_of(args));
        const Cells mass = mass_of(args, args.cell, place, k);
        latest.rise(args, level.latest, k);
        const SplitCells top = split_z(args, place, k + 1, mass_top, latest.q, start[1], start[2]);
        Cells outgoing, incoming;
        for (int c = 0; c < CELLS; ++c) {
            const Faces low = {x.at[c].low, x.at[c + 1].low, y.south[c].low,
                               y.north[c].low, bottom.at[c].low, top.at[c].low};
            const Faces correction = {x.at[c].correction, x.at[c + 1].correction,
                                      y.south[c].correction, y.north[c].correction,
                                      bottom.at[c].correction, top.at[c].correction};
            Scale factor = scale_of(args, place, level, neighbours,
                                    {start[0].at[c], start[1].at[c], start[2].at[c]}, mass.at[c],
                                    low, correction, c);
            if (!place.is_inner && outermost(args, place, c)) factor = {1, 1};
            outgoing.at[c] = factor.outgoing;
            incoming.at[c] = factor.incoming;
        }
        bottom = top;
        const long long at = scales_of(args, place) + k * plane_of(args) + cell_of(args, place);
        store_own(place, outgoing, args.outgoing + at);
        if (LIMITER == MONOTONIC) store_own(place, incoming, args.incoming + at);
        start[0] = start[1];
        start[1] = start[2];
    }
}

// The scale factors of the cells of a thread.
struct Scales {
    Cells outgoing, incoming;

    __device__ inline Scale at(int c) const { return {outgoing.at[c], incoming.at[c]}; }
};

// The scale factors of the cells at level k, clamped to the levels of the grid.
__device__ inline Scales scales_at(const TransportArgs& args, const Place& place, int k)
{
    const int level = max(0, min(k, NZ - 1));
    const long long at = scales_of(args, place) + level * plane_of(args) + cell_of(args, place);
    Scales found = {};
    found.outgoing = group_at(args.outgoing + at);
    if (LIMITER == MONOTONIC) found.incoming = group_at(args.incoming + at);
    return found;
}

// The scale factors of the cells and of their lateral neighbours.
struct ScalesAround {
    Neighbours outgoing, incoming;

    __device__ inline Scale row(int s) const { return {outgoing.row[s], incoming.row[s]}; }
    __device__ inline Scale south(int c) const
    {
        return {outgoing.south.at[c], incoming.south.at[c]};
    }
    __device__ inline Scale north(int c) const
    {
        return {outgoing.north.at[c], incoming.north.at[c]};
    }
};

// The scale factors around the cells at level k; `here` are those of the cells themselves.
__device__ inline ScalesAround scales_around(const TransportArgs& args, const Place& place, int k,
                                             const Scales& here)
{
    const long long at = scales_of(args, place) + k * plane_of(args) + cell_of(args, place);
    ScalesAround found = {};
    found.outgoing = around(place, args.outgoing + at, here.outgoing);
    if (LIMITER == MONOTONIC) found.incoming = around(place, args.incoming + at, here.incoming);
    return found;
}

// The last stage of a limited tracer, with the scale factors of `scale`.
__device__ inline void update(const TransportArgs& args, const Place& place)
{
    Level level(args, place, place.first_level);
    Window latest(args, level.latest, level.k);
    const Cells start_below = above(args, level.start, level.k, -1);
    const Scales factor_below = scales_at(args, place, level.k - 1);
    const SplitCells at_bottom =
        split_z(args, place, level.k, group_at(level.mass_z()), latest.q, start_below, group_at(level.start));
    const Scales factor_here = scales_at(args, place, level.k);
    Cells bottom;
    for (int c = 0; c < CELLS; ++c)
        bottom.at[c] = limited(at_bottom.at[c], factor_below.at(c), factor_here.at(c));
    for (; level.k < place.end_level; level.rise()) {
        const int k = level.k;
        const Cells start = group_at(level.start);
        const Scales factor = scales_at(args, place, k);
        const Neighbours neighbours = around(place, level.start, start);
        const ScalesAround factors = scales_around(args, place, k, factor);
        const Lateral high = high_order(args, place, level, latest.q[2]);
        Lateral flux;
        const SplitX x = split_x(args, place, level, high.x, neighbours);
        for (int f = 0; f <= CELLS; ++f)
            flux.x[f] = limited(x.at[f], factors.row(f), factors.row(f + 1));
        const SplitY y = split_y(args, place, level, high, neighbours);
        for (int c = 0; c < CELLS; ++c) {
            flux.south.at[c] = limited(y.south[c], factors.south(c), factors.row(c + 1));
            flux.north.at[c] = limited(y.north[c], factors.row(c + 1), factors.north(c));
        }
        Cells outflow = lateral_outflow(args, place, level, level.start, flux);
        InflowValues inflow_values = {};
        if (!place.is_inner) inflow_values.load(args, place, level);
        const Cells mass = mass_of(args, args.cell, place, k);
        const Cells mass_top = group_at(level.mass_z() + plane_of(args));
        const Cells start_above = above(args, level.start, k, 1);
        const Scales factor_above = scales_at(args, place, k + 1);
        latest.rise(args, level.latest, k);
        const SplitCells at_top =
            split_z(args, place, k + 1, mass_top, latest.q, start, start_above);
        for (int c = 0; c < CELLS; ++c) {
            const real top = limited(at_top.at[c], factor.at(c), factor_above.at(c));
            outflow.at[c] += top - bottom.at[c];
            bottom.at[c] = top;
        }
        finish(args, place, level, inflow_values, after(args, start, mass, outflow));
    }
}
