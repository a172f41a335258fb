// The site of a thread: in the order of indices, or by four-dimensional bricks, so that the threads of a block have
// many neighbours in common.
#pragma once
#include "lattice/checkerboard.cuh"

constexpr int BRICK_SITES = BRICK_X * BRICK_Y * BRICK_Z * BRICK_T;
constexpr int BLOCK_THREADS = BLOCK_SITES * SIDE_THREADS;
static_assert(BRICK_SITES == 1 || BRICK_SITES == BLOCK_SITES, "a block has a brick");
constexpr int bricks_along(int extent, int brick) { return (extent + brick - 1) / brick; }
constexpr int BRICKS_X = bricks_along(HALF_X, BRICK_X), BRICKS_Y = bricks_along(LATTICE_Y, BRICK_Y);
constexpr int BRICKS_Z = bricks_along(LATTICE_Z, BRICK_Z), BRICKS_T = bricks_along(LATTICE_T, BRICK_T);
// Slabs in z are processed one after the other, each from the first time slice to the last.
constexpr int SLABS = bricks_along(BRICKS_Z, SLAB_BRICKS);

// The site of a thread of a block; returns false if there is none.
__device__ inline bool site_of_thread(int block, int thread, int parity, Site& site)
{
    if constexpr (BRICK_SITES == 1) {
        const int index = block * BLOCK_SITES + thread;
        site = site_at(index < HALF_VOLUME ? index : 0, parity);
        return index < HALF_VOLUME;
    } else {
        constexpr int of_slab = BRICKS_X * BRICKS_Y * SLAB_BRICKS * BRICKS_T;
        const int slab = block / of_slab, in_slab = block % of_slab;
        const int bx = in_slab % BRICKS_X, by = in_slab / BRICKS_X % BRICKS_Y;
        const int bz = in_slab / (BRICKS_X * BRICKS_Y) % SLAB_BRICKS;
        const int bt = in_slab / (BRICKS_X * BRICKS_Y * SLAB_BRICKS);
        site.xh = bx * BRICK_X + thread % BRICK_X;
        site.y = by * BRICK_Y + thread / BRICK_X % BRICK_Y;
        site.z = (slab * SLAB_BRICKS + bz) * BRICK_Z + thread / (BRICK_X * BRICK_Y) % BRICK_Z;
        site.t = bt * BRICK_T + thread / (BRICK_X * BRICK_Y * BRICK_Z);
        site.parity = parity;
        return site.xh < HALF_X && site.y < LATTICE_Y && site.z < LATTICE_Z && site.t < LATTICE_T;
    }
}
