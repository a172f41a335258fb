// Size distributions: slopes of rain and snow, numbers of ice crystals, and the resulting terminal velocities. See
// src/physics/wsm5/slope.rs.
#pragma once

#include "primitives/power_of_root.cuh"

namespace slope {

// No branches in this file, since neighbouring threads rarely agree.

// Slope of the rain size distribution. See src/physics/wsm5/slope.rs.
__device__ inline Slope slope_rain(const Wsm5Params& p, real rho, real qr)
{
    const bool is_enough = qr > Q_PRECIPITATION_MIN;
    const real quotient = p.pidn0r / (qr * rho);
    const real length = 1 / sqrt(sqrt(quotient));
    const real power = power_of_root(length, quotient, p.bvtr);
    return Slope{is_enough ? length : p.slope_rain_min, is_enough ? power : p.slope_rain_min_b};
}

// Slope of the snow size distribution. See src/physics/wsm5/slope.rs.
__device__ inline Slope slope_snow(const Wsm5Params& p, real rho, real qs, real n0s_factor)
{
    const bool is_enough = qs > Q_PRECIPITATION_MIN;
    const real quotient = p.pidn0s * n0s_factor / (qs * rho);
    const real length = 1 / sqrt(sqrt(quotient));
    const real power = power_of_root(length, quotient, p.bvts);
    return Slope{is_enough ? length : p.slope_snow_min, is_enough ? power : p.slope_snow_min_b};
}

// Snow intercept relative to its value at freezing. See src/physics/wsm5/slope.rs.
__device__ inline real snow_intercept_factor(const Wsm5Params& p, real t)
{
    return max(min(exp(p.alpha * (FREEZING - t)), p.n0s_factor_max), real(1));
}

// Number of ice crystals. See src/physics/wsm5/slope.rs.
__device__ inline real ice_number(real rho, real qi)
{
    const real content = rho * max(qi, SCARCE_ICE);
    const real number = ICE_NUMBER * sqrt(sqrt(content * content * content));
    return min(max(number, ICE_NUMBER_MIN), ICE_NUMBER_MAX);
}

// Diameter of an ice crystal, without a bound. See src/physics/wsm5/slope.rs.
__device__ inline real ice_diameter(const Wsm5Params& p, real rho, real qi, real number)
{
    return p.dicon * sqrt(rho * qi / number);
}

// Surface of a size distribution for the transfer of vapour or heat. See src/physics/wsm5/slope.rs.
__device__ inline real ventilated_surface(
    real still, real ventilated, real ventilation, Slope slope)
{
    const real s2 = slope.length * slope.length;
    return still * s2 + ventilated * ventilation * s2 * sqrt(slope.length * slope.power);
}

// Mean fall speed of a size distribution. See src/physics/wsm5/slope.rs.
__device__ inline real fall_speed(real factor, Slope slope, real density_factor)
{
    return factor * slope.power * density_factor;
}

// Mean fall speed of rain, 0 without rain. See src/physics/wsm5/slope.rs.
__device__ inline real fall_speed_rain(
    const Wsm5Params& p, real rho, real density_factor, real qr)
{
    const real speed = fall_speed(p.pvtr, slope_rain(p, rho, qr), density_factor);
    return qr <= 0 ? real(0) : speed;
}

// Mean fall speed of snow, 0 without snow. See src/physics/wsm5/slope.rs.
__device__ inline real fall_speed_snow(
    const Wsm5Params& p, real rho, real density_factor, real qs, real n0s_factor)
{
    const real speed = fall_speed(p.pvts, slope_snow(p, rho, qs, n0s_factor), density_factor);
    return qs <= 0 ? real(0) : speed;
}

// Fall speed of an ice crystal. See src/physics/wsm5/slope.rs.
__device__ inline real fall_speed_crystal(real diameter)
{
    return ICE_FALL * pow(diameter, ICE_FALL_EXPONENT);
}

// Fall speed of cloud ice, 0 without ice. See src/physics/wsm5/slope.rs.
__device__ inline real fall_speed_ice(const Wsm5Params& p, real rho, real qi, real number)
{
    const real diameter = ice_diameter(p, rho, qi, number);
    const real speed = fall_speed_crystal(max(min(diameter, p.dimax), ICE_DIAMETER_MIN));
    return qi <= 0 ? real(0) : speed;
}

}  // namespace slope
