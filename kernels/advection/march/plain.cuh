// Stages without limiter, and what ends every stage.
#pragma once

#include "advection/march/sides.cuh"
#include "advection/march/window.cuh"

// Net outflow of cell c through its lateral faces, with what radiates through open sides.
// `carried` are the values that the wind takes out there.
__device__ inline real lateral_outflow(const TransportArgs& args, const Place& place,
                                       const Level& level, const real* carried,
                                       const Lateral<real>& flux, int c)
{
    // Outermost cells are not changed along the axis.
    const real x = outermost_x(args, place, c) ? real(0) : flux.x[c + 1] - flux.x[c];
    const real y = outermost_y(args, place) ? real(0) : flux.north[c] - flux.south[c];
    real net = x + y;
    add_open_sides(args, place, level, carried, c, net);
    return net;
}

// Stores q - dt * outflow / M of the cells, and the fluxes through the sides if they are wanted.
__device__ inline void finish(const TransportArgs& args, const Place& place, const Level& level,
                              const Lateral<real>& flux, const real (&outflow)[CELLS])
{
    const Cells mass = mass_of(args, args.cell, place, level.k), start = group_at(level.start);
    Cells value;
    for (int c = 0; c < CELLS; ++c)
        value.at[c] = start.at[c] - args.dt * outflow[c] / mass.at[c];
    const int here = level.k * plane_of(args) + cell_of(args, place);
    store(args, place, level, value, args.result + place.tracer * cells_of(args) + here);
    if (args.side_flux) keep_side_fluxes(args, place, level.k, flux);
}

// One stage of a tracer without limiter.
__device__ inline void advance(const TransportArgs& args, const Place& place)
{
    Level level = level_at(args, place, place.first_level);
    Window window(args, level.latest, level.k);
    const Cells mass_bottom = group_at(level.mass_z);
    real bottom[CELLS];
    for (int c = 0; c < CELLS; ++c)
        bottom[c] = high_order_z(args, level.k, mass_bottom.at[c], window.column(c).q);
    for (int k = place.first_level; k < place.end_level; ++k) {
        level = level_at(args, place, k);
        const Lateral<real> flux = high_order(args, place, level, window.q[2]);
        const Cells mass_top = group_at(level.mass_z + plane_of(args));
        window.rise(args, level.latest, k);
        real outflow[CELLS];
        for (int c = 0; c < CELLS; ++c) {
            const real top = high_order_z(args, k + 1, mass_top.at[c], window.column(c).q);
            outflow[c] = lateral_outflow(args, place, level, level.latest, flux, c)
                         + (top - bottom[c]);
            bottom[c] = top;
        }
        finish(args, place, level, flux, outflow);
    }
}
