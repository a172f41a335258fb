// Results of a call, stored in the fields.
#pragma once

#include "physics/wsm5/tile/load.cuh"

// One thread for each column stores its sums: one of the last row, whose threads rarely have active cells, so that
// precipitation is stored while other threads still work.
__device__ inline bool has_column_sums(const Position& at) { return at.row == ROWS - 1; }

__device__ inline bool is_column_sums_owner(const Position& at, const Tile& tile)
{
    return has_column_sums(at) && tile.place[at.column] != NOWHERE;
}

// Determines the offset of a column.
__device__ inline void column_sums_begin(const Wsm5Args& a, const Position& at, Tile& tile)
{
    tile.place[at.column] = at.is_inside ? place_of(a, at) : NOWHERE;
}

// Adds the precipitation of a column in a minor step to its sums.
__device__ inline void gather(const Wsm5Args& a, const Tile& tile, int column, Precipitation& sum)
{
    real ground[FALLING_SPECIES];
#pragma unroll
    for (int s = 0; s < FALLING_SPECIES; ++s) {
        const bool has_fallen = columns_with_landing(tile, Species(s)) >> column & 1;
        const Landing landing = tile.landing[s][column];
        ground[s] = has_fallen ? landing.ground : real(0);
        sum.fall_residual += has_fallen ? landing.residual : real(0);
        sum.clipped += has_fallen ? landing.clipped : real(0);
    }
    add_to_sums(a.dt_cloud, lowest_depth(tile.layering, column), ground, sum);
}

// Stores a cell with temperature `t_before` at the start of the call; the fields of inactive cells are unchanged.
// Replaces the stored water of the cell by the mass mismatch of its change, kg m-2.
__device__ inline void store_cell(const Wsm5Args& a, int k, int column, real rho, real exner, real t_before,
                                  const Cell& cell, Tile& tile)
{
    const int place = tile.place[column], here = cell_of(a, k, place);
    const Fields to = fields_of(a);
    store_theta(a, here, exner, t_before, cell.t);
    to.qv[here] = cell.qv;
    to.qc[here] = cell.qc;
    to.qr[here] = cell.qr;
    to.qi[here] = cell.qi;
    to.qs[here] = cell.qs;
    if (TRACK_MISMATCH) {
        const real water = cell::water(cell), before = tile.water[k][column];
        if (nonfinite_indicator(cell, water) != 0) record_nonfinite(a, here, cell);
        tile.water[k][column] =
            mass_mismatch(a, place, k, rho, depth_in(a, tile, k, column), before, water);
    }
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
__device__ inline void column_sums_end(const Wsm5Args& a, const Tile& tile, const Position& at,
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
