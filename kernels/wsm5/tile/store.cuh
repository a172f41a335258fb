// What a call leaves, put back into the fields.
#pragma once

#include "wsm5/tile/load.cuh"

// Adds what a column has brought to the ground in a minor step to its sums, and forgets it.
__device__ inline void gather(const CloudArguments& a, Tile& tile, int column)
{
    Precipitation& sum = tile.sum[column];
    Landing landing[SPECIES];
#pragma unroll
    for (int s = 0; s < SPECIES; ++s) {
        landing[s] = tile.landing[s][column];
        sum.fall_residual += landing[s].residual;
        sum.clipped += landing[s].clipped;
        tile.landing[s][column] = {0, 0, 0};
    }
    if (FALLOUT == Fallout::Substepped) sum.rainncv = sum.snowncv = sum.sr = 0;
    reach_ground(a.dt_cloud, tile.dz[0][column], landing[int(Species::RAIN)].ground,
                 landing[int(Species::SNOW)].ground, landing[int(Species::ICE)].ground, sum);
}

// Writes the cells of a thread that have changed; `fell` tells the columns in which something has
// fallen, and may have left a cell empty.
__device__ inline void store_cells(const CloudArguments& a, const Position& at, const Tile& tile,
                                   const Marks& marks, unsigned fell)
{
#pragma unroll
    for (int m = 0; m < CELLS; ++m) {
        if (!at.has(m)) continue;
        const bool is_active = marks.active >> m & 1, is_clipped = marks.clipped >> m & 1;
        const int k = at.level(m), column = at.column;
        const int here = k * a.level + at.place;
        if (is_active) {
            a.theta[here] = tile.t[k][column] / __ldg(&a.exner[here]) - a.theta_base;
            a.qv[here] = tile.qv[k][column];
        }
        if (is_active || is_clipped) a.qc[here] = tile.qc[k][column];
        if (is_active || is_clipped || (fell >> column & 1)) {
            a.qr[here] = tile.qr[k][column];
            a.qi[here] = tile.qi[k][column];
            a.qs[here] = tile.qs[k][column];
        }
    }
}

// Writes what has reached the ground in a column.
__device__ inline void store_surface(const CloudArguments& a, int place, const Precipitation& sum)
{
    // Both are sums over the run.
    if (sum.rain > 0) a.rain[place] += sum.rain;
    if (sum.snow > 0) a.snow[place] += sum.snow;
    // A millimetre of water is a kilogram per square metre.
    a.fallen[place] = sum.rain;
    a.rainncv[place] = sum.rainncv;
    a.snowncv[place] = sum.snowncv;
    a.sr[place] = sum.sr;
    a.fall_residual[place] = sum.fall_residual;
    a.clipped[place] = sum.clipped;
}
