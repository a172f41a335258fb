// The terms of the water budget, over the columns inside the specified and open rows. See src/gpu/budget.rs.
#pragma once

#include "primitives/block_sum.cuh"

// Adds what a step has left in the planes of a state, one term after the other, kg. The rows of the
// region are shared out among the blocks of a state, of which this is `block` of those of all.
__device__ inline void tally(const TallyArgs& args, int block)
{
    const int plane = args.ny * args.pitch, state = block / args.blocks;
    const real* planes = args.planes[state];
    double sums[TALLY_PLANES] = {};
    for (int j = args.first_row + block - state * args.blocks; j < args.end_row; j += args.blocks) {
        for (int i = args.first_column + static_cast<int>(threadIdx.x); i < args.end_column;
             i += SUM_THREADS) {
            const int c = j * args.pitch + i;
            for (int term = 0; term < TALLY_PLANES; ++term)
                sums[term] += static_cast<double>(planes[term * plane + c]) * args.area[c];
        }
    }
    block_sums(sums);
    if (threadIdx.x == 0)
        for (int term = 0; term < TALLY_PLANES; ++term)
            args.sums[block * TALLY_PLANES + term] += sums[term];
}
