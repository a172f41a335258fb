// The size of the grid and its sides: which of them are periodic, and where their values lie in memory.
#pragma once

// Cells of a row and rows of a plane: known to the compiler for grids that kernels are made for, NX and NY.
__device__ inline int nx_of(const TransportArgs& args) { return NX > 0 ? NX : args.nx; }
__device__ inline int ny_of(const TransportArgs& args) { return NY > 0 ? NY : args.ny; }

__device__ inline bool periodic_x() { return WEST == PERIODIC; }
__device__ inline bool periodic_y() { return SOUTH == PERIODIC; }

// Offsets of the values of the four sides of a tracer, in one piece of memory: west and east
// (nz, ny), south and north (nz, nx).
struct SideValues {
    long long west, east, south, north;
};

__device__ inline SideValues side_values(const TransportArgs& args, int tracer)
{
    const int along_x = NZ * nx_of(args), along_y = NZ * ny_of(args);
    const long long west = static_cast<long long>(tracer) * 2 * (along_x + along_y);
    return {west, west + along_y, west + 2 * along_y, west + 2 * along_y + along_x};
}
