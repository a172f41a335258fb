// Linear interpolation. See src/forcing/blend.rs.
#pragma once

// Linear interpolation between two values. See src/forcing/blend.rs.
__device__ inline real between(real a, real b, real weight)
{
    return weight >= 1 ? b : a + weight * (b - a);
}
