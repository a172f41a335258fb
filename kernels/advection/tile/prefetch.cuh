// Asynchronous copies of the next level into shared memory while a block computes a level.
#pragma once

#include "advection/tile/place.cuh"
#include "primitives/cp_async.cuh"

// Values of every thread of a block.
using Tile = Cells[TILE_ROWS][LANES];

// A ring buffer of levels of a field: the next level replaces the lowest one.
template <int SLOTS, int ROWS>
struct Ring {
    Cells slot[SLOTS][ROWS][LANES];

    __device__ inline Cells (&at(int k))[ROWS][LANES] { return slot[k % SLOTS]; }
};

// The latest values of the current level and the two above it, from row -HALO of the tile on; those at the start of
// the step of the current level and the one above it, from row -1 on; and the air fluxes through the western, southern
// and upper faces of the cells of the current level.
struct Prefetched {
    Ring<3, SEEN_ROWS> latest;
    Ring<2, TILE_ROWS + 1> start;
    Tile mass_x, mass_y, mass_z;
};

// Begins to copy a group of cells.
__device__ inline void copy_group(Cells& to, const real* from)
{
    if (WIDE)
        copy_ahead<sizeof(Cells)>(&to, from);
    else
        for (int c = 0; c < CELLS; ++c) copy_ahead<sizeof(real)>(&to.at[c], from + c);
}

// Copies a thread's part of every level: its own cells, and in the first warps also a halo row.
struct Copier {
    const TransportArgs& args;
    const Place& place;
    Prefetched& prefetched;
    int row, lane;
    int seen;      // the halo row, an index of SEEN_ROWS
    int further;   // its distance from the thread's row, elements

    __device__ inline Copier(const TransportArgs& args, const TilePlace& tile, Prefetched& prefetched)
        : args(args), place(tile.place), prefetched(prefetched), row(tile_row()), lane(tile_lane())
    {
        // Halo rows south of the tile, north of it, and the southern one of the values at the start.
        seen = row < HALO ? row : row < 2 * HALO - 1 ? TILE_ROWS + row : HALO - 1;
        const int at = seen - HALO;
        const int rows = place.is_inner ? at - row : row_of_grid(args, tile.first_row + at) - place.j;
        further = rows * pitch(args);
    }

    // Begins to copy the latest values of a level, at most the uppermost one.
    __device__ inline void latest(int k) const
    {
        const real* latest = Level(args, place, min(k, NZ - 1)).latest;
        copy_group(prefetched.latest.at(k)[row + HALO][lane], latest);
        if (row < 2 * HALO - 1) copy_group(prefetched.latest.at(k)[seen][lane], latest + further);
    }

    // Begins to copy the latest values of one level and the values at the start of the step of another.
    __device__ inline void tracer(int k, int k_start) const
    {
        const real* latest = Level(args, place, min(k, NZ - 1)).latest;
        const real* start = Level(args, place, min(k_start, NZ - 1)).start;
        copy_group(prefetched.latest.at(k)[row + HALO][lane], latest);
        copy_group(prefetched.start.at(k_start)[row + 1][lane], start);
        const bool at_start = row == 2 * HALO - 1;
        Cells& to = at_start ? prefetched.start.at(k_start)[0][lane] : prefetched.latest.at(k)[seen][lane];
        if (row < 2 * HALO) copy_group(to, (at_start ? start : latest) + further);
    }

    // Begins to copy the air fluxes of a level.
    __device__ inline void masses(int k) const
    {
        const Level level(args, place, min(k, NZ - 1));
        copy_group(prefetched.mass_x[row][lane], level.mass_x());
        copy_group(prefetched.mass_y[row][lane], level.mass_y());
        copy_group(prefetched.mass_z[row][lane], level.mass_z() + plane_of(args));
    }
};
