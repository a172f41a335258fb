// Notes of values that are not finite. See src/state/gpu/status_word.rs.
#pragma once

#include "primitives/status_word.cuh"
#include "physics/wsm5/cell.cuh"

// Non-zero (NaN) if the temperature of a cell or its `water`, the sum of all water, is infinite or NaN.
__device__ inline real nonfinite_indicator(const Cell& cell, real water)
{
    // x - x is 0 for finite x only.
    return (cell.t - cell.t) + (water - water);
}

// Notes the first field of a cell that is infinite or NaN, if there is one and notes are on. Step, field and element
// `here` make one word, whose minimum is the earliest step, then the first field and element.
__device__ inline void record_nonfinite(const Wsm5Args& a, int here, const Cell& cell)
{
    if (a.notes == nullptr) return;
    const real values[] = {cell.t, cell.qv, cell.qc, cell.qr, cell.qi, cell.qs};
    constexpr int FIELDS = sizeof(values) / sizeof(real);
    int field = FIELDS;
#pragma unroll
    for (int n = FIELDS - 1; n >= 0; --n)
        if (!(values[n] - values[n] == 0)) field = n;
    if (field == FIELDS) return;
    record_first_nonfinite(a.notes, a.step, field == 0 ? a.theta_number : a.water_number + field - 1, here);
}
