// The terms of the water budget, over the columns inside the specified and open rows. See src/gpu/budget.rs.
#pragma once

#include "primitives/block_sum.cuh"

// Steps whose planes are added up together.
constexpr int TALLIED_AT_ONCE = 4;

// Adds the terms of `steps` steps in the planes of a state, step by step and term by term, kg. The planes of the last
// step come first, those of each earlier step follow. The rows of the region are distributed among the blocks of a
// state; `block` is the index of this block among those of all states.
__device__ inline void tally(const TallyArgs& args, int steps, int block)
{
    const BudgetRegion& region = args.region;
    const int plane = region.ny * region.pitch, state = block / args.blocks, thread = static_cast<int>(threadIdx.x);
    const real* planes = args.planes[state];
    for (int first = 0; first < steps; first += TALLIED_AT_ONCE) {
        double sums[TALLIED_AT_ONCE * TALLY_PLANES] = {};
        for (int j = region.first_row + block - state * args.blocks; j < region.end_row; j += args.blocks) {
            for (int i = region.first_column + thread; i < region.end_column; i += SUM_THREADS) {
                const int c = j * region.pitch + i;
                const double area = args.area[c];
#pragma unroll
                for (int s = 0; s < TALLIED_AT_ONCE; ++s) {
                    if (first + s >= steps) break;
                    const real* left = planes + static_cast<long long>(steps - 1 - first - s) * TALLY_PLANES * plane;
#pragma unroll
                    for (int term = 0; term < TALLY_PLANES; ++term)
                        sums[s * TALLY_PLANES + term] += static_cast<double>(left[term * plane + c]) * area;
                }
            }
        }
        block_sums(sums);
        if (thread >= TALLY_PLANES) continue;
        double all = args.sums[block * TALLY_PLANES + thread];
        for (int s = 0; s < TALLIED_AT_ONCE; ++s)
#pragma unroll
            for (int term = 0; term < TALLY_PLANES; ++term)
                if (term == thread && first + s < steps) all += sums[s * TALLY_PLANES + term];
        args.sums[block * TALLY_PLANES + thread] = all;
    }
}
