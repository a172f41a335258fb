// Notes of values that are not finite. See src/state/gpu/status_word.rs.
#pragma once

#include "physics/mapping/nonfinite.cuh"
#include "physics/wsm5/cell.cuh"

// Non-zero (NaN) if the temperature of a cell or its `water`, the sum of all water, is infinite or NaN.
__device__ inline real nonfinite_indicator(const Cell& cell, real water)
{
    // x - x is 0 for finite x only.
    return (cell.t - cell.t) + (water - water);
}

// Notes the first field of a cell that is infinite or NaN, if there is one and notes are on.
__device__ inline void record_nonfinite(const Wsm5Args& a, int here, const Cell& cell)
{
    record_nonfinite_of(a, here, {cell.t, cell.qv, cell.qc, cell.qr, cell.qi, cell.qs});
}
