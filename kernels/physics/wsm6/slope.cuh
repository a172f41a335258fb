// Size distribution and terminal velocity of graupel, and the common terminal velocity of snow and graupel. See
// src/physics/wsm6/slope.rs.
#pragma once

#include "physics/wsm5/slope.cuh"

namespace wsm6::slope {

// Slope of the graupel size distribution. See src/physics/wsm6/slope.rs.
__device__ inline Slope slope_graupel(const Wsm6Params& p, real rho, real qg)
{
    const bool is_enough = qg > Q_PRECIPITATION_MIN;
    const real quotient = p.graupel.pidn0g / (qg * rho);
    const real length = 1 / sqrt(sqrt(quotient));
    const real power = power_of_root(length, quotient, p.graupel.bvtg);
    return Slope{is_enough ? length : p.graupel.slope_min, is_enough ? power : p.graupel.slope_min_b};
}

// Mean fall speed of graupel by itself, 0 without graupel. See src/physics/wsm6/slope.rs.
__device__ inline real fall_speed_graupel(const Wsm6Params& p, real rho, real density_factor, real qg)
{
    const real speed = ::slope::fall_speed(p.graupel.pvtg, slope_graupel(p, rho, qg), density_factor);
    return qg <= 0 ? real(0) : speed;
}

// Mean fall speed of snow and graupel together, 0 without either. See src/physics/wsm6/slope.rs.
__device__ inline real common_speed(real ws, real wg, real qs, real qg)
{
    const real sum = qs + qg;
    const real speed = (ws * qs + wg * qg) / sum;
    return sum <= Q_COMMON_MIN ? real(0) : speed;
}

// Mean fall speed of snow and graupel in sedimentation. See src/physics/wsm6/slope.rs.
__device__ inline real fall_speed_snow_graupel(
    const Wsm6Params& p, real rho, real density_factor, real n0s_factor, real qs, real qg)
{
    const real ws = ::slope::fall_speed_snow(p.common, rho, density_factor, qs, n0s_factor);
    const real wg = fall_speed_graupel(p, rho, density_factor, qg);
    return common_speed(ws, wg, qs, qg);
}

}  // namespace wsm6::slope
