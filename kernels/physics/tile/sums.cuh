// Sums of the columns of a tile.
#pragma once

#include "physics/tile/work.cuh"

// One thread for each column stores its sums: one of the last row, whose threads rarely have active cells, so that
// precipitation is stored while other threads still work.
__device__ inline bool has_column_sums(const Position& at) { return at.row == ROWS - 1; }

template <class Tile>
__device__ inline bool is_column_sums_owner(const Position& at, const Tile& tile)
{
    return has_column_sums(at) && tile.place[at.column] != NOWHERE;
}

// Determines the offset of a column.
template <class Args, class Tile>
__device__ inline void column_sums_begin(const Args& a, const Position& at, Tile& tile)
{
    tile.place[at.column] = at.is_inside ? place_of(a, at) : NOWHERE;
}

// Sum of a field over the column of a lane, by all lanes of the last warp; lanes with the same column share its levels.
__device__ inline real column_sum(const Field& field, int column)
{
    constexpr int LANES_PER_COLUMN = WARP / TILE_COLUMNS;
    real sum = 0;
#pragma unroll
    for (int k = lane() / TILE_COLUMNS; k < NZ; k += LANES_PER_COLUMN) sum += field[k][column];
#pragma unroll
    for (int distance = TILE_COLUMNS; distance < WARP; distance *= 2)
        sum += __shfl_xor_sync(ALL_LANES, sum, distance);
    return sum;
}

// Stores the sums that the processes have added to a column since sedimentation, by the last warp; `clipped` is the
// water that clipping had added by then.
template <class Args, class Tile>
__device__ inline void column_sums_end(const Args& a, const Tile& tile, const Position& at,
                                     real clipped)
{
    const int place = tile.place[at.column];
    if (tile.clips != 0) {
        clipped += column_sum(tile.clipped, at.column);
        if (is_column_sums_owner(at, tile)) a.clipped[place] = clipped;
    }
    if (TRACK_MISMATCH) {
        const real mismatch = column_sum(tile.water, at.column);
        if (is_column_sums_owner(at, tile)) a.mass_mismatch[place] = mismatch;
    }
}
