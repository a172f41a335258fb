// The columns of the cells of a thread, seen through a window that rises with the march.
#pragma once

#include "advection/march/faces.cuh"

// The cells `offset` levels above, or of the nearest level that there is.
__device__ inline Cells above(const TransportArgs& args, const real* field, int k, int offset)
{
    const int level = max(0, min(k + offset, NZ - 1));
    return group_at(field + (level - k) * plane_of(args));
}

// A window on the columns of the cells: levels k - 2 to k + 1 around the face below level k.
struct Window {
    Cells q[4];

    // The levels around the face below the level.
    __device__ inline Window(const TransportArgs& args, const real* field, int k)
    {
        for (int s = 0; s < 4; ++s) q[s] = above(args, field, k, s - 2);
    }

    // Moves from the face below level k to the one above it.
    __device__ inline void rise(const TransportArgs& args, const real* field, int k)
    {
        for (int s = 0; s < 3; ++s) q[s] = q[s + 1];
        q[3] = above(args, field, k, 2);
    }
};
