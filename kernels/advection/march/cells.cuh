// Loads of the values of a thread's cells and of their neighbours along the row; wide loads if rows begin at multiples
// of CELLS.
#pragma once

#include "advection/march/place.cuh"

// Values of the cells of a thread.
struct alignas(CELLS * sizeof(real) < 16 ? CELLS * sizeof(real) : 16) Cells {
    real at[CELLS];
};

// A single load if the hardware has one. Kernels do not write the arrays they read, so these loads may be moved past
// stores.
__device__ inline void load_wide(const real* from, real (&to)[1]) { to[0] = __ldg(from); }
__device__ inline void load_wide(const float* from, float (&to)[2])
{
    const float2 pair = __ldg(reinterpret_cast<const float2*>(from));
    to[0] = pair.x, to[1] = pair.y;
}
__device__ inline void load_wide(const double* from, double (&to)[2])
{
    const double2 pair = __ldg(reinterpret_cast<const double2*>(from));
    to[0] = pair.x, to[1] = pair.y;
}
__device__ inline void load_wide(const float* from, float (&to)[4])
{
    const float4 four = __ldg(reinterpret_cast<const float4*>(from));
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}
__device__ inline void load_wide(const double* from, double (&to)[4])
{
    const double2 low = __ldg(reinterpret_cast<const double2*>(from));
    const double2 high = __ldg(reinterpret_cast<const double2*>(from + 2));
    to[0] = low.x, to[1] = low.y, to[2] = high.x, to[3] = high.y;
}

// The values of the group of cells that begins at `from`.
__device__ inline Cells group_at(const real* from)
{
    Cells found;
    if (WIDE)
        load_wide(from, found.at);
    else
        for (int c = 0; c < CELLS; ++c) found.at[c] = __ldg(from + c);
    return found;
}

// The values of the faces on both sides of the cells of a group; `from` points to the first.
__device__ inline void faces_at(const real* from, real (&found)[CELLS + 1])
{
    const Cells group = group_at(from);
    for (int c = 0; c < CELLS; ++c) found[c] = group.at[c];
    found[CELLS] = __ldg(from + CELLS);
}

// Stores the values of the cells that this thread owns.
__device__ inline void store_own(const Place& place, const Cells& value, real* to)
{
    if (WIDE) {
        // Groups of different threads do not overlap.
        *reinterpret_cast<Cells*>(to) = value;
        return;
    }
    for (int c = 0; c < CELLS; ++c)
        if (place.i + c < place.end) to[c] = value.at[c];
}

// Number of groups that cover HALO cells on one side.
constexpr int GROUPS = (HALO + CELLS - 1) / CELLS;

// The values of the row around the cells; `first` points to the first cell, `here` are the values of the cells.
__device__ inline void load_row(const Place& place, const real* first, const Cells& here,
                                  real (&row)[SEEN_X])
{
    for (int c = 0; c < CELLS; ++c) row[HALO + c] = here.at[c];
    if (!WIDE) {
        for (int s = 0; s < HALO; ++s) {
            row[HALO - 1 - s] = __ldg(first + place.before[s]);
            row[HALO + CELLS + s] = __ldg(first + place.behind[s]);
        }
        return;
    }
    for (int g = 0; g < GROUPS; ++g) {
        const Cells before = group_at(first + place.before[g]);
        const Cells behind = group_at(first + place.behind[g]);
        for (int c = 0; c < CELLS; ++c) {
            const int west = HALO - (g + 1) * CELLS + c, east = HALO + (g + 1) * CELLS + c;
            if (west >= 0) row[west] = before.at[c];
            if (east < SEEN_X) row[east] = behind.at[c];
        }
    }
}
