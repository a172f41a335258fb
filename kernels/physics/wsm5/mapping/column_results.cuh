// Results of columns: fields, and precipitation at the ground.
#pragma once

#include "dry_mass/mismatch.cuh"
#include "primitives/div_rn.cuh"
#include "primitives/layered.cuh"
#include "physics/wsm5/mapping/species.cuh"
#include "physics/wsm5/step.cuh"

// Stores the potential temperature of a cell with temperature `before` at the start of the call, unless the temperature
// is unchanged. See theta_after in src/physics/wsm5/fields.rs.
__device__ inline void store_theta(const Wsm5Args& a, int at, real exner, real before, real t)
{
    if (t != before) a.theta[at] = exact_quotient(t, exner) - a.theta_base;
}

// Adds the precipitation of a minor step, by species in kg m-2, to the sums of the call.
__device__ inline void add_to_sums(real dt_cloud, real depth, const real (&ground)[FALLING_SPECIES],
                                   Precipitation& sum)
{
    // This variant reports the precipitation of the last minor step for a call.
    if (FALLOUT == Sedimentation::Substepped) sum.rainncv = sum.snowncv = sum.sr = 0;
    step::deposit(dt_cloud, depth, ground[int(Species::RAIN)], ground[int(Species::SNOW)],
                       ground[int(Species::ICE)], sum);
}

// Mass mismatch of a change of water: its mass minus that computed with rho dz, kg m-2; 0 unless TRACK_MISMATCH.
__device__ inline real mass_mismatch(const Wsm5Args& a, int place, int k, real rho, real dz, real before, real after)
{
    if (!TRACK_MISMATCH) return 0;
    return mismatch::mass_mismatch(layered_at(a.mass, place, k), a.per_area[place], rho, dz, before, after);
}

// Stores the precipitation of a column, and the mass mismatch of its changes.
__device__ inline void store_surface(const Wsm5Args& a, int place, const Precipitation& sum,
                                     real mass_mismatch)
{
    if (TRACK_MISMATCH) a.mass_mismatch[place] = mass_mismatch;
    // Both are sums over the run. Atomic operations without a result need not wait for the old values; no other thread
    // adds to them.
    if (sum.rain > 0) atomicAdd(&a.rain[place], sum.rain);
    if (sum.snow > 0) atomicAdd(&a.snow[place], sum.snow);
    // A millimetre of water is a kilogram per square metre.
    a.fallen[place] = sum.rain;
    a.rainncv[place] = sum.rainncv;
    a.snowncv[place] = sum.snowncv;
    a.sr[place] = sum.sr;
    a.fall_residual[place] = sum.fall_residual;
    a.clipped[place] = sum.clipped;
}
