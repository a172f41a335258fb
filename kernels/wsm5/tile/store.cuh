// What a call leaves, put back into the fields.
#pragma once

#include "primitives/exact.cuh"
#include "wsm5/tile/load.cuh"

// One thread for each column looks after its sums.
__device__ inline bool is_accountant(const CloudArgs& a)
{
    return threadIdx.x < TILE_COLUMNS && number_of(threadIdx.x) < a.count;
}

// Begins with the sums of a column, and finds its place.
__device__ inline void open_account(const CloudArgs& a, Tile& tile, int column)
{
    tile.place[column] = place_of(a, number_of(column));
    tile.sum[column] = {0, 0, 0, 0, 0, 0, 0};
    for (int s = 0; s < SPECIES; ++s) tile.landing[s][column] = {0, 0, 0};
}

// Adds what a column has brought to the ground in a minor step to its sums, and forgets it.
__device__ inline void gather(const CloudArgs& a, Tile& tile, int column)
{
    Precipitation& sum = tile.sum[column];
    real ground[SPECIES];
#pragma unroll
    for (int s = 0; s < SPECIES; ++s) {
        const Landing landing = tile.landing[s][column];
        ground[s] = landing.ground;
        sum.fall_residual += landing.residual;
        sum.clipped += landing.clipped;
        tile.landing[s][column] = {0, 0, 0};
    }
    add_to_sums(a.dt_cloud, tile.dz[0][column], ground, sum);
}

// Writes the cells of a thread that have changed. What has fallen may have left a cell empty. In the place of the density, which nothing looks at any
// more, it leaves what the change of a cell weighs where its mass is not rho dz, kg m-2.
__device__ inline void store_cells(const CloudArgs& a, const Position& at, Tile& tile,
                                   unsigned active)
{
    const bool fell = (tile.fell | tile.falling.any()) >> at.column & 1;
#pragma unroll
    for (int m = 0; m < CELLS; ++m) {
        if (!at.has(m)) continue;
        const bool is_active = active >> m & 1;
        const int k = at.level(m), column = at.column;
        const int place = tile.place[column], here = k * a.level + place;
        const bool has_changed = is_active || fell;
        if (a.per_area != nullptr) {
            real gained = 0;
            if (has_changed)
                gained = (tile.qv[k][column] - a.qv[here]) + (tile.qc[k][column] - a.qc[here])
                         + (tile.qr[k][column] - a.qr[here]) + (tile.qi[k][column] - a.qi[here])
                         + (tile.qs[k][column] - a.qs[here]);
            tile.rho[k][column] = has_changed
                ? surplus(a, place, k, tile.rho[k][column], tile.dz[k][column]) * gained
                : real(0);
        }
        if (is_active) {
            a.theta[here] = exact_quotient(tile.t[k][column], __ldg(&a.exner[here])) - a.theta_base;
            a.qv[here] = tile.qv[k][column];
            a.qc[here] = tile.qc[k][column];
        }
        if (has_changed) {
            a.qr[here] = tile.qr[k][column];
            a.qi[here] = tile.qi[k][column];
            a.qs[here] = tile.qs[k][column];
        }
    }
}

// Writes the sums of a column; where nothing happens in the tile, nothing has been added up.
__device__ inline void close_account(const CloudArgs& a, const Tile& tile, int column, bool has_acted)
{
    Precipitation sum = tile.sum[column];
    real mass_mismatch = 0;
    if (has_acted) {
        for (int k = 0; k < NZ; ++k) sum.clipped += tile.clipped[k][column];
        if (a.per_area != nullptr)
            for (int k = 0; k < NZ; ++k) mass_mismatch += tile.rho[k][column];
    }
    store_surface(a, tile.place[column], sum, mass_mismatch);
}
