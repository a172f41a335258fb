// Radar reflectivity at 10 cm: WSM5's, with graupel. See src/physics/wsm6/reflectivity.rs.
#pragma once

#include "physics/wsm5/reflectivity.cuh"

namespace wsm6::reflectivity {

// True if there is graupel above the threshold of the radar. See src/physics/wsm6/reflectivity.rs.
__device__ inline bool has_graupel(real qg) { return qg > Q_PRECIPITATION_MIN; }

// True if snow or graupel melts at this level. See src/physics/wsm6/reflectivity.rs.
__device__ inline bool is_melting(const Wsm6Target& target, const Wsm6Target& above)
{
    const bool is_frozen_above = ::reflectivity::has_snow(above.common) || has_graupel(above.qg);
    return target.common.t > FREEZING && ::reflectivity::has_rain(target.common) && is_frozen_above;
}

// Reflectivity factor of dry graupel. See src/physics/wsm6/reflectivity.rs.
__device__ inline real z_graupel(const Wsm6Params& p, const Wsm6Target& target)
{
    if (!has_graupel(target.qg)) return Z_NONE;
    const GraupelParams& g = p.graupel;
    const real length =
        ::reflectivity::inverse_slope(::reflectivity::content(target.common, target.qg), g.density, g.n0g);
    const real packing = GAMMA_4 / PI * ::reflectivity::sphere(g.density) / RHO_ICE;
    return ICE_DIELECTRIC * packing * packing * g.n0g * GAMMA_7 * ::reflectivity::seventh_power(length);
}

// Reflectivity factor of melting graupel. See src/physics/wsm6/reflectivity.rs.
__device__ inline real z_melting_graupel(
    const Wsm6Params& p, const Bins& bins, const Wsm6Target& target, real graupel_above)
{
    const GraupelParams& g = p.graupel;
    const real graupel = ::reflectivity::content(target.common, target.qg);
    const real length = ::reflectivity::inverse_slope(graupel, g.density, g.n0g);
    const real melted = ::reflectivity::melted_fraction(graupel, graupel_above);
    return ::reflectivity::backscatter_of_melting(g.density, melted) / WATER_DIELECTRIC
        * g.n0g
        * ::reflectivity::sixth_moment(bins, length);
}

}  // namespace wsm6::reflectivity
