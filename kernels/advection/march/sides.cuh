// The outermost cells of sides that are not periodic. The rules: src/advection/boundary.rs.
#pragma once

#include "advection/boundary.cuh"
#include "advection/march/faces.cuh"

constexpr bool HAS_SIDES = !PERIODIC_X || !PERIODIC_Y;

__device__ inline bool outermost_x(const TransportArgs& args, int i)
{
    return !PERIODIC_X && (i == 0 || i + 1 == args.nx);
}

__device__ inline bool outermost_y(const TransportArgs& args, int j)
{
    return !PERIODIC_Y && (j == 0 || j + 1 == args.ny);
}

// What radiates out of cell (j, i) through one side, per map factor. `low` and `high` are the air
// fluxes through the faces on either side of the cell, `inner` the neighbour inside.
__device__ inline real radiated(const TransportArgs& args, int cell, bool low_side, real low,
                                real high, real edge, real inner, real latest)
{
    const real mean = (low + high) * real(0.5);
    const real outward = low_side ? -mean : mean;
    return radiative_outflow(outward, high - low, edge, inner, latest) / __ldg(args.map_x + cell);
}

// Adds what radiates out of cell c through open sides to its net lateral outflow. `carried` points
// to the values that the wind takes out, at the first cell of the thread.
__device__ inline void add_open_sides(const TransportArgs& args, const Place& place,
                                      const Level& level, const real* carried, int c, real& net)
{
    const int i = place.i + c, j = place.j, cell = cell_of(args, place) + c;
    const real latest = level.latest[c], edge = carried[c];
    const real west = __ldg(level.mass_x + c), east = __ldg(level.mass_x + c + 1);
    const real south = __ldg(level.mass_y + c), north = __ldg(level.mass_y + args.nx + c);
    if (WEST == OPEN && i == 0)
        net += radiated(args, cell, true, west, east, edge, carried[c + 1], latest);
    if (EAST == OPEN && i + 1 == args.nx)
        net += radiated(args, cell, false, west, east, edge, carried[c - 1], latest);
    if (SOUTH == OPEN && j == 0)
        net += radiated(args, cell, true, south, north, edge, carried[c + args.nx], latest);
    if (NORTH == OPEN && j + 1 == args.ny)
        net += radiated(args, cell, false, south, north, edge, carried[c - args.nx], latest);
}

// Where the values of the four sides of a tracer begin, in one piece of memory: west and east
// (nz, ny), south and north (nz, nx).
struct SideValues {
    long long west, east, south, north;
};

__device__ inline SideValues side_values(const TransportArgs& args, int tracer)
{
    const int along_x = NZ * args.nx, along_y = NZ * args.ny;
    const long long west = static_cast<long long>(tracer) * 2 * (along_x + along_y);
    return {west, west + along_y, west + 2 * along_y, west + 2 * along_y + along_x};
}

// Keeps the tracer fluxes of the last stage through the sides of the region inside the outermost
// cells.
__device__ inline void keep_side_fluxes(const TransportArgs& args, const Place& place, int k,
                                        const Lateral<real>& flux, int c)
{
    const int i = place.i + c, j = place.j;
    const SideValues at = side_values(args, place.tracer);
    if (!PERIODIC_X && i == 1) args.side_flux[at.west + k * args.ny + j] = flux.x[c];
    if (!PERIODIC_X && i + 2 == args.nx) args.side_flux[at.east + k * args.ny + j] = flux.x[c + 1];
    if (!PERIODIC_Y && j == 1) args.side_flux[at.south + k * args.nx + i] = flux.south[c];
    if (!PERIODIC_Y && j + 2 == args.ny) args.side_flux[at.north + k * args.nx + i] = flux.north[c];
}

// The value that air brings into cell `along` of a side.
__device__ inline real given(const TransportArgs& args, long long side, int k, int n, int along)
{
    return args.inflow ? __ldg(args.inflow + side + k * n + along) : real(0);
}

// Stores the new value of cell (j, i) in `level`, which begins with the first cell of level k.
//
// A cell of a specified side does not take it: where air enters it takes the given value, and
// where air leaves its neighbour inside stores there what it has itself.
__device__ inline void store(const TransportArgs& args, int tracer, int k, int j, int i, real value,
                             real* level)
{
    const int nx = args.nx, ny = args.ny;
    const SideValues at = side_values(args, tracer);
    const real* x = args.flux_x + static_cast<long long>(k * ny + j) * (nx + 1);
    const real* south = args.flux_y + static_cast<long long>(k) * (ny + 1) * nx;
    const real* north = south + static_cast<long long>(ny) * nx;
    real* row = level + j * nx;
    // The southern and the northern row own the corners.
    if (SOUTH == SPECIFIED && j == 0) {
        if (!(south[i] < 0)) row[i] = given(args, at.south, k, nx, i);
        return;
    }
    if (NORTH == SPECIFIED && j + 1 == ny) {
        if (!(north[i] > 0)) row[i] = given(args, at.north, k, nx, i);
        return;
    }
    if (WEST == SPECIFIED && i == 0) {
        if (!(x[0] < 0)) row[0] = given(args, at.west, k, ny, j);
        return;
    }
    if (EAST == SPECIFIED && i + 1 == nx) {
        if (!(x[nx] > 0)) row[nx - 1] = given(args, at.east, k, ny, j);
        return;
    }
    row[i] = value;
    if (WEST == SPECIFIED && i == 1 && x[0] < 0) row[0] = value;
    if (EAST == SPECIFIED && i + 2 == nx && x[nx] > 0) row[nx - 1] = value;
    if (outermost_x(args, i)) return;
    // A corner takes the value of the nearest cell that is in neither outermost column.
    const int first = !PERIODIC_X && i == 1 ? 0 : i;
    const int last = !PERIODIC_X && i + 2 == nx ? nx - 1 : i;
    if (SOUTH == SPECIFIED && j == 1)
        for (int to = first; to <= last; ++to)
            if (south[to] < 0) level[to] = value;
    if (NORTH == SPECIFIED && j + 2 == ny)
        for (int to = first; to <= last; ++to)
            if (north[to] > 0) level[(ny - 1) * nx + to] = value;
}
