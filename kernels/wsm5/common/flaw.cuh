// Notes of values that are not finite. See src/state/gpu/notes.rs.
#pragma once

#include "primitives/note.cuh"
#include "wsm5/cell.cuh"

// Other than 0 where a cell that holds so much water may have a value that is infinite or not a number.
__device__ inline real nonfinite_indicator(const Cell& cell, real water)
{
    // A difference from itself is 0 but for values that are not finite.
    return (cell.t - cell.t) + (water - water);
}

// Notes the first field of a cell that is infinite or NaN, if any is and notes are on: step, field and
// place `here` in one word, so that the smallest is the earliest, in the order of fields and places.
__device__ inline void note_flaw(const CloudArgs& a, int here, const Cell& cell)
{
    if (a.notes == nullptr) return;
    const real values[] = {cell.t, cell.qv, cell.qc, cell.qr, cell.qi, cell.qs};
    constexpr int FIELDS = sizeof(values) / sizeof(real);
    int field = FIELDS;
#pragma unroll
    for (int n = FIELDS - 1; n >= 0; --n)
        if (!(values[n] - values[n] == 0)) field = n;
    if (field == FIELDS) return;
    note(a.notes, a.step, field == 0 ? a.theta_number : a.water_number + field - 1, here);
}
