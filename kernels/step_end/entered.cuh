// What the transport carries into the region inside the outermost cells.
#pragma once

#include "advection/march/grid_sides.cuh"
#include "primitives/block_sum.cuh"

// Adds what the fluxes of the last stage have carried inside: block `block` that of one tracer and level,
// in the same order in every run.
__device__ inline void add_entered(const TransportArgs& args, int block)
{
    const int tracer = block / NZ, k = block - tracer * NZ;
    const int nx = nx_of(args), ny = ny_of(args), thread = static_cast<int>(threadIdx.x);
    const SideValues at = side_values(args, tracer);
    const real* west = args.side_flux + at.west + k * ny;
    const real* east = args.side_flux + at.east + k * ny;
    const real* south = args.side_flux + at.south + k * nx;
    const real* north = args.side_flux + at.north + k * nx;
    const int rim_x = periodic_x() ? 0 : 1, rim_y = periodic_y() ? 0 : 1;
    double sum = 0;
    if (!periodic_x())
        for (int j = rim_y + thread; j < ny - rim_y; j += SUM_THREADS)
            sum += static_cast<double>(west[j]) - static_cast<double>(east[j]);
    if (!periodic_y())
        for (int i = rim_x + thread; i < nx - rim_x; i += SUM_THREADS)
            sum += static_cast<double>(south[i]) - static_cast<double>(north[i]);
    sum = block_sum(sum);
    if (thread == 0) args.entered[block] += static_cast<double>(args.dt) * sum;
}
