// The sides of the grid: which of them are periodic, and where their values lie in memory.
#pragma once

__device__ inline bool periodic_x() { return WEST == PERIODIC; }
__device__ inline bool periodic_y() { return SOUTH == PERIODIC; }

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
