// Results of a call, stored in the fields.
#pragma once

#include "physics/tile/sums.cuh"
#include "physics/wsm5/tile/load.cuh"

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
