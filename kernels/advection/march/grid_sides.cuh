// Size of the grid, periodic sides, and the memory layout of the values of sides.
#pragma once

// Cells of a row and rows of a plane: compile-time constants NX and NY in kernels compiled for one grid.
__device__ inline int nx_of(const TransportArgs& args) { return NX > 0 ? NX : args.nx; }
__device__ inline int ny_of(const TransportArgs& args) { return NY > 0 ? NY : args.ny; }

__device__ inline bool periodic_x() { return WEST == PERIODIC; }
__device__ inline bool periodic_y() { return SOUTH == PERIODIC; }

// Offsets of the values of a tracer at the four sides, contiguous in memory: west and east (nz, ny), south and north
// (nz, nx).
struct SideValues {
    long long west, east, south, north;
};

__device__ inline SideValues side_values(const TransportArgs& args, int tracer)
{
    const int along_x = NZ * nx_of(args), along_y = NZ * ny_of(args);
    const long long west = static_cast<long long>(tracer) * 2 * (along_x + along_y);
    return {west, west + along_y, west + 2 * along_y, west + 2 * along_y + along_x};
}
