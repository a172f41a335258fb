// Notes of values that are not finite. See src/state/gpu/notes.rs.
#pragma once

// Notes that a field of this number holds such a value at a place: step, field and place in one word, so that the
// smallest is the earliest, in the order of fields and places. `step` counts from those that the notes tell of.
__device__ inline void note(unsigned long long* notes, int step, unsigned long long field, int place)
{
    const unsigned long long now = notes[WATCH_STEPS] + step;
    atomicMin(&notes[WATCH_FLAW],
              now << WATCH_STEP_SHIFT | field << WATCH_FIELD_SHIFT | static_cast<unsigned long long>(place));
}
