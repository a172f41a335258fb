// Notes of values that are not finite. See src/state/gpu/status_word.rs.
#pragma once

#include "primitives/status_word.cuh"

// Notes the first of the fields of a cell that is infinite or NaN, if there is one and notes are on; the first is the
// potential temperature, the others are the water. Step, field and element `here` make one word, whose minimum is the
// earliest step, then the first field and element.
template <class Args, int FIELDS>
__device__ inline void record_nonfinite_of(const Args& a, int here, const real (&values)[FIELDS])
{
    if (a.notes == nullptr) return;
    int field = FIELDS;
#pragma unroll
    for (int n = FIELDS - 1; n >= 0; --n)
        if (!(values[n] - values[n] == 0)) field = n;
    if (field == FIELDS) return;
    record_first_nonfinite(a.notes, a.step, field == 0 ? a.theta_number : a.water_number + field - 1, here);
}
