// Results of columns: fields, and precipitation at the ground.
#pragma once

#include "physics/mapping/results.cuh"
#include "physics/wsm5/mapping/species.cuh"
#include "physics/wsm5/step.cuh"

// Adds the precipitation of a minor step, by species in kg m-2, to the sums of the call.
__device__ inline void add_to_sums(real dt_cloud, real depth, const real (&ground)[FALLING_SPECIES],
                                   Precipitation& sum)
{
    // This variant reports the precipitation of the last minor step for a call.
    if (FALLOUT == Sedimentation::Substepped) sum.rainncv = sum.snowncv = sum.sr = 0;
    step::deposit(dt_cloud, depth, ground[int(Species::RAIN)], ground[int(Species::SNOW)],
                       ground[int(Species::ICE)], sum);
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
