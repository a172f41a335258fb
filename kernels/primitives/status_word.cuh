// Notes of values that are not finite. See src/state/gpu/status_word.rs.
#pragma once

// Notes that the field with this number has a non-finite value at an element: step, field and element in one word, so
// that the minimum is the earliest step, then the first field and element. `step` is relative to STATUS_STEPS.
__device__ inline void record_first_nonfinite(unsigned long long* notes, int step, unsigned long long field, int place)
{
    const unsigned long long now = notes[STATUS_STEPS] + step;
    atomicMin(&notes[STATUS_FLAW],
              now << STATUS_STEP_SHIFT | field << STATUS_FIELD_SHIFT | static_cast<unsigned long long>(place));
}
