// Which cells a thread has, and where those around them lie in memory.
//
// A thread has CELLS cells side by side in a row and marches upward through LEVELS levels. The
// threads are counted through row by row, level by level, so that none is idle but the last few;
// the last group of a row begins early enough to end with the row, and leaves the cells that it
// has in common with its neighbour to that one.
#pragma once

constexpr bool PERIODIC_X = WEST == PERIODIC;
constexpr bool PERIODIC_Y = SOUTH == PERIODIC;

// Cells that a thread sees of its row, and rows around its own.
constexpr int SEEN_X = REACH + CELLS + REACH;
constexpr int SEEN_Y = REACH + 1 + REACH;

struct Place {
    int tracer;
    int first_level, end_level;
    int j, i;              // row, and the first of the cells
    int own;               // the first cell that is not left to another thread
    int x[SEEN_X];         // how far cell i - REACH + s is from cell i
    int y[SEEN_Y];         // how far row j - REACH + s is from row j
};

// Cell `at` of an axis of n cells, continued periodically; beyond a side that is not periodic the
// outermost cell, which nothing uses.
__device__ inline int continued(bool periodic, int at, int n)
{
    if (!periodic) return max(0, min(at, n - 1));
    // An axis shorter than the stencil is wrapped around more than once.
    if constexpr (TINY) return (at % n + n) % n;
    return at < 0 ? at + n : at >= n ? at - n : at;
}

// count / divisor, by a product and a shift that Rust has found; `count` below 2^31.
__device__ inline int quotient(int count, const Divisor& divisor)
{
    const unsigned long long product = static_cast<unsigned long long>(count)
                                       * static_cast<unsigned>(divisor.multiplier);
    return static_cast<int>(product >> divisor.shift);
}

// Finds the place of this thread among those of the tracers from `first_tracer` on; false where
// there is nothing left for it. Neighbouring blocks have the same cells of different tracers, so
// that these find the wind in the cache.
template <int first_tracer>
__device__ inline bool find_place(const TransportArgs& args, Place& place)
{
    constexpr int tracers = TRACERS - first_tracer;
    const int tile = static_cast<int>(blockIdx.x) / tracers;
    place.tracer = first_tracer + static_cast<int>(blockIdx.x) - tile * tracers;
    const int item = tile * THREADS + static_cast<int>(threadIdx.x);
    const int row = quotient(item, args.groups);
    const int part = quotient(row, args.rows);
    place.first_level = part * LEVELS;
    if (place.first_level >= NZ) return false;
    place.end_level = min(place.first_level + LEVELS, NZ);
    place.j = row - part * args.ny;
    place.own = (item - row * args.group_count) * CELLS;
    place.i = min(place.own, args.nx - CELLS);
    for (int s = 0; s < SEEN_X; ++s)
        place.x[s] = continued(PERIODIC_X, place.i - REACH + s, args.nx) - place.i;
    for (int s = 0; s < SEEN_Y; ++s)
        place.y[s] = (continued(PERIODIC_Y, place.j - REACH + s, args.ny) - place.j) * args.nx;
    return true;
}
