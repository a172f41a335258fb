// Terminal velocities of the species of a task of sedimentation.
#pragma once

#include "physics/tile/sedimentation.cuh"
#include "physics/wsm5/tile/tile.cuh"

// The field of a species.
__device__ inline Field& field_of(Tile& tile, Species kind)
{
    return kind == Species::RAIN ? tile.qr : kind == Species::SNOW ? tile.qs : tile.qi;
}

// Ice, the last species, keeps its speed at departure.
__device__ inline bool keeps_speed(Species kind) { return kind == Species::ICE; }

// The factor of the snow intercept, which does not change during sedimentation.
struct Speeds {
    real n0s_factor[SLOTS];
};

// Terminal velocities of a species in the layers of a lane.
template <Species KIND>
__device__ inline void set_speeds(const Wsm5Params& p, const Air (&air)[SLOTS], const real (&q)[SLOTS],
                                  const Speeds& speeds, real (&speed)[SLOTS])
{
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) speed[m] = fall_speed<KIND>(p, air[m], q[m], speeds.n0s_factor[m]);
}

// Terminal velocities of a species that may be a run-time value, so that the code of sedimentation exists once.
__device__ inline void set_speeds(const Wsm5Params& p, Species kind, const Air (&air)[SLOTS],
                                  const real (&q)[SLOTS], const Speeds& speeds, real (&speed)[SLOTS])
{
    if (kind == Species::RAIN) set_speeds<Species::RAIN>(p, air, q, speeds, speed);
    else if (kind == Species::SNOW) set_speeds<Species::SNOW>(p, air, q, speeds, speed);
    else set_speeds<Species::ICE>(p, air, q, speeds, speed);
}

__device__ inline void start_speeds(const Wsm5Params& p, Species only, const Tile& tile, int column, Speeds& speeds)
{
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) speeds.n0s_factor[m] = 0;
    if (KINDS > 1 || only == Species::SNOW) {
#pragma unroll
        for (int m = 0; m < SLOTS; ++m)
            speeds.n0s_factor[m] = slope::snow_intercept_factor(p, tile.t[min(level_of(m), NZ - 1)][column]);
    }
}

// Nothing that speeds depend on changes until arrival.
__device__ inline void arrive_with(const Grid&, const Layers&, Speeds&) {}

// Nothing falls with another species.
__device__ inline void land_more(Tile&, Species, int, bool, const Grid&, const Layers&, const Speeds&) {}
