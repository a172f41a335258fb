// Which cells a thread has, and where those around them lie in memory.
//
// A thread has CELLS cells side by side in a row and marches upward through LEVELS levels. The
// threads are counted through along strips: row after row of a strip, strip after strip, level
// after level. So the threads of a block have neighbouring rows, whose values they find in the
// cache of their multiprocessor, and none is idle but a few where strips and rows end;
// the last group of a row begins early enough to end with the row, and leaves the cells that it
// has in common with its neighbour to that one.
#pragma once

__device__ inline bool periodic_x() { return WEST == PERIODIC; }
__device__ inline bool periodic_y() { return SOUTH == PERIODIC; }

// The second cell of a thread, and the last but one.
constexpr int SECOND = CELLS > 1 ? 1 : 0;
constexpr int LAST_BUT_ONE = CELLS > 1 ? CELLS - 2 : 0;

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
    if (TINY) return (at % n + n) % n;
    return at < 0 ? at + n : at >= n ? at - n : at;
}

// The quotient of a number below 2^31 and a divisor that src/gpu/advection.rs has made a
// multiplier and a shift.
__device__ inline int quotient(int count, const int (&divisor)[2])
{
    const unsigned long long product =
        static_cast<unsigned long long>(count) * static_cast<unsigned>(divisor[0]);
    return static_cast<int>(product >> divisor[1]);
}

// Finds the place of this thread among those of the tracers from `first_tracer` on; false where
// there is nothing left for it. Neighbouring blocks have the same cells of different tracers, so
// that these find the wind in the cache.
__device__ inline bool find_place(const TransportArgs& args, int first_tracer, Place& place)
{
    const int tracers = TRACERS - first_tracer;
    const int tile = static_cast<int>(blockIdx.x) / tracers;
    place.tracer = first_tracer + static_cast<int>(blockIdx.x) - tile * tracers;
    const int item = tile * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
    const int row = quotient(item, args.per_row);
    const int strip = quotient(row, args.per_strip);
    const int part = quotient(strip, args.per_level);
    place.first_level = part * LEVELS;
    if (place.first_level >= NZ) return false;
    place.end_level = min(place.first_level + LEVELS, NZ);
    place.j = row - strip * args.ny;
    const int group = item - row * args.strip_width + (strip - part * args.strips) * args.strip_width;
    place.own = group * CELLS;
    if (place.own >= args.nx) return false;
    place.i = min(place.own, args.nx - CELLS);
    const int i = place.i, j = place.j, nx = args.nx, ny = args.ny;
    for (int s = 0; s < SEEN_X; ++s)
        place.x[s] = continued(periodic_x(), i - REACH + s, nx) - i;
    for (int s = 0; s < SEEN_Y; ++s)
        place.y[s] = (continued(periodic_y(), j - REACH + s, ny) - j) * nx;
    return true;
}

// Whether a face of the cells is of lower order, along each axis.
__device__ inline bool near_x(const TransportArgs& args, const Place& place)
{
    return !periodic_x() && (place.i < REACH || place.i + CELLS + REACH > args.nx);
}

__device__ inline bool near_y(const TransportArgs& args, const Place& place)
{
    return !periodic_y() && (place.j < REACH || place.j + 1 + REACH > args.ny);
}

// Whether the cells reach a side that is not periodic.
__device__ inline bool at_west(const Place& place) { return !periodic_x() && place.i == 0; }

__device__ inline bool at_east(const TransportArgs& args, const Place& place)
{
    return !periodic_x() && place.i + CELLS == args.nx;
}

__device__ inline bool at_south(const Place& place) { return !periodic_y() && place.j == 0; }

__device__ inline bool at_north(const TransportArgs& args, const Place& place)
{
    return !periodic_y() && place.j + 1 == args.ny;
}
