// Radar reflectivity at 10 cm, with the bright band of melting snow. See src/physics/wsm5/reflectivity.rs.
#pragma once

#include "complex.cuh"

namespace reflectivity {

// True if there is rain above the threshold of the radar. See src/physics/wsm5/reflectivity.rs.
__device__ inline bool has_rain(const Target& target)
{
    return target.qr > Q_PRECIPITATION_MIN;
}

// True if there is snow above the threshold of the radar. See src/physics/wsm5/reflectivity.rs.
__device__ inline bool has_snow(const Target& target)
{
    return target.qs > Q_PRECIPITATION_MIN;
}

// True if snow melts at this level. See src/physics/wsm5/reflectivity.rs.
__device__ inline bool is_melting(const Target& target, const Target& above)
{
    return target.t > FREEZING && has_rain(target) && has_snow(above);
}

// Reflectivity from a reflectivity factor. See src/physics/wsm5/reflectivity.rs.
__device__ inline real decibels(real z)
{
    return max(DECIBEL * log10(z * MM6_PER_M3), DBZ_MIN);
}

// Content of a species in the air. See src/physics/wsm5/reflectivity.rs.
__device__ inline real content(const Target& target, real q)
{
    const real epsilon = RADAR_EPSILON;
    const real qv = max(target.qv, RADAR_VAPOUR_MIN);
    return q * epsilon * target.p / (R_DRY * target.t * (qv + epsilon));
}

// Mass of a sphere divided by the cube of its diameter. See src/physics/wsm5/reflectivity.rs.
__device__ inline real sphere(real rho)
{
    return PI * rho / GAMMA_4;
}

// Inverse slope of an exponential distribution of spheres. See src/physics/wsm5/reflectivity.rs.
__device__ inline real inverse_slope(real content, real rho, real intercept)
{
    return sqrt(sqrt(content / (sphere(rho) * GAMMA_4 * intercept)));
}

// The seventh power. See src/physics/wsm5/reflectivity.rs.
__device__ inline real seventh_power(real x)
{
    const real x2 = x * x;
    return x * x2 * (x2 * x2);
}

// Reflectivity factor of rain. See src/physics/wsm5/reflectivity.rs.
__device__ inline real z_rain(const Wsm5Params& p, const Target& target)
{
    if (!has_rain(target)) return Z_NONE;
    const real length = inverse_slope(content(target, target.qr), RHO_WATER, p.n0r);
    return p.n0r * GAMMA_7 * seventh_power(length);
}

// Intercept of the snow size distribution. See src/physics/wsm5/reflectivity.rs.
__device__ inline real snow_intercept(const Wsm5Params& p, real t)
{
    const real warmth = min(t - FREEZING, -SNOW_COLD_MIN);
    return min(p.n0s * exp(-p.alpha * warmth), p.n0s_max);
}

// Reflectivity factor of dry snow. See src/physics/wsm5/reflectivity.rs.
__device__ inline real z_snow(const Wsm5Params& p, const Target& target)
{
    if (!has_snow(target)) return Z_NONE;
    const real intercept = snow_intercept(p, target.t);
    const real length = inverse_slope(content(target, target.qs), RHO_SNOW, intercept);
    const real packing = GAMMA_4 / PI * sphere(RHO_SNOW) / RHO_ICE;
    return ICE_DIELECTRIC * packing * packing * intercept * GAMMA_7 * seventh_power(length);
}

// Permittivity of a matrix with inclusions. See src/physics/wsm5/reflectivity.rs.
__device__ inline Complex mix(Complex matrix, Complex inclusion, real fraction)
{
    const Complex contrast = inclusion - matrix;
    const Complex beta =
        (inclusion / contrast * ln(inclusion / matrix) - real(1)) * matrix / contrast * real(2);
    const Complex share = beta * fraction;
    const real rest = 1 - fraction;
    return (matrix * rest + share * inclusion) / (share + rest);
}

// Sixth moment of an exponential size distribution, relative to its intercept. See src/physics/wsm5/reflectivity.rs.
__device__ inline real sixth_moment(const Bins& bins, real length)
{
    real sum = 0;
    for (int n = 0; n < BINS; ++n) sum += bins.weight[n] * exp(-bins.diameter[n] / length);
    return sum;
}

// Melted fraction of a species. See src/physics/wsm5/reflectivity.rs.
__device__ inline real melted_fraction(real content, real content_above)
{
    return max(min(1 - content / content_above, MELTED_MAX), MELTED_MIN);
}

// Squared dielectric factor of a melting particle times the square of its relative volume. See
// src/physics/wsm5/reflectivity.rs.
__device__ inline real backscatter_of_melting(real rho, real melted)
{
    const real rho_ice = RHO_ICE;
    const real rho_water = RHO_WATER;
    const real outside = MELT_OUTSIDE + (1 - MELT_OUTSIDE) * melted;
    // Melted fraction at which the particle has collapsed onto its water.
    const real collapse = (rho_ice - rho) / (rho_ice * outside - rho + rho_ice * rho / rho_water);
    const real volume = melted <= collapse
        ? 1 - outside * melted
        : rho * ((1 - melted) / rho_ice + melted / rho_water);
    const real ice = rho * (1 - melted) / (rho_ice * volume);
    const real water = rho * melted / (rho_water * volume);
    const real air = 1 - ice - water;

    const Complex water_index{WATER_INDEX, -WATER_ABSORPTION};
    const Complex ice_index{ICE_INDEX, -ICE_ABSORPTION};
    const Complex wet = mix(
        water_index * water_index, ice_index * ice_index,
        ice / max(ice + water, FRACTION_MIN));
    const Complex one{1, 0};
    const Complex particle = mix(wet, one, air);
    const Complex dielectric = (particle - one) / (particle + one + one);
    return norm_sqr(dielectric) * volume * volume;
}

// Squared dielectric factor of a melting flake, likewise. See src/physics/wsm5/reflectivity.rs.
__device__ inline real melting_backscatter(real melted) { return backscatter_of_melting(RHO_SNOW, melted); }

// Reflectivity factor of melting snow. See src/physics/wsm5/reflectivity.rs.
__device__ inline real z_melting_snow(
    const Wsm5Params& p, const Bins& bins, const Target& target, real snow_above)
{
    const real snow = content(target, target.qs);
    const real intercept = snow_intercept(p, target.t);
    const real length = inverse_slope(snow, RHO_SNOW, intercept);
    const real melted = melted_fraction(snow, snow_above);
    const real sum = sixth_moment(bins, length);
    return melting_backscatter(melted) / WATER_DIELECTRIC * intercept * sum;
}

}  // namespace reflectivity
