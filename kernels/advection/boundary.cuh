// Boundary conditions of the outermost rows. Derivations, sources and units: src/advection/boundary.rs.
#pragma once

#include "primitives/fma.cuh"

// Net outflow across the side of an open row, per map factor, WS02. See src/advection/boundary.rs.
__device__ inline real radiative_outflow(real outward, real divergence, real edge, real inner,
                                         real latest)
{
    return fused(max(outward, real(0)), edge - inner, latest * divergence);
}
