// The fields of a call in memory.
#pragma once

#include "physics/mapping/column_map.cuh"

// The fields of the state and of the air.
struct Fields {
    real *theta, *qv, *qc, *qr, *qi, *qs;
    const real *rho, *exner, *p, *dz;
};

// Pointers of the fields: the arguments of the kernel; or, in a kernel for a region, constant distances from two
// pointers, if these are less than 8 MiB, the range of the constant offset of a load.
__device__ inline Fields fields_of(const Wsm5Args& a)
{
    constexpr long long SIZE = 1ll * NZ * REGION_LEVEL, MOST_ELEMENTS = (1 << 23) / sizeof(real);
    if (SIZE == 0 || 5 * SIZE > MOST_ELEMENTS)
        return {a.theta, a.qv, a.qc, a.qr, a.qi, a.qs, a.rho, a.exner, a.p, a.dz};
    return {a.theta, a.qv, a.qv + SIZE, a.qv + 2 * SIZE, a.qv + 3 * SIZE, a.qv + 4 * SIZE,
            a.rho, a.rho + SIZE, a.rho + 2 * SIZE, a.rho + 3 * SIZE};
}
