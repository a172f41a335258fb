// Stages without limiter, and the end of every stage.
#pragma once

#include "advection/march/sides.cuh"
#include "advection/march/window.cuh"

// Net outflow of the cells through their lateral faces, with the radiative outflow through open sides; `carried` are
// the values that the wind carries out there. Stores the fluxes through the sides if `side_flux` is set.
__device__ inline Cells lateral_outflow(const TransportArgs& args, const Place& place,
                                        const Level& level, const real* carried,
                                        const Lateral& flux)
{
    Cells net;
    for (int c = 0; c < CELLS; ++c)
        net.at[c] = (flux.x[c + 1] - flux.x[c]) + (flux.north.at[c] - flux.south.at[c]);
    if (place.is_inner) return net;
    // Outermost cells of specified sides are set at the end of the stage.
    if (has_open())
        for (int c = 0; c < CELLS; ++c) {
            // In outermost cells the fluxes along the axis do not count.
            const real x = outermost_x(args, place, c) ? real(0) : flux.x[c + 1] - flux.x[c];
            const real y = outermost_y(args, place) ? real(0) : flux.north.at[c] - flux.south.at[c];
            net.at[c] = x + y;
            add_open_sides(args, place, level, carried, c, net.at[c]);
        }
    if (args.side_flux) keep_side_fluxes(args, place, level.k, flux);
    return net;
}

// The values of the cells after an outflow.
__device__ inline Cells after(const TransportArgs& args, const Cells& start, const Cells& mass,
                              const Cells& outflow)
{
    Cells value;
    for (int c = 0; c < CELLS; ++c)
        value.at[c] = updated(start.at[c], args.dt, outflow.at[c], mass.at[c]);
    return value;
}

// Stores the values. Uniform over a block, since nearly every warp contains an end of a row.
__device__ inline void finish(const TransportArgs& args, const Place& place, const Level& level,
                              const InflowValues& inflow_values, Cells value)
{
    if (place.is_inner)
        store_own(place, value, level.result);
    else
        store(args, place, level, inflow_values, value);
}

// One stage of a tracer without limiter.
__device__ inline void advance(const TransportArgs& args, const Place& place)
{
    Level level(args, place, place.first_level);
    Window window(args, level.latest, level.k);
    Cells bottom = high_order_z(args, level.k, group_at(level.mass_z()), window.q);
    for (; level.k < place.end_level; level.rise()) {
        const Lateral flux = high_order(args, place, level, window.q[2]);
        Cells outflow = lateral_outflow(args, place, level, level.latest, flux);
        InflowValues inflow_values = {};
        if (!place.is_inner) inflow_values.load(args, place, level);
        const Cells mass_top = group_at(level.mass_z() + plane_of(args));
        const Cells mass = mass_of(args, args.cell, place, level.k);
        const Cells start = group_at(level.start);
        window.rise(args, level.latest, level.k);
        const Cells top = high_order_z(args, level.k + 1, mass_top, window.q);
        for (int c = 0; c < CELLS; ++c) outflow.at[c] += top.at[c] - bottom.at[c];
        bottom = top;
        finish(args, place, level, inflow_values, after(args, start, mass, outflow));
    }
}
