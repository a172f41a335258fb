// Inflow by transport into the region of the budgets, inside the outermost cells of sides.
#pragma once

#include "advection/march/grid_sides.cuh"
#include "primitives/block_sum.cuh"

// Steps whose fluxes are added up together.
constexpr int STEPS_AT_ONCE = 16;

// Adds the inflow by the last stages of `steps` steps, step by step; block `block` adds that of one tracer and level,
// in the same order in every run. The fluxes of the last step are at the beginning of `side_flux`, those of each
// earlier step `apart` values further on.
__device__ inline void add_inflow(const TransportArgs& args, int steps, int apart, int block)
{
    const int tracer = block / NZ, k = block - tracer * NZ;
    const int nx = nx_of(args), ny = ny_of(args), thread = static_cast<int>(threadIdx.x);
    const SideValues at = side_values(args, tracer);
    for (int first = 0; first < steps; first += STEPS_AT_ONCE) {
        double sums[STEPS_AT_ONCE] = {};
        // Adds the difference of the fluxes at an index of a lower and of a higher side, in all steps; a side that is a
        // cut counts nothing.
        const auto add = [&](long long low, bool has_low, long long high, bool has_high) {
#pragma unroll
            for (int s = 0; s < STEPS_AT_ONCE; ++s) {
                if (first + s >= steps) break;
                const real* flux = args.side_flux + static_cast<long long>(steps - 1 - first - s) * apart;
                sums[s] += (has_low ? static_cast<double>(flux[low]) : 0.0)
                           - (has_high ? static_cast<double>(flux[high]) : 0.0);
            }
        };
        if (INFLOW_WEST || INFLOW_EAST)
            for (int j = OUTSIDE_SOUTH + thread; j < ny - OUTSIDE_NORTH; j += SUM_THREADS)
                add(at.west + k * ny + j, INFLOW_WEST, at.east + k * ny + j, INFLOW_EAST);
        if (INFLOW_SOUTH || INFLOW_NORTH)
            for (int i = OUTSIDE_WEST + thread; i < nx - OUTSIDE_EAST; i += SUM_THREADS)
                add(at.south + k * nx + i, INFLOW_SOUTH, at.north + k * nx + i, INFLOW_NORTH);
        block_sums(sums);
        if (thread != 0) continue;
        double all = args.entered[block];
        for (int s = 0; s < STEPS_AT_ONCE; ++s)
            if (first + s < steps) all += static_cast<double>(args.dt) * sums[s];
        args.entered[block] = all;
    }
}
