// The last stage of limited tracers, in two passes: `scale` finds how much of the corrections every
// cell can afford, `update` scales and adds them.
#pragma once

#include "advection/march/plain.cuh"

// The values of the cells and of their lateral neighbours.
struct Around {
    real row[CELLS + 2];   // from the western neighbour of the first cell on
    Cells south, north;
};

// Gathers them from a field, of which `field` points to the first cell; `here` are the cells' own.
__device__ inline Around around(const Place& place, const real* field, const Cells& here)
{
    Around found;
    found.row[0] = field[place.west];
    found.row[CELLS + 1] = field[place.east];
    for (int c = 0; c < CELLS; ++c) found.row[c + 1] = here.at[c];
    found.south = group_at(field + place.y[REACH - 1]);
    found.north = group_at(field + place.y[REACH + 1]);
    return found;
}

// A low-order flux, and what the high-order one has more.
struct Split {
    real low, correction;
};

// Splits a high-order flux. `face` is the place of the face in the planes of `capacity`, `q` the
// cells on both sides of it at the start of the step.
__device__ inline Split split(const TransportArgs& args, const LayeredPointers& capacity, int k,
                              int face, real mass, const real (&q)[2], real high)
{
    real low = upwind_flux(mass, q);
    // Hardly any face carries more than the least capacity of its level: only there the capacity
    // itself is looked up.
    if (LIMITER == POSITIVE_DEFINITE && fabs(mass) > __ldg(capacity.least + k) * args.per_dt)
        low = capped_flux(mass, layered(capacity, k, face, args.per_dt), q);
    return {low, high - low};
}

// Splits the high-order fluxes through the lateral faces. The outer faces of outermost cells are
// split as all others: these cells are not limited.
__device__ inline Lateral<Split> split_lateral(const TransportArgs& args, const Place& place,
                                               const Level& level, const Around& start,
                                               const Lateral<real>& high)
{
    const int k = level.k, cell = cell_of(args, place);
    const Cells south = group_at(level.mass_y), north = group_at(level.mass_y + args.nx);
    Lateral<Split> flux;
    for (int f = 0; f <= CELLS; ++f)
        flux.x[f] = split(args, args.capacity_x, k, cell + place.j + f, __ldg(level.mass_x + f),
                          {start.row[f], start.row[f + 1]}, high.x[f]);
    for (int c = 0; c < CELLS; ++c) {
        const real here = start.row[c + 1];
        flux.south[c] = split(args, args.capacity_y, k, cell + c, south.at[c],
                              {start.south.at[c], here}, high.south[c]);
        flux.north[c] = split(args, args.capacity_y, k, cell + args.nx + c, north.at[c],
                              {here, start.north.at[c]}, high.north[c]);
    }
    return flux;
}

// Splits the flux through the face below level k. `latest` are the cells of levels k - 2 to k + 1,
// `start` those on both sides of the face at the start of the step.
__device__ inline Split split_z(const TransportArgs& args, const Place& place, int k, int c,
                                real mass, const real (&latest)[4], const real (&start)[2])
{
    if (k == 0 || k == NZ) return {0, 0};
    const real high = high_order_z(args, k, mass, latest);
    return split(args, args.capacity_z, k, cell_of(args, place) + c, mass, start, high);
}

// The factors for the corrections out of a cell and into it.
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

// The factors for cell c of mass `mass`. `column` are its values at levels k - 1 to k + 1 at the start.
__device__ inline Scale scale_of(const TransportArgs& args, const Place& place, const Level& level,
                                 const Around& start, const real (&column)[3], real mass,
                                 const Faces& low, const Faces& correction, int c)
{
    const real q = column[1], dt = args.dt;
    const real amount = provisional_amount(mass, q, dt, low);
    if (LIMITER == MONOTONIC) {
        const Faces values = {start.row[c], start.row[c + 2], start.south.at[c], start.north.at[c],
                              column[0], column[2]};
        const Faces wind = {__ldg(level.mass_x + c), __ldg(level.mass_x + c + 1),
                            __ldg(level.mass_y + c), __ldg(level.mass_y + args.nx + c),
                            __ldg(level.mass_z + c), __ldg(level.mass_z + plane_of(args) + c)};
        const Bounds bound = bounds(q, values, wind);
        const real end = layered(args.cell_end, level.k, cell_of(args, place) + c, 1);
        return {affordable(amount - end * bound.least, dt * correction.outgoing()),
                affordable(end * bound.most - amount, dt * correction.incoming())};
    }
    return {affordable(amount, dt * correction.outgoing()), 1};
}

// Where the scale factors of a tracer begin.
__device__ inline long long scales_of(const TransportArgs& args, const Place& place)
{
    return (place.tracer - UNLIMITED) * cells_of(args);
}

// Finds the scale factors of the cells; 1 in the outermost cells of axes that are not periodic.
__device__ inline void scale(const TransportArgs& args, const Place& place)
{
    Level level = level_at(args, place, place.first_level);
    Window latest(args, level.latest, level.k);
    Cells start[3];
    for (int s = 0; s < 3; ++s) start[s] = above(args, level.start, level.k, s - 1);
    const Cells mass_bottom = group_at(level.mass_z);
    Split bottom[CELLS];
    for (int c = 0; c < CELLS; ++c)
        bottom[c] = split_z(args, place, level.k, c, mass_bottom.at[c], latest.column(c).q,
                            {start[0].at[c], start[1].at[c]});
    for (int k = place.first_level; k < place.end_level; ++k) {
        level = level_at(args, place, k);
        const Around beside = around(place, level.start, start[1]);
        const Lateral<Split> flux = split_lateral(args, place, level, beside,
                                                  high_order(args, place, level, latest.q[2]));
        const Cells mass_top = group_at(level.mass_z + plane_of(args));
        const Cells mass = mass_of(args, args.cell, place, k);
        latest.rise(args, level.latest, k);
        Cells outgoing, incoming;
        for (int c = 0; c < CELLS; ++c) {
            const Split top = split_z(args, place, k + 1, c, mass_top.at[c], latest.column(c).q,
                                      {start[1].at[c], start[2].at[c]});
            const Faces low = {flux.x[c].low, flux.x[c + 1].low, flux.south[c].low,
                               flux.north[c].low, bottom[c].low, top.low};
            const Faces correction = {flux.x[c].correction, flux.x[c + 1].correction,
                                      flux.south[c].correction, flux.north[c].correction,
                                      bottom[c].correction, top.correction};
            Scale factor = scale_of(args, place, level, beside,
                                    {start[0].at[c], start[1].at[c], start[2].at[c]}, mass.at[c],
                                    low, correction, c);
            if (outermost_x(args, place, c) || outermost_y(args, place)) factor = {1, 1};
            outgoing.at[c] = factor.outgoing;
            incoming.at[c] = factor.incoming;
            bottom[c] = top;
        }
        const long long at = scales_of(args, place) + k * plane_of(args) + cell_of(args, place);
        store_own(place, outgoing, args.outgoing + at);
        if (LIMITER == MONOTONIC) store_own(place, incoming, args.incoming + at);
        start[0] = start[1];
        start[1] = start[2];
        start[2] = above(args, level.start, k, 2);
    }
}

// The scale factors of the cells of a thread.
struct Scales {
    Cells outgoing, incoming;

    __device__ inline Scale at(int c) const { return {outgoing.at[c], incoming.at[c]}; }
};

// Those of the cells at level k, or at the nearest level that there is.
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
    Around outgoing, incoming;

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

// Those at level k; `here` are the cells' own.
__device__ inline ScalesAround scales_around(const TransportArgs& args, const Place& place, int k,
                                             const Scales& here)
{
    const long long at = scales_of(args, place) + k * plane_of(args) + cell_of(args, place);
    ScalesAround found = {};
    found.outgoing = around(place, args.outgoing + at, here.outgoing);
    if (LIMITER == MONOTONIC) found.incoming = around(place, args.incoming + at, here.incoming);
    return found;
}

// The last stage of a limited tracer, from the scale factors of `scale`.
__device__ inline void update(const TransportArgs& args, const Place& place)
{
    Level level = level_at(args, place, place.first_level);
    Window latest(args, level.latest, level.k);
    Cells start = group_at(level.start);
    Scales factor = scales_at(args, place, level.k);
    const Cells mass_bottom = group_at(level.mass_z);
    const Cells start_below = above(args, level.start, level.k, -1);
    const Scales factor_below = scales_at(args, place, level.k - 1);
    real bottom[CELLS];
    for (int c = 0; c < CELLS; ++c) {
        const Split at_bottom = split_z(args, place, level.k, c, mass_bottom.at[c],
                                        latest.column(c).q, {start_below.at[c], start.at[c]});
        bottom[c] = limited(at_bottom, factor_below.at(c), factor.at(c));
    }
    for (int k = place.first_level; k < place.end_level; ++k) {
        level = level_at(args, place, k);
        const Around beside = around(place, level.start, start);
        const Lateral<Split> split = split_lateral(args, place, level, beside,
                                                   high_order(args, place, level, latest.q[2]));
        const ScalesAround factors = scales_around(args, place, k, factor);
        Lateral<real> flux;
        for (int f = 0; f <= CELLS; ++f)
            flux.x[f] = limited(split.x[f], factors.row(f), factors.row(f + 1));
        const Cells mass_top = group_at(level.mass_z + plane_of(args));
        const Cells start_above = above(args, level.start, k, 1);
        const Scales factor_above = scales_at(args, place, k + 1);
        latest.rise(args, level.latest, k);
        real outflow[CELLS];
        for (int c = 0; c < CELLS; ++c) {
            flux.south[c] = limited(split.south[c], factors.south(c), factors.row(c + 1));
            flux.north[c] = limited(split.north[c], factors.row(c + 1), factors.north(c));
            const Split at_top = split_z(args, place, k + 1, c, mass_top.at[c], latest.column(c).q,
                                         {start.at[c], start_above.at[c]});
            const real top = limited(at_top, factor.at(c), factor_above.at(c));
            outflow[c] = lateral_outflow(args, place, level, level.start, flux, c)
                         + (top - bottom[c]);
            bottom[c] = top;
        }
        start = start_above;
        factor = factor_above;
        finish(args, place, level, flux, outflow);
    }
}
