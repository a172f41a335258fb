// Shared memory of a block: the cells of several neighbouring columns.
//
// The mapping of threads changes from phase to phase. For loads, neighbouring threads have neighbouring columns of one
// level, as in the fields. In sedimentation a group of lanes has one column and its lanes have the levels. In the
// processes a thread has any active cell, and stores it.
#pragma once

#include "physics/tile/work.cuh"
#include "physics/wsm5/mapping/column_results.cuh"
#include "physics/wsm5/mapping/fields.cuh"
#include "physics/wsm5/mapping/nonfinite.cuh"

// Values at the start of the minor step for sub-stepped sedimentation.
struct Start {
    Field t;
    Field qr;
};

struct Nothing {};

template <Sedimentation> struct Kept { typedef Nothing Type; };
template <> struct Kept<Sedimentation::Substepped> { typedef Start Type; };

__device__ inline void keep(Start& start, int k, int column, real t, real qr)
{
    start.t[k][column] = t;
    start.qr[k][column] = qr;
}

__device__ inline void keep(Nothing&, int, int, real, real) {}

struct Tile {
    Field t, qv, qc, qr, qi, qs;
    Field rho;
    Layering<HEIGHTS_KEPT>::Type layering;
    Field clipped;  // water that clipping has added in a cell, kg m-2
    Field water;    // all water of a cell before the call, for the mass mismatch, kg kg-1
    Kept<FALLOUT>::Type start;
    union {
        Field depth;  // of the layers, until heights are computed, m
        SedimentationWork fall[WARPS * GROUPS][KINDS];
        // Active cells, level and column: warm ones from the front, cold ones from the back.
        unsigned short active[MOST_ACTIVE];
    };
    Falling falling;
    Listed listed;
    Landing landing[FALLING_SPECIES][TILE_COLUMNS];
    Precipitation sum[TILE_COLUMNS];  // of the minor steps before the current one
    int place[TILE_COLUMNS];  // of a column in a level of the fields, or NOWHERE
    int warm_count, cold_count;
    unsigned clips;  // non-zero if clipping has added water in any cell
};

static_assert(sizeof(Tile) == TILE_BYTES, "as much memory as Rust counts on");

// The columns with results of a species: in the sub-stepped variant melting snow gives rain in columns without rain.
__device__ inline unsigned columns_with_landing(const Tile& tile, Species kind)
{
    return FALLOUT == Sedimentation::Substepped ? tile.falling.any() : columns_of(tile, kind);
}

__device__ inline Cell cell_in(const Tile& tile, int k, int column)
{
    return {tile.t[k][column],  tile.qv[k][column], tile.qc[k][column],
            tile.qr[k][column], tile.qi[k][column], tile.qs[k][column]};
}

// Stores a cell in the tile.
__device__ inline void put(const Cell& cell, int k, int column, Tile& tile)
{
    tile.t[k][column] = cell.t;
    tile.qv[k][column] = cell.qv;
    tile.qc[k][column] = cell.qc;
    tile.qr[k][column] = cell.qr;
    tile.qi[k][column] = cell.qi;
    tile.qs[k][column] = cell.qs;
}
