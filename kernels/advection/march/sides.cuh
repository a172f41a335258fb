// The outermost cells of sides that are not periodic. The rules: src/advection/boundary.rs.
#pragma once

#include "advection/boundary.cuh"
#include "advection/march/faces.cuh"

__device__ inline bool has_open()
{
    return WEST == OPEN || EAST == OPEN || SOUTH == OPEN || NORTH == OPEN;
}

// True if cell c of a thread is an outermost one along x, or an element without a cell.
__device__ inline bool outermost_x(const TransportArgs& args, const Place& place, int c)
{
    return (at_west(place) && c <= first_cell()) || (at_east(args, place) && c >= last_cell());
}

__device__ inline bool outermost_y(const TransportArgs& args, const Place& place)
{
    return at_south(place) || at_north(args, place);
}

// True if it is an outermost one along any axis. Without branches, since the threads of a warp rarely agree.
__device__ inline bool outermost(const TransportArgs& args, const Place& place, int c)
{
    return outermost_x(args, place, c) | outermost_y(args, place);
}

// Radiation out of a cell through one side, per map factor. `low` and `high` are the air fluxes through the two faces
// of the cell along the axis, `carried` points to the value carried out, and `inner` is the distance to the inner
// neighbour.
__device__ inline real radiated(const TransportArgs& args, int cell, bool low_side, real low,
                                real high, const real* carried, int inner, real latest)
{
    const real mean = (low + high) * real(0.5);
    const real outward = low_side ? -mean : mean;
    const real outflow =
        radiative_outflow(outward, high - low, carried[0], carried[inner], latest);
    return outflow / __ldg(args.map_x + cell);
}

// Adds the radiative outflow of cell c through open sides to its net lateral outflow. `carried` points to the value of
// the thread's first cell among those that the wind carries out.
__device__ inline void add_open_sides(const TransportArgs& args, const Place& place,
                                      const Level& level, const real* carried, int c, real& net)
{
    const bool west = WEST == OPEN && at_west(place) && c == first_cell();
    const bool east = EAST == OPEN && at_east(args, place) && c == last_cell();
    const bool south = SOUTH == OPEN && at_south(place), north = NORTH == OPEN && at_north(args, place);
    if (!west && !east && !south && !north) return;
    const int cell = cell_of(args, place) + c;
    const real latest = level.latest[c];
    const real x[] = {__ldg(level.mass_x() + c), __ldg(level.mass_x() + c + 1)};
    const real y[] = {__ldg(level.mass_y() + c), __ldg(level.mass_y() + pitch(args) + c)};
    if (west) net += radiated(args, cell, true, x[0], x[1], carried + c, 1, latest);
    if (east) net += radiated(args, cell, false, x[0], x[1], carried + c, -1, latest);
    if (south) net += radiated(args, cell, true, y[0], y[1], carried + c, pitch(args), latest);
    if (north) net += radiated(args, cell, false, y[0], y[1], carried + c, -pitch(args), latest);
}

// Stores the tracer fluxes of the last stage through the boundary of the region inside the outermost cells; fluxes at
// outermost cells are stored too, and not added up. First the fluxes along a row, then those through the southern or
// the northern side, whose values begin at `side`.
__device__ inline void keep_side_fluxes_x(const TransportArgs& args, const Place& place, int k,
                                          const real (&flux)[CELLS + 1])
{
    const SideValues at = side_values(args, place.tracer);
    const int row = k * ny_of(args) + place.j;
    if (at_west(place)) args.side_flux[at.west + row] = flux[first_cell() + 1];
    if (at_east(args, place)) args.side_flux[at.east + row] = flux[last_cell()];
}

__device__ inline void keep_side_fluxes_y(const TransportArgs& args, const Place& place, int k,
                                          long long side, const Cells& flux)
{
    for (int c = 0; c < CELLS; ++c)
        if (place.owns(c))
            args.side_flux[side + k * nx_of(args) + place.i - FIRST + c] = flux.at[c];
}

__device__ inline void keep_side_fluxes(const TransportArgs& args, const Place& place, int k,
                                        const Lateral& flux)
{
    keep_side_fluxes_x(args, place, k, flux.x);
    if (!place.near_y) return;
    const SideValues at = side_values(args, place.tracer);
    if (place.j == 1) keep_side_fluxes_y(args, place, k, at.south, flux.south);
    if (place.j + 2 == ny_of(args)) keep_side_fluxes_y(args, place, k, at.north, flux.north);
}

// The boundary value of inflow at index `at` of the values of all sides; 0 without boundary values.
__device__ inline real given(const TransportArgs& args, long long at)
{
    return args.inflow ? __ldg(args.inflow + at) : real(0);
}

// The value of inflow: the boundary value, or that of the inner neighbour if it is NaN and the gradient is zero.
__device__ inline real inflow_value(real given, real inside)
{
    return ZERO_GRADIENT && isnan(given) ? inside : given;
}

// Boundary values of the outermost cells of a thread at specified sides in x. They are loaded early to hide the
// latency, and by all threads of a warp, of which only some are at a side.
struct InflowValues {
    real west_mass, east_mass;  // air fluxes through the sides
    real west, east;            // values of inflow

    __device__ inline void load(const TransportArgs& args, const Place& place, const Level& level)
    {
        const SideValues at = side_values(args, place.tracer);
        const int row = level.k * ny_of(args) + place.j;
        if (WEST == SPECIFIED) {
            west_mass = __ldg(level.mass_x() + first_cell());
            west = given(args, at.west + row);
        }
        if (EAST == SPECIFIED) {
            east_mass = __ldg(level.mass_x() + last_cell() + 1);
            east = given(args, at.east + row);
        }
    }

    // Sets the outermost cells: at outflow to the value of the inner neighbour, which the same thread has; at inflow to
    // the boundary value.
    __device__ inline void set(const TransportArgs& args, const Place& place, Cells& value) const
    {
        if (WEST == SPECIFIED && at_west(place))
            value.at[first_cell()] =
                west_mass < 0 ? value.at[second_cell()] : inflow_value(west, value.at[second_cell()]);
        if (EAST == SPECIFIED && at_east(args, place))
            value.at[last_cell()] =
                east_mass > 0 ? value.at[last_but_one()] : inflow_value(east, value.at[last_but_one()]);
    }
};

// Sets the elements without a cell at the ends of a row to 0.
__device__ inline void clear_fill(const TransportArgs& args, const Place& place, Cells& value)
{
    for (int c = 0; c < CELLS; ++c) {
        if (c < first_cell() && at_west(place)) value.at[c] = 0;
        if (c > last_cell() && at_east(args, place)) value.at[c] = 0;
    }
}

// Sets the outermost row of a specified side in y, from `value` of the inner row. `side` is the index of the boundary
// values, `outer` points to the air fluxes through the side, and `result` to the row, all at the first cell of the
// thread.
__device__ inline void set_specified_row(const TransportArgs& args, const Place& place, long long side,
                                         const real* outer, bool low_side, const Cells& value, real* result)
{
    const Cells mass = group_at(outer);
    Cells found;
    for (int c = 0; c < CELLS; ++c) {
        const real boundary_value = place.owns(c) ? given(args, side + c) : real(0);
        const bool leaves = low_side ? mass.at[c] < 0 : mass.at[c] > 0;
        // A corner takes the value of the nearest cell that is in neither outermost column.
        real inside = value.at[c];
        if (c == first_cell() && at_west(place)) inside = value.at[second_cell()];
        if (c == last_cell() && at_east(args, place)) inside = value.at[last_but_one()];
        found.at[c] = leaves ? inside : inflow_value(boundary_value, inside);
    }
    clear_fill(args, place, found);
    store_own(place, found, result);
}

// Sets the outermost rows at both sides in y.
__device__ inline void set_specified_y(const TransportArgs& args, const Place& place,
                                       const Level& level, const Cells& value)
{
    const SideValues at = side_values(args, place.tracer);
    const int row = pitch(args), along = level.k * nx_of(args) + place.i - FIRST;
    if (SOUTH == SPECIFIED && place.j == 1)
        set_specified_row(args, place, at.south + along, level.mass_y() - row, true, value, level.result - row);
    if (NORTH == SPECIFIED && place.j + 2 == ny_of(args))
        set_specified_row(args, place, at.north + along, level.mass_y() + 2 * row, false, value,
                          level.result + row);
}

// Stores the new values of the cells, and the values of specified sides that depend on them.
__device__ inline void store(const TransportArgs& args, const Place& place, const Level& level,
                             const InflowValues& inflow_values, Cells& value)
{
    if (place.near_y) {
        set_specified_y(args, place, level, value);
        if ((SOUTH == SPECIFIED && at_south(place)) || (NORTH == SPECIFIED && at_north(args, place))) return;
    }
    inflow_values.set(args, place, value);
    clear_fill(args, place, value);
    store_own(place, value, level.result);
}
