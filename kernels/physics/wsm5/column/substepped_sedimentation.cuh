// Sub-stepped sedimentation in one column, by one thread. Names and order as in
// src/physics/wsm5/substepped_sedimentation.rs.
#pragma once

#include "physics/wsm5/column/column.cuh"
#include "physics/wsm5/substepped_sedimentation.cuh"

// Work space for sub-stepped sedimentation of one species.
struct SubsteppedFall {
    real courant[NZ];
    real leaving[NZ];
    real arriving[NZ];
};

// Divides the sedimentation in the lowest `active_layers` layers into equal sub-steps.
__device__ inline void divide(const Column& column, int active_layers, real substeps, SubsteppedFall& descent)
{
#pragma unroll 1
    for (int k = 0; k < active_layers; ++k) descent.leaving[k] = descent.courant[k] / substeps;
#pragma unroll 1
    for (int k = 0; k + 1 < active_layers; ++k)
        descent.arriving[k] =
            substepped_sedimentation::arriving(descent.leaving[k + 1], column.air[k], column.air[k + 1]);
}

// One sub-step in the lowest `active_layers` layers; the species is zero above them. Returns the outflow of the lowest
// layer, kg kg-1 of its air.
template <Species KIND>
__device__ inline real fall_once(const SubsteppedFall& descent, int active_layers, Column& column)
{
    const real ground = descent.leaving[0] * amount<KIND>(column.cells[0]);
    const int highest = active_layers - 1;
    // From the ground up, so that the layer above still has its old content.
#pragma unroll 1
    for (int k = 0; k < highest; ++k) {
        const real above = amount<KIND>(column.cells[k + 1]);
        real& q = amount<KIND>(column.cells[k]);
        q = substepped_sedimentation::passed(q, descent.leaving[k], descent.arriving[k], above);
    }
    real& q = amount<KIND>(column.cells[highest]);
    q = q - descent.leaving[highest] * q;
    return ground;
}

// Sedimentation of rain and snow, and melting of snow. Returns the outflow of the lowest layer for each species, kg
// kg-1 of its air.
__device__ inline void sediment_rain_and_snow(const Wsm5Params& p, real dt_cloud, Column& column,
                                          real (&fallen)[FALLING_SPECIES])
{
    const int highest =
        max(highest_with<Species::RAIN>(column), highest_with<Species::SNOW>(column));
    if (highest < 0) return;
    const int active_layers = highest + 1;
    SubsteppedFall rain, snow;
    Slope snow_slope[NZ];
    real largest = 0;
    // Empty layers count too, with the speed of the smallest particles.
#pragma unroll 1
    for (int k = 0; k < NZ; ++k) {
        const Cell& cell = column.cells[k];
        const Air& air = column.air[k];
        const Slope rain_slope = slope::slope_rain(p, air.rho, cell.qr);
        snow_slope[k] = substepped_sedimentation::snow_slope(p, air, cell);
        const real rain_speed = slope::fall_speed(p.pvtr, rain_slope, air.density_factor);
        const real snow_speed = slope::fall_speed(p.pvts, snow_slope[k], air.density_factor);
        rain.courant[k] = substepped_sedimentation::courant(rain_speed, air.dz, dt_cloud);
        snow.courant[k] = substepped_sedimentation::courant(snow_speed, air.dz, dt_cloud);
        largest = max(largest, max(rain.courant[k], snow.courant[k]));
    }
    const real substeps = substepped_sedimentation::number_of_substeps(largest);
    divide(column, active_layers, substeps, rain);
    divide(column, active_layers, substeps, snow);
    for (int step = 0; step < int(substeps); ++step) {
        fallen[int(Species::RAIN)] += fall_once<Species::RAIN>(rain, active_layers, column);
        fallen[int(Species::SNOW)] += fall_once<Species::SNOW>(snow, active_layers, column);
#pragma unroll 1
        for (int k = 0; k < active_layers; ++k)
            melt::melt_snow_in_substep(p, dt_cloud, substeps, column.air[k], snow_slope[k],
                                       column.cells[k]);
    }
}

// Sedimentation of ice. Returns the outflow of the lowest layer, kg kg-1 of its air.
__device__ inline real sediment_ice(const Wsm5Params& p, real dt_cloud, Column& column)
{
    const int highest = highest_with<Species::ICE>(column);
    if (highest < 0) return 0;
    const int active_layers = highest + 1;
    SubsteppedFall ice;
    real largest = 0;
#pragma unroll 1
    for (int k = 0; k < active_layers; ++k) {
        const Air& air = column.air[k];
        const real speed = fall_speed<Species::ICE>(p, air, column.cells[k].qi, 1);
        ice.courant[k] = substepped_sedimentation::courant(speed, air.dz, dt_cloud);
        largest = max(largest, ice.courant[k]);
    }
    const real substeps = substepped_sedimentation::number_of_substeps(largest);
    divide(column, active_layers, substeps, ice);
    real fallen = 0;
    for (int step = 0; step < int(substeps); ++step)
        fallen += fall_once<Species::ICE>(ice, active_layers, column);
    return fallen;
}

// Sedimentation of rain and snow, with melting of snow, and then of ice. Returns the precipitation of each species at
// the ground, kg m-2.
__device__ inline void sediment_substepped(const Wsm5Params& p, real dt_cloud, Column& column,
                                           real (&ground)[FALLING_SPECIES])
{
#pragma unroll 1
    for (int k = 0; k < NZ; ++k) column.qr_for_slope[k] = column.cells[k].qr;
    for (int s = 0; s < FALLING_SPECIES; ++s) ground[s] = 0;
    sediment_rain_and_snow(p, dt_cloud, column, ground);
    ground[int(Species::ICE)] = sediment_ice(p, dt_cloud, column);
    for (int s = 0; s < FALLING_SPECIES; ++s) ground[s] *= column.air[0].rho * column.air[0].dz;
}
