// Semi-Lagrangian sedimentation of precipitation, piecewise linear. See src/physics/wsm5/sedimentation.rs.
#pragma once

namespace sedimentation {

// Number of layers that take part in the sedimentation of a species. See src/physics/wsm5/sedimentation.rs.
__device__ inline int active_layers(int highest, int nz)
{
    return min(max(highest + 1 + REACH_ABOVE, REACH_MIN), nz);
}

// Speed of an interface next to the lowest or the highest layer. See src/physics/wsm5/sedimentation.rs.
__device__ inline real interface_speed_outer(real below, real above)
{
    return real(0.5) * (above + below);
}

// Speed of an interior interface, of third order. See src/physics/wsm5/sedimentation.rs.
__device__ inline real interface_speed_inner(real below_2, real below, real above, real above_2)
{
    return INTERFACE_NEAR * (above + below) - INTERFACE_FAR * (above_2 + below_2);
}

// Speed of an interface, limited by the depth of the layer above it. See src/physics/wsm5/sedimentation.rs.
__device__ inline real limited_speed(real w, real w_above, real depth, real dt_cloud)
{
    const real compression = (w_above - w) * dt_cloud / depth;
    if (compression > FALL_COMPRESSION) return w_above - FALL_COMPRESSION * depth / dt_cloud;
    return w;
}

// Height at which an interface arrives. See src/physics/wsm5/sedimentation.rs.
__device__ inline real arrival(real height, real w, real dt_cloud)
{
    return height - w * dt_cloud;
}

// Density of a species in an arrived layer. See src/physics/wsm5/sedimentation.rs.
__device__ inline real arrived_density(real content, real depth, real thickness)
{
    return content * depth / thickness;
}

// Mean of the speeds at departure and arrival. See src/physics/wsm5/sedimentation.rs.
__device__ inline real mean_speed(real departure, real arrival)
{
    return real(0.5) * (departure + arrival);
}

// Half the gradient of the density from one arrived layer to the next. See src/physics/wsm5/sedimentation.rs.
__device__ inline real rise(real q_below, real q, real d_below, real d)
{
    return (q - q_below) / (d_below + d);
}

// Density within an arrived layer. See src/physics/wsm5/sedimentation.rs.
__device__ inline LayerProfile profile(real q, real d, real rise_below, real rise_above)
{
    const real half_rise = real(0.5) * (rise_above + rise_below);
    const real upper = q + half_rise * d;
    const real lower = q - half_rise * d;
    // No branches, since neighbouring threads rarely agree.
    const bool is_linear = (rise_above * rise_below > 0) & (upper >= 0) & (lower >= 0);
    return LayerProfile{is_linear ? lower : q, is_linear ? half_rise : real(0)};
}

// Mass of an arrived layer from its bottom to a height above it. See src/physics/wsm5/sedimentation.rs.
__device__ inline real mass_up_to(LayerProfile profile, real z)
{
    return z * (profile.half_rise * z + profile.bottom);
}

// Mean density between two heights above the bottom of an arrived layer. See src/physics/wsm5/sedimentation.rs.
__device__ inline real mean_within(LayerProfile profile, real z_low, real z_high)
{
    return profile.half_rise * (z_high + z_low) + profile.bottom;
}

// Mass of the part of an arrived layer below the ground. See src/physics/wsm5/sedimentation.rs.
__device__ inline real mass_in_ground(real bottom, real top, real thickness, real density)
{
    const real depth = top >= 0 ? 0 - bottom : thickness;
    return bottom >= 0 ? real(0) : density * depth;
}

// Stores the content after sedimentation in a cell. See src/physics/wsm5/sedimentation.rs.
__device__ inline real store_content(const Air& air, real content, real& q)
{
    q = max(content / air.rho, real(0));
    return content < 0 ? -(content * air.dz) : real(0);
}

}  // namespace sedimentation
