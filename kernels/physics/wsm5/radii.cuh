// Effective radii of cloud drops, ice crystals and snow, for radiation schemes. See src/physics/wsm5/radii.rs.
#pragma once

#include "physics/wsm5/slope.cuh"

namespace radii {

// Effective radius of cloud drops. See src/physics/wsm5/radii.rs.
__device__ inline real re_cloud(const Wsm5Params& p, real rho, real qc)
{
    const real content = qc * rho;
    if (content <= CONTENT_MIN) return RE_CLOUD_NONE;
    const real radius = RE_CLOUD_SHAPE * cbrt(content / (p.pidnc * p.xncr));
    return max(min(radius, RE_CLOUD_MAX), RE_CLOUD_MIN);
}

// Effective radius of ice crystals. See src/physics/wsm5/radii.rs.
__device__ inline real re_ice(const Wsm5Params& p, real rho, real qi)
{
    const real content = qi * rho;
    if (content <= CONTENT_MIN) return RE_ICE_NONE;
    const real radius = RE_ICE_SHAPE * p.dicon * sqrt(content / slope::ice_number(rho, qi));
    return max(min(radius, RE_ICE_MAX), RE_ICE_MIN);
}

// Effective radius of snow. See src/physics/wsm5/radii.rs.
__device__ inline real re_snow(const Wsm5Params& p, real t, real rho, real qs)
{
    const real content = qs * rho;
    if (content <= CONTENT_MIN) return RE_SNOW_NONE;
    const real density = p.pidn0s * slope::snow_intercept_factor(p, t);
    const real radius = real(0.5) * sqrt(sqrt(content / density));
    return max(min(radius, RE_SNOW_MAX), RE_SNOW_MIN);
}

}  // namespace radii
