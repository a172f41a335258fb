// Semi-Lagrangian sedimentation in one column, by one thread. Names and order as in
// src/physics/wsm5/sedimentation_work.rs.
#pragma once

#include "physics/wsm5/column/column.cuh"
#include "physics/wsm5/sedimentation.cuh"

// Work space of sedimentation.
struct SedimentationWork {
    real content[NZ];
    real speed[NZ];
    real mean_speed[NZ];
    real interface_speed[NZ + 1];
    real arrival[NZ + 1];
    real thickness[NZ + 1];
    real density[NZ + 1];
    LayerProfile profile[NZ];
};

// Mass of the species in the lowest `nz` layers of the column, kg m-2.
__device__ inline real column_mass(const SedimentationWork& work, const real* height, int nz)
{
    real mass = 0;
#pragma unroll 1
    for (int k = 0; k < nz; ++k) mass += work.content[k] * (height[k + 1] - height[k]);
    return mass;
}

// Speeds of the interfaces from the speeds of the layers.
__device__ inline void set_interface_speeds(SedimentationWork& work, const real* height, int nz, real dt_cloud)
{
    const real* u = work.mean_speed;
    real* w = work.interface_speed;
    w[0] = u[0];
    w[1] = sedimentation::interface_speed_outer(u[0], u[1]);
#pragma unroll 1
    for (int k = 2; k < nz - 1; ++k)
        w[k] = sedimentation::interface_speed_inner(u[k - 2], u[k - 1], u[k], u[k + 1]);
    w[nz - 1] = sedimentation::interface_speed_outer(u[nz - 2], u[nz - 1]);
    w[nz] = u[nz - 1];
    // The top of a group of precipitating layers falls as fast as the layer below it.
#pragma unroll 1
    for (int k = 1; k < nz; ++k)
        if (u[k] == 0) w[k] = u[k - 1];
#pragma unroll 1
    for (int k = nz - 1; k >= 0; --k)
        w[k] = sedimentation::limited_speed(w[k], w[k + 1], height[k + 1] - height[k], dt_cloud);
}

// Moves the interfaces, and computes thickness and density of the layers between them.
__device__ inline void arrive(SedimentationWork& work, const real* height, int nz, real dt_cloud)
{
    set_interface_speeds(work, height, nz, dt_cloud);
#pragma unroll 1
    for (int k = 0; k <= nz; ++k)
        work.arrival[k] = sedimentation::arrival(height[k], work.interface_speed[k], dt_cloud);
#pragma unroll 1
    for (int k = 0; k < nz; ++k) {
        work.thickness[k] = work.arrival[k + 1] - work.arrival[k];
        const real depth = height[k + 1] - height[k];
        work.density[k] = sedimentation::arrived_density(work.content[k], depth, work.thickness[k]);
    }
    work.thickness[nz] = height[nz] - work.arrival[nz];
    work.density[nz] = 0;
}

// Density profiles within the arrived layers.
__device__ inline void set_profiles(SedimentationWork& work, int nz)
{
    const real* q = work.density;
    const real* d = work.thickness;
    work.profile[0] = LayerProfile{q[0], 0};
    real below = sedimentation::rise(q[0], q[1], d[0], d[1]);
#pragma unroll 1
    for (int k = 1; k < nz; ++k) {
        const real above = sedimentation::rise(q[k], q[k + 1], d[k], d[k + 1]);
        work.profile[k] = sedimentation::profile(q[k], d[k], below, above);
        below = above;
    }
}

// Mean density between two heights, which are in the arrived layers `bottom` and `top`.
__device__ inline real mean_between(const SedimentationWork& work, int bottom, int top, real low, real high)
{
    const real* d = work.thickness;
    const real* q = work.density;
    const real z_low = low - work.arrival[bottom];
    const real z_high = high - work.arrival[top];
    if (bottom == top) return sedimentation::mean_within(work.profile[bottom], z_low, z_high);
    real depth = d[bottom] - z_low;
    real mass = q[bottom] * d[bottom] - sedimentation::mass_up_to(work.profile[bottom], z_low);
    for (int j = bottom + 1; j < top; ++j) {
        depth += d[j];
        mass += q[j] * d[j];
    }
    depth += z_high;
    mass += sedimentation::mass_up_to(work.profile[top], z_high);
    return mass / depth;
}

// Remaps the arrived layers to the layers of the grid.
__device__ inline void remap(SedimentationWork& work, const real* height, int nz)
{
    int bottom = 0, top = 0;
#pragma unroll 1
    for (int k = 0; k < nz; ++k) {
        const real low = height[k], high = height[k + 1];
        work.content[k] = 0;
        if (low >= work.arrival[nz]) continue;
        while (bottom < nz - 1 && low > work.arrival[bottom + 1]) ++bottom;
        while (top < nz && high > work.arrival[top]) ++top;
        // As in the original, the search ignores the highest arrived interface.
        if (top == nz && high > work.arrival[nz - 1]) continue;
        work.content[k] = mean_between(work, bottom, top - 1, low, high);
    }
}

// Mass that has arrived below the ground, kg m-2.
__device__ inline real accumulate_precipitation(const SedimentationWork& work, int nz)
{
    real ground = 0;
#pragma unroll 1
    for (int k = 0; k < nz && work.arrival[k] < 0; ++k)
        ground += sedimentation::mass_in_ground(work.arrival[k], work.arrival[k + 1], work.thickness[k],
                                       work.density[k]);
    return ground;
}

// Sedimentation of a species in a minor step. Returns the precipitation at the ground, kg m-2.
template <Species KIND>
__device__ inline real sediment(const Wsm5Params& p, real dt_cloud, Column& column, Precipitation& sum)
{
    const int highest = highest_with<KIND>(column);
    if (highest < 0) return 0;
    const int active_layers = sedimentation::active_layers(highest, NZ);
    SedimentationWork work;
    real n0s_factor[NZ];
    real content = 0;
#pragma unroll 1
    for (int k = 0; k < active_layers; ++k) {
        Cell& cell = column.cells[k];
        const Air& air = column.air[k];
        n0s_factor[k] = KIND == Species::SNOW ? slope::snow_intercept_factor(p, cell.t) : real(1);
        work.content[k] = air.rho * amount<KIND>(cell);
        work.speed[k] = fall_speed<KIND>(p, air, amount<KIND>(cell), n0s_factor[k]);
        work.mean_speed[k] = work.speed[k];
        content += work.content[k];
    }
    real ground = 0;
    if (content > 0) {
        const real before = column_mass(work, column.height, active_layers);
        arrive(work, column.height, active_layers, dt_cloud);
        // Ice keeps its speed at departure.
        if (KIND != Species::ICE) {
#pragma unroll 1
            for (int k = 0; k < active_layers; ++k) {
                const Air& air = column.air[k];
                const real then = fall_speed<KIND>(p, air, work.density[k] / air.rho, n0s_factor[k]);
                work.mean_speed[k] = sedimentation::mean_speed(work.speed[k], then);
            }
            arrive(work, column.height, active_layers, dt_cloud);
        }
        set_profiles(work, active_layers);
        remap(work, column.height, active_layers);
        ground = accumulate_precipitation(work, active_layers);
        sum.fall_residual += column_mass(work, column.height, active_layers) + ground - before;
    }
#pragma unroll 1
    for (int k = 0; k < active_layers; ++k)
        sum.clipped += sedimentation::store_content(column.air[k], work.content[k], amount<KIND>(column.cells[k]));
    return ground;
}

// Sedimentation of rain and snow, melting of snow, sedimentation of ice. Returns the precipitation of each species at
// the ground, kg m-2.
__device__ inline void sediment_semi_lagrangian(const Wsm5Params& p, real dt_cloud, Column& column, Precipitation& sum,
                                  real (&ground)[FALLING_SPECIES])
{
    ground[int(Species::RAIN)] = sediment<Species::RAIN>(p, dt_cloud, column, sum);
    ground[int(Species::SNOW)] = sediment<Species::SNOW>(p, dt_cloud, column, sum);
#pragma unroll 1
    for (int k = 0; k < NZ; ++k) {
        column.qr_for_slope[k] = column.cells[k].qr;
        melt::melt_snow(p, dt_cloud, column.air[k], column.cells[k]);
    }
    ground[int(Species::ICE)] = sediment<Species::ICE>(p, dt_cloud, column, sum);
}
