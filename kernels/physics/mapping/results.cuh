// Results of a call: potential temperature, and the mass mismatch of the water.
#pragma once

#include "dry_mass/mismatch.cuh"
#include "primitives/div_rn.cuh"
#include "primitives/layered.cuh"

// Stores the potential temperature of a cell with temperature `before` at the start of the call, unless the temperature
// is unchanged. See theta_after in the Rust text.
template <class Args>
__device__ inline void store_theta(const Args& a, int at, real exner, real before, real t)
{
    if (t != before) a.theta[at] = exact_quotient(t, exner) - a.theta_base;
}

// Mass mismatch of a change of water: its mass minus that computed with rho dz, kg m-2; 0 unless TRACK_MISMATCH.
template <class Args>
__device__ inline real mass_mismatch(const Args& a, int place, int k, real rho, real dz, real before, real after)
{
    if (!TRACK_MISMATCH) return 0;
    return mismatch::mass_mismatch(layered_at(a.mass, place, k), a.per_area[place], rho, dz, before, after);
}
