// Sliding windows on the columns of a thread's cells.
#pragma once

#include "advection/march/faces.cuh"

// The cells `offset` levels above level k, clamped to the levels of the grid; `field` points to level k.
__device__ inline Cells above(const TransportArgs& args, const real* field, int k, int offset)
{
    const int level = max(0, min(k + offset, NZ - 1));
    return group_at(field + (level - k) * plane_of(args));
}

// A window of four levels, k - 2 to k + 1, around the face below level k.
struct Window {
    Cells q[4];

    // The window around the face below level k.
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
