// Shared memory of a block: the cells of several neighbouring columns. The mapping of threads is that of WSM5's tiles:
// see kernels/physics/wsm5/tile/tile.cuh.
#pragma once

#include "physics/mapping/nonfinite.cuh"
#include "physics/mapping/results.cuh"
#include "physics/tile/work.cuh"
#include "physics/wsm6/step.cuh"

// Graupel falls with snow.
enum class Species { RAIN, SNOW, ICE, GRAUPEL };
static_assert(FALLING_SPECIES == int(Species::ICE) + 1, "as in Rust");
static_assert(LANDING_SPECIES == int(Species::GRAUPEL) + 1, "as in Rust");

struct Tile {
    Field t, qv, qc, qr, qi, qs, qg;
    Field rho;
    Layering<HEIGHTS_KEPT>::Type layering;
    Field clipped;  // water that clipping has added in a cell, kg m-2
    Field water;    // all water of a cell before the call, for the mass mismatch, kg kg-1
    union {
        Field depth;  // of the layers, until heights are computed, m
        SedimentationWork fall[WARPS * GROUPS][KINDS];
        // Active cells, level and column: warm ones from the front, cold ones from the back.
        unsigned short active[MOST_ACTIVE];
    };
    Falling falling;
    Listed listed;
    Landing landing[LANDING_SPECIES][TILE_COLUMNS];
    Wsm6Precipitation sum[TILE_COLUMNS];  // of the minor steps before the current one
    int place[TILE_COLUMNS];  // of a column in a level of the fields, or NOWHERE
    int warm_count, cold_count;
    unsigned clips;  // non-zero if clipping has added water in any cell
};

static_assert(sizeof(Tile) == TILE_BYTES, "as much memory as Rust counts on");

__device__ inline Wsm6Cell cell_in(const Tile& tile, int k, int column)
{
    return {tile.t[k][column],  tile.qv[k][column], tile.qc[k][column], tile.qr[k][column],
            tile.qi[k][column], tile.qs[k][column], tile.qg[k][column]};
}

// Stores a cell in the tile.
__device__ inline void put(const Wsm6Cell& cell, int k, int column, Tile& tile)
{
    tile.t[k][column] = cell.t;
    tile.qv[k][column] = cell.qv;
    tile.qc[k][column] = cell.qc;
    tile.qr[k][column] = cell.qr;
    tile.qi[k][column] = cell.qi;
    tile.qs[k][column] = cell.qs;
    tile.qg[k][column] = cell.qg;
}

// The fields of the state and of the air.
struct Fields {
    real *theta, *qv, *qc, *qr, *qi, *qs, *qg;
    const real *rho, *exner, *p, *dz;
};

// Pointers of the fields: the arguments of the kernel; or, in a kernel for a region, constant distances from two
// pointers, as in kernels/physics/wsm5/mapping/fields.cuh.
__device__ inline Fields fields_of(const Wsm6Args& a)
{
    constexpr long long SIZE = 1ll * NZ * REGION_LEVEL, MOST_ELEMENTS = (1 << 23) / sizeof(real);
    if (SIZE == 0 || 6 * SIZE > MOST_ELEMENTS)
        return {a.theta, a.qv, a.qc, a.qr, a.qi, a.qs, a.qg, a.rho, a.exner, a.p, a.dz};
    return {a.theta, a.qv, a.qv + SIZE, a.qv + 2 * SIZE, a.qv + 3 * SIZE, a.qv + 4 * SIZE, a.qv + 5 * SIZE,
            a.rho, a.rho + SIZE, a.rho + 2 * SIZE, a.rho + 3 * SIZE};
}

// Non-zero (NaN) if the temperature of a cell or its `water`, the sum of all water, is infinite or NaN.
__device__ inline real nonfinite_indicator(const Wsm6Cell& cell, real water)
{
    // x - x is 0 for finite x only.
    return (cell.t - cell.t) + (water - water);
}

// Notes the first field of a cell that is infinite or NaN, if there is one and notes are on.
__device__ inline void record_nonfinite(const Wsm6Args& a, int here, const Wsm6Cell& cell)
{
    record_nonfinite_of(a, here, {cell.t, cell.qv, cell.qc, cell.qr, cell.qi, cell.qs, cell.qg});
}
