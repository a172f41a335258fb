// Sub-stepped sedimentation of precipitation, by upstream differences. See
// src/physics/wsm5/substepped_sedimentation.rs.
#pragma once

#include "physics/wsm5/slope.cuh"

namespace substepped_sedimentation {

// Slope of the snow at the start of the minor step. See src/physics/wsm5/substepped_sedimentation.rs.
__device__ inline Slope snow_slope(const Wsm5Params& p, const Air& air, const Cell& cell)
{
    const bool is_snowy = cell.qs > Q_PRECIPITATION_MIN;
    const real n0s_factor = is_snowy ? slope::snow_intercept_factor(p, cell.t) : real(1);
    return slope::slope_snow(p, air.rho, cell.qs, n0s_factor);
}

// Layers fallen through in a minor step (the Courant number). See src/physics/wsm5/substepped_sedimentation.rs.
__device__ inline real courant(real speed, real dz, real dt_cloud)
{
    return speed / dz * dt_cloud;
}

// Number of sub-steps. See src/physics/wsm5/substepped_sedimentation.rs.
__device__ inline real number_of_substeps(real largest)
{
    return max(round(largest + real(0.5)), real(1));
}

// Fraction of the mixing ratio in the layer above that arrives in a sub-step. See
// src/physics/wsm5/substepped_sedimentation.rs.
__device__ inline real arriving(real leaving_above, const Air& here, const Air& above)
{
    return leaving_above * (above.rho * above.dz) / (here.rho * here.dz);
}

// Content of a layer after a sub-step. See src/physics/wsm5/substepped_sedimentation.rs.
__device__ inline real passed(real q, real leaving, real arriving, real q_above)
{
    return q - leaving * q + arriving * q_above;
}

}  // namespace substepped_sedimentation
