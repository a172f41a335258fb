// The columns of the cells of a thread, seen through a window that rises with the march.
#pragma once

#include "advection/march/faces.cuh"

// The value of cell c `offset` levels above, or of the nearest level that there is.
__device__ inline real above(const TransportArgs& args, const real* field, int k, int offset, int c)
{
    const int level = max(0, min(k + offset, NZ - 1));
    return field[(level - k) * plane_of(args) + c];
}

// A window on the columns of the cells: levels k - 2 to k + 1 around the face below level k.
struct Window {
    real q[CELLS][4];

    // The levels around the face below the level.
    __device__ inline Window(const TransportArgs& args, const real* field, int k)
    {
        for (int c = 0; c < CELLS; ++c)
            for (int s = 0; s < 4; ++s) q[c][s] = above(args, field, k, s - 2, c);
    }

    // Moves from the face below level k to the one above it.
    __device__ inline void rise(const TransportArgs& args, const real* field, int k)
    {
        for (int c = 0; c < CELLS; ++c) {
            for (int s = 0; s < 3; ++s) q[c][s] = q[c][s + 1];
            q[c][3] = above(args, field, k, 2, c);
        }
    }
};
