// The last stage of limited tracers, in two passes: `scale` finds how much of the corrections every
// cell can afford, `update` scales and adds them.
#pragma once

#include "advection/march/plain.cuh"

// The values of the cells and of their lateral neighbours.
struct Around {
    real row[CELLS + 2];   // from the western neighbour of the first cell on
    real south[CELLS], north[CELLS];
};

// Gathers them from a field, of which `field` points to the first cell; `here` are the cells' own.
__device__ inline Around around(const Place& place, const real* field, const real (&here)[CELLS])
{
    Around found;
    found.row[0] = field[place.x[REACH - 1]];
    found.row[CELLS + 1] = field[place.x[REACH + CELLS]];
    for (int c = 0; c < CELLS; ++c) {
        found.row[c + 1] = here[c];
        found.south[c] = field[place.y[REACH - 1] + c];
        found.north[c] = field[place.y[REACH + 1] + c];
    }
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
    real low;
    if (LIMITER == MONOTONIC)
        low = upwind_flux(mass, q);
    else
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
    Lateral<Split> flux;
    for (int f = 0; f <= CELLS; ++f)
        flux.x[f] = split(args, args.capacity_x, k, cell + place.j + f, __ldg(level.mass_x + f),
                          {start.row[f], start.row[f + 1]}, high.x[f]);
    for (int c = 0; c < CELLS; ++c) {
        const real here = start.row[c + 1];
        flux.south[c] = split(args, args.capacity_y, k, cell + c, __ldg(level.mass_y + c),
                              {start.south[c], here}, high.south[c]);
        flux.north[c] = split(args, args.capacity_y, k, cell + args.nx + c,
                              __ldg(level.mass_y + args.nx + c), {here, start.north[c]},
                              high.north[c]);
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

// The factors for cell c. `column` are its values at levels k - 1 to k + 1 at the start.
__device__ inline Scale scale_of(const TransportArgs& args, const Place& place, const Level& level,
                                 const Around& start, const real (&column)[3], const Faces& low,
                                 const Faces& correction, int c)
{
    const real q = column[1], dt = args.dt;
    const real mass = mass_of(args, args.cell, place, level.k, c);
    const real amount = provisional_amount(mass, q, dt, low);
    if (LIMITER == MONOTONIC) {
        const Faces values = {start.row[c], start.row[c + 2], start.south[c], start.north[c],
                              column[0], column[2]};
        const Faces wind = {__ldg(level.mass_x + c), __ldg(level.mass_x + c + 1),
                            __ldg(level.mass_y + c), __ldg(level.mass_y + args.nx + c),
                            __ldg(level.mass_z + c), __ldg(level.mass_z + plane_of(args) + c)};
        const Bounds bound = bounds(q, values, wind);
        const real end = mass_of(args, args.cell_end, place, level.k, c);
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
    real start[CELLS][3];
    Split bottom[CELLS];
    for (int c = 0; c < CELLS; ++c) {
        for (int s = 0; s < 3; ++s) start[c][s] = above(args, level.start, level.k, s - 1, c);
        bottom[c] = split_z(args, place, level.k, c, __ldg(level.mass_z + c), latest.q[c],
                            {start[c][0], start[c][1]});
    }
    for (int k = place.first_level; k < place.end_level; ++k) {
        level = level_at(args, place, k);
        real here[CELLS], here_start[CELLS];
        for (int c = 0; c < CELLS; ++c) {
            here[c] = latest.q[c][2];
            here_start[c] = start[c][1];
        }
        const Around beside = around(place, level.start, here_start);
        const Lateral<Split> flux =
            split_lateral(args, place, level, beside, high_order(args, place, level, here));
        latest.rise(args, level.latest, k);
        for (int c = 0; c < CELLS; ++c) {
            const Split top = split_z(args, place, k + 1, c, __ldg(level.mass_z + plane_of(args) + c),
                                      latest.q[c], {start[c][1], start[c][2]});
            const Faces low = {flux.x[c].low, flux.x[c + 1].low, flux.south[c].low,
                               flux.north[c].low, bottom[c].low, top.low};
            const Faces correction = {flux.x[c].correction, flux.x[c + 1].correction,
                                      flux.south[c].correction, flux.north[c].correction,
                                      bottom[c].correction, top.correction};
            Scale factor = scale_of(args, place, level, beside, start[c], low, correction, c);
            const int i = place.i + c;
            if (outermost_x(args, place, c) || outermost_y(args, place)) factor = {1, 1};
            if (i >= place.own) {
                const long long at = scales_of(args, place) + k * plane_of(args)
                                     + cell_of(args, place) + c;
                args.outgoing[at] = factor.outgoing;
                if (LIMITER == MONOTONIC) args.incoming[at] = factor.incoming;
            }
            bottom[c] = top;
            start[c][0] = start[c][1];
            start[c][1] = start[c][2];
            start[c][2] = above(args, level.start, k, 2, c);
        }
    }
}

// The scale factors of the cells and of their lateral neighbours.
struct Scales {
    Around outgoing, incoming;

    __device__ inline Scale row(int s) const { return {outgoing.row[s], incoming.row[s]}; }
    __device__ inline Scale south(int c) const { return {outgoing.south[c], incoming.south[c]}; }
    __device__ inline Scale north(int c) const { return {outgoing.north[c], incoming.north[c]}; }
};

// The scale factors of cell c at level k, or of the nearest level that there is.
__device__ inline Scale scale_at(const TransportArgs& args, const Place& place, int k, int c)
{
    const int level = max(0, min(k, NZ - 1));
    const long long at =
        scales_of(args, place) + level * plane_of(args) + cell_of(args, place) + c;
    return {args.outgoing[at], LIMITER == MONOTONIC ? args.incoming[at] : real(1)};
}

// Those of the cells of level k and around them; `here` are the cells' own.
__device__ inline Scales scales_at(const TransportArgs& args, const Place& place, int k,
                                   const Scale (&here)[CELLS])
{
    const long long at = scales_of(args, place) + k * plane_of(args) + cell_of(args, place);
    real outgoing[CELLS], incoming[CELLS];
    for (int c = 0; c < CELLS; ++c) {
        outgoing[c] = here[c].outgoing;
        incoming[c] = here[c].incoming;
    }
    Scales found;
    found.outgoing = around(place, args.outgoing + at, outgoing);
    if (LIMITER == MONOTONIC) found.incoming = around(place, args.incoming + at, incoming);
    return found;
}

// The last stage of a limited tracer, from the scale factors of `scale`.
__device__ inline void update(const TransportArgs& args, const Place& place)
{
    Level level = level_at(args, place, place.first_level);
    Window latest(args, level.latest, level.k);
    real start[CELLS];
    Scale factor[CELLS];
    real bottom[CELLS];
    for (int c = 0; c < CELLS; ++c) {
        start[c] = level.start[c];
        factor[c] = scale_at(args, place, level.k, c);
        const Split split = split_z(args, place, level.k, c, __ldg(level.mass_z + c), latest.q[c],
                                    {above(args, level.start, level.k, -1, c), start[c]});
        bottom[c] = limited(split, scale_at(args, place, level.k - 1, c), factor[c]);
    }
    for (int k = place.first_level; k < place.end_level; ++k) {
        level = level_at(args, place, k);
        real here[CELLS];
        for (int c = 0; c < CELLS; ++c) here[c] = latest.q[c][2];
        const Around beside = around(place, level.start, start);
        const Lateral<Split> split =
            split_lateral(args, place, level, beside, high_order(args, place, level, here));
        const Scales factors = scales_at(args, place, k, factor);
        Lateral<real> flux;
        for (int f = 0; f <= CELLS; ++f)
            flux.x[f] = limited(split.x[f], factors.row(f), factors.row(f + 1));
        latest.rise(args, level.latest, k);
        real outflow[CELLS];
        for (int c = 0; c < CELLS; ++c) {
            flux.south[c] = limited(split.south[c], factors.south(c), factors.row(c + 1));
            flux.north[c] = limited(split.north[c], factors.row(c + 1), factors.north(c));
            const real next = above(args, level.start, k, 1, c);
            const Scale factor_above = scale_at(args, place, k + 1, c);
            const Split at_top =
                split_z(args, place, k + 1, c, __ldg(level.mass_z + plane_of(args) + c),
                        latest.q[c], {start[c], next});
            const real top = limited(at_top, factor[c], factor_above);
            outflow[c] = lateral_outflow(args, place, level, level.start, flux, c)
                         + (top - bottom[c]);
            bottom[c] = top;
            start[c] = next;
            factor[c] = factor_above;
        }
        finish(args, place, level, flux, outflow);
    }
}
