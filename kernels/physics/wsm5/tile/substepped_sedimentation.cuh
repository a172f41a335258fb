// Sub-stepped sedimentation in one column, by one warp: see src/physics/wsm5/substepped_sedimentation.rs.
//
// Levels are distributed over the lanes. In every sub-step a lane reads the content of the levels above its own.
#pragma once

#include "physics/wsm5/melt.cuh"
#include "physics/wsm5/substepped_sedimentation.cuh"
#include "physics/tile/warp.cuh"

__device__ inline Air air_of_sedimentation(const Wsm5Args& a, const Tile& tile, int k, int column)
{
    return air_of(tile.rho[k][column], depth_in(a, tile, k, column));
}

// A species in the levels of a lane. Zero in slots without a level.
struct SubsteppedFall {
    real q[LEVELS_PER_LANE];
    real courant[LEVELS_PER_LANE];
    real leaving[LEVELS_PER_LANE];   // fraction that leaves a level in a sub-step
    real arriving[LEVELS_PER_LANE];  // fraction of the content of the level above that arrives
};

// Divides the sedimentation of a species into equal sub-steps.
__device__ inline void divide(const Wsm5Args& a, const Tile& tile, int column, real substeps, SubsteppedFall& descent)
{
#pragma unroll
    for (int m = 0; m < LEVELS_PER_LANE; ++m) descent.leaving[m] = descent.courant[m] / substeps;
#pragma unroll
    for (int m = 0; m < LEVELS_PER_LANE; ++m) {
        const int k = lane() + m * WARP;
        const real leaving_above = next_level(descent.leaving, m);
        if (k + 1 >= NZ) continue;
        descent.arriving[m] =
            substepped_sedimentation::arriving(leaving_above, air_of_sedimentation(a, tile, k, column),
                                               air_of_sedimentation(a, tile, k + 1, column));
    }
}

// One sub-step. Returns the outflow of the lowest layer in the lane that has it.
__device__ inline real fall_once(SubsteppedFall& descent)
{
    const real ground = descent.leaving[0] * descent.q[0];
#pragma unroll
    for (int m = 0; m < LEVELS_PER_LANE; ++m) {
        // From the ground up, so that the layer above still has its old content.
        const real q_above = next_level(descent.q, m);
        // Nothing arrives in the highest level.
        const bool is_lid = lane() + m * WARP + 1 >= NZ;
        descent.q[m] =
            substepped_sedimentation::passed(descent.q[m], descent.leaving[m], descent.arriving[m],
                                             is_lid ? real(0) : q_above);
    }
    return ground;
}

// Sedimentation of all species, rain and snow with the same sub-steps, and melting of snow. The latencies of the
// species overlap.
__device__ inline void sediment_column(const Wsm5Args& a, Tile& tile, int column)
{
    const Wsm5Params& p = a.params;
    SubsteppedFall rain = {}, snow = {}, ice = {};
    Cell cell[LEVELS_PER_LANE] = {};
    Air air[LEVELS_PER_LANE] = {};
    Slope slope[LEVELS_PER_LANE] = {};
    real largest = 0, largest_ice = 0;
#pragma unroll
    for (int m = 0; m < LEVELS_PER_LANE; ++m) {
        const int k = lane() + m * WARP;
        if (k >= NZ) continue;
        const int at = cell_of(a, k, tile.place[column]);
        air[m] = air_of_sedimentation(a, tile, k, column);
        air[m].p = a.p[at];
        air[m].heat_capacity = thermo::heat_capacity(a.qv[at]);
        cell[m] = {tile.t[k][column], 0, 0, tile.qr[k][column], tile.qi[k][column], tile.qs[k][column]};
        slope[m] = substepped_sedimentation::snow_slope(p, air[m], cell[m]);
        const real rain_speed =
            slope::fall_speed(p.pvtr, slope::slope_rain(p, air[m].rho, cell[m].qr), air[m].density_factor);
        const real snow_speed = slope::fall_speed(p.pvts, slope[m], air[m].density_factor);
        const real number = slope::ice_number(air[m].rho, cell[m].qi);
        const real ice_speed = slope::fall_speed_ice(p, air[m].rho, cell[m].qi, number);
        rain.q[m] = cell[m].qr;
        snow.q[m] = cell[m].qs;
        ice.q[m] = cell[m].qi;
        rain.courant[m] = substepped_sedimentation::courant(rain_speed, air[m].dz, a.dt_cloud);
        snow.courant[m] = substepped_sedimentation::courant(snow_speed, air[m].dz, a.dt_cloud);
        ice.courant[m] = substepped_sedimentation::courant(ice_speed, air[m].dz, a.dt_cloud);
        largest = max(largest, max(rain.courant[m], snow.courant[m]));
        largest_ice = max(largest_ice, ice.courant[m]);
    }
    const int steps = warp_max(int(substepped_sedimentation::number_of_substeps(largest)));
    const int ice_steps = warp_max(int(substepped_sedimentation::number_of_substeps(largest_ice)));
    const real substeps = steps;
    divide(a, tile, column, substeps, rain);
    divide(a, tile, column, substeps, snow);
    divide(a, tile, column, ice_steps, ice);

    real rain_fallen = 0, snow_fallen = 0, ice_fallen = 0;
    for (int step = 0; step < steps; ++step) {
        rain_fallen += fall_once(rain);
        snow_fallen += fall_once(snow);
#pragma unroll
        for (int m = 0; m < LEVELS_PER_LANE; ++m) {
            cell[m].qr = rain.q[m];
            cell[m].qs = snow.q[m];
            melt::melt_snow_in_substep(p, a.dt_cloud, substeps, air[m], slope[m], cell[m]);
            rain.q[m] = cell[m].qr;
            snow.q[m] = cell[m].qs;
        }
    }
    for (int step = 0; step < ice_steps; ++step) ice_fallen += fall_once(ice);
#pragma unroll
    for (int m = 0; m < LEVELS_PER_LANE; ++m) {
        const int k = lane() + m * WARP;
        if (k >= NZ) continue;
        tile.t[k][column] = cell[m].t;
        tile.qr[k][column] = cell[m].qr;
        tile.qi[k][column] = ice.q[m];
        tile.qs[k][column] = cell[m].qs;
    }
    if (lane() == 0) {
        const real ground = air[0].rho * air[0].dz;
        tile.landing[int(Species::RAIN)][column] = {ground * rain_fallen, 0, 0};
        tile.landing[int(Species::SNOW)][column] = {ground * snow_fallen, 0, 0};
        tile.landing[int(Species::ICE)][column] = {ground * ice_fallen, 0, 0};
    }
}

// Sedimentation in the tile, one task for each column.
__device__ inline void sediment_in_tile(const Wsm5Args& a, Tile& tile)
{
    const unsigned columns = tile.falling.any();
    for (int task = warp(); task < __popc(columns); task += WARPS) sediment_column(a, tile, nth_set_bit(columns, task));
}
