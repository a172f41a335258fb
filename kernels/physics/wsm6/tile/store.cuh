// Results of a call, stored in the fields.
#pragma once

#include "physics/tile/sums.cuh"
#include "physics/wsm6/tile/load.cuh"

// Adds the precipitation of a column in a minor step to its sums.
__device__ inline void gather(const Wsm6Args& a, const Tile& tile, int column, Wsm6Precipitation& sum)
{
    real ground[LANDING_SPECIES];
#pragma unroll
    for (int s = 0; s < LANDING_SPECIES; ++s) {
        const Species task = Species(s) == Species::GRAUPEL ? Species::SNOW : Species(s);
        const bool has_fallen = columns_of(tile, task) >> column & 1;
        const Landing landing = tile.landing[s][column];
        ground[s] = has_fallen ? landing.ground : real(0);
        sum.fall_residual += has_fallen ? landing.residual : real(0);
        sum.clipped += has_fallen ? landing.clipped : real(0);
    }
    wsm6::step::deposit(a.dt_cloud, lowest_depth(tile.layering, column), ground[int(Species::RAIN)],
                        ground[int(Species::SNOW)], ground[int(Species::GRAUPEL)], ground[int(Species::ICE)], sum);
}

// Stores a cell with temperature `t_before` at the start of the call; the fields of inactive cells are unchanged.
// Replaces the stored water of the cell by the mass mismatch of its change, kg m-2.
__device__ inline void store_cell(const Wsm6Args& a, int k, int column, real rho, real exner, real t_before,
                                  const Wsm6Cell& cell, Tile& tile)
{
    const int place = tile.place[column], here = cell_of(a, k, place);
    const Fields to = fields_of(a);
    store_theta(a, here, exner, t_before, cell.t);
    to.qv[here] = cell.qv;
    to.qc[here] = cell.qc;
    to.qr[here] = cell.qr;
    to.qi[here] = cell.qi;
    to.qs[here] = cell.qs;
    to.qg[here] = cell.qg;
    if (TRACK_MISMATCH) {
        const real water = wsm6::cell::water(cell), before = tile.water[k][column];
        if (nonfinite_indicator(cell, water) != 0) record_nonfinite(a, here, cell);
        tile.water[k][column] = mass_mismatch(a, place, k, rho, depth_in(a, tile, k, column), before, water);
    }
}

// Stores the precipitation of a column, and the mass mismatch of its changes.
__device__ inline void store_surface(const Wsm6Args& a, int place, const Wsm6Precipitation& sum, real mass_mismatch)
{
    if (TRACK_MISMATCH) a.mass_mismatch[place] = mass_mismatch;
    // These are sums over the run. Atomic operations without a result need not wait for the old values; no other thread
    // adds to them.
    if (sum.rain > 0) atomicAdd(&a.rain[place], sum.rain);
    if (sum.snow > 0) atomicAdd(&a.snow[place], sum.snow);
    if (sum.graupel > 0) atomicAdd(&a.graupel[place], sum.graupel);
    // A millimetre of water is a kilogram per square metre.
    a.fallen[place] = sum.rain;
    a.rainncv[place] = sum.rain;
    a.snowncv[place] = sum.snow;
    a.graupelncv[place] = sum.graupel;
    a.sr[place] = sum.sr;
    a.fall_residual[place] = sum.fall_residual;
    a.clipped[place] = sum.clipped;
}
