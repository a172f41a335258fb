// The outermost cells of specified sides, by tiles. The rules: src/advection/boundary.rs.
#pragma once

#include "advection/march/sides.cuh"

// What sets the outermost cell of a thread at a side in x. It is asked for a level before it is needed,
// so that the block need not wait for it.
struct Brought {
    real mass;    // through the side
    real value;   // what the air brings in if it enters there

    __device__ inline void look_up(const TransportArgs& args, const Place& place, int k)
    {
        const bool west = WEST == SPECIFIED && at_west(place);
        if (!west && !(EAST == SPECIFIED && at_east(args, place))) return;
        const Level level(args, place, k);
        const SideValues at = side_values(args, place.tracer);
        mass = __ldg(level.mass_x() + (west ? first_cell() : last_cell() + 1));
        value = given(args, (west ? at.west : at.east) + k * args.ny + place.j);
    }

    // Stores the new values of the cells, and those of the specified sides that depend on them.
    __device__ inline void store(const TransportArgs& args, const Place& place, const Level& level,
                                 Cells& cells) const
    {
        if (place.near_y) set_specified_y(args, place, level, cells, level.result);
        if ((SOUTH == SPECIFIED && at_south(place)) || (NORTH == SPECIFIED && at_north(args, place)))
            return;
        if (WEST == SPECIFIED && at_west(place))
            cells.at[first_cell()] = mass < 0 ? cells.at[second_cell()] : value;
        if (EAST == SPECIFIED && at_east(args, place))
            cells.at[last_cell()] = mass > 0 ? cells.at[last_but_one()] : value;
        clear_fill(args, place, cells);
        store_own(place, cells, level.result);
    }
};
