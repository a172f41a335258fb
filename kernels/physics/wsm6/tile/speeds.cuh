// Terminal velocities of the species of a task of sedimentation. Snow and graupel have a common one, so that their
// layers arrive at the same heights: graupel lands after snow.
#pragma once

#include "physics/tile/sedimentation.cuh"
#include "physics/wsm6/tile/tile.cuh"

// The field of a species.
__device__ inline Field& field_of(Tile& tile, Species kind)
{
    if (kind == Species::GRAUPEL) return tile.qg;
    return kind == Species::RAIN ? tile.qr : kind == Species::SNOW ? tile.qs : tile.qi;
}

// Ice keeps its speed at departure.
__device__ inline bool keeps_speed(Species kind) { return kind == Species::ICE; }

// True if a task has snow and graupel.
__device__ inline bool has_snow(Species only) { return KINDS > 1 || only == Species::SNOW; }

// Index of snow among the species of a task.
constexpr int SNOW = KINDS > 1 ? int(Species::SNOW) : 0;

// Quantities that the speeds of a task depend on, in the layers of a lane.
struct Speeds {
    real n0s_factor[SLOTS];
    real departed[SLOTS];  // mixing ratio of graupel, kg kg-1
    real graupel[SLOTS];   // the same at arrival, once layers have arrived
    bool has_graupel;      // in any column of the warp
};

// Terminal velocities of a species in the layers of a lane; the species may be a run-time value, so that the code of
// sedimentation exists once.
__device__ inline void set_speeds(const Wsm6Params& p, Species kind, const Air (&air)[SLOTS], const real (&q)[SLOTS],
                                  const Speeds& speeds, real (&speed)[SLOTS])
{
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const real rho = air[m].rho, density_factor = air[m].density_factor;
        if (kind == Species::RAIN) {
            speed[m] = slope::fall_speed_rain(p.common, rho, density_factor, q[m]);
        } else if (kind == Species::SNOW) {
            const real ws = slope::fall_speed_snow(p.common, rho, density_factor, q[m], speeds.n0s_factor[m]);
            // The function of graupel gives the same where there is none.
            const real wg = speeds.has_graupel
                ? wsm6::slope::fall_speed_graupel(p, rho, density_factor, speeds.graupel[m]) : real(0);
            speed[m] = wsm6::slope::common_speed(ws, wg, q[m], speeds.graupel[m]);
        } else {
            speed[m] = slope::fall_speed_ice(p.common, rho, q[m], slope::ice_number(rho, q[m]));
        }
    }
}

__device__ inline void start_speeds(const Wsm6Params& p, Species only, const Tile& tile, int column, Speeds& speeds)
{
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) speeds.n0s_factor[m] = speeds.departed[m] = 0;
    speeds.has_graupel = false;
    if (has_snow(only)) {
        bool is_any = false;
#pragma unroll
        for (int m = 0; m < SLOTS; ++m) {
            const int k = min(level_of(m), NZ - 1);
            speeds.n0s_factor[m] = slope::snow_intercept_factor(p.common, tile.t[k][column]);
            const real graupel = tile.qg[k][column];
            speeds.departed[m] = has_level(m) ? graupel : real(0);
            is_any |= speeds.departed[m] > 0;
        }
        speeds.has_graupel = __any_sync(ALL_LANES, is_any);
    }
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) speeds.graupel[m] = speeds.departed[m];
}

// Density of graupel in the arrived layers.
__device__ inline void graupel_at_arrival(const Grid& grid, const Layers& layers, const Speeds& speeds,
                                          real (&density)[SLOTS])
{
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const real content = grid.air[m].rho * speeds.departed[m];
        const real arrived = sedimentation::arrived_density(content, grid.depth[m], layers.thickness[SNOW][m]);
        density[m] = has_level(m) ? arrived : real(0);
    }
}

__device__ inline void arrive_with(const Grid& grid, const Layers& layers, Speeds& speeds)
{
    if (!speeds.has_graupel) return;
    graupel_at_arrival(grid, layers, speeds, speeds.graupel);
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) speeds.graupel[m] /= grid.air[m].rho;
}

// Graupel lands where snow has, each with its own profile in the same layers.
__device__ inline void land_more(Tile& tile, Species only, int column, bool is_own, const Grid& grid,
                                 const Layers& layers, const Speeds& speeds)
{
    if (!has_snow(only)) return;
    if (!speeds.has_graupel) {
        if (member() == 0 && is_own) tile.landing[int(Species::GRAUPEL)][column] = {0, 0, 0};
        return;
    }
    LayersOf<1> graupel;
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        graupel.content[0][m] = grid.air[m].rho * speeds.departed[m];
        graupel.arrival[0][m] = layers.arrival[SNOW][m];
        graupel.thickness[0][m] = layers.thickness[SNOW][m];
    }
    graupel_at_arrival(grid, layers, speeds, graupel.density[0]);
    land(tile, grid, graupel, [](int) { return Species::GRAUPEL; }, column, is_own);
}
