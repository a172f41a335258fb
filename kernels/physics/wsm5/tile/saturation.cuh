// Saturation at which the processes of a cell start.
#pragma once

#include "thermo.cuh"

// The lowest saturation mixing ratio at which a process can start in a cell.
__device__ inline real least_saturation(const StepStart& step_start)
{
    const real least = step_start.t < FREEZING ? step_start.qsi : step_start.qsw;
    // Without a cap, the vapour pressure over water can exceed the pressure while that over ice does not.
    return FALLOUT == Sedimentation::Substepped ? min(least, step_start.qsw) : least;
}

// The lowest saturation mixing ratio, without computing the other one.
__device__ inline real least_saturation(const Wsm5Params& p, real t, real pressure)
{
    const real cap = p.vapour_pressure_cap;
    const bool is_cold = t < FREEZING;
    const real tr = (FREEZING + TRIPLE_POINT_EXCESS) / t;
    const real e = thermo::vapour_pressure(tr, log(tr), is_cold ? C_ICE : C_LIQUID,
                                           is_cold ? L_SUBLIMATION : L_VAPORISATION);
    const real least = thermo::mixing_ratio(pressure, e, cap);
    return FALLOUT == Sedimentation::Substepped && is_cold
        ? min(least, thermo::saturation_water(t, pressure, cap)) : least;
}
