// The cells of a thread, and the memory layout of the cells around them.
//
// A thread has CELLS adjacent cells of a row and marches upward through LEVELS_PER_THREAD levels. The threads of a
// block have adjacent rows of WIDTH such groups, so that values of neighbouring rows are in the L1 cache; neighbouring
// blocks have the same cells of different tracers, which share the wind, or other cells of the same tracer
// (TRACER_MAJOR). On a small grid (LINEAR_INDEXING) threads are numbered linearly through groups, rows and marches, so
// that only the last block of a tracer has threads without cells. If CELLS does not divide a row, its last group ends
// with the row, and owns the cells that it shares with the group before it.
#pragma once

#include "advection/march/grid_sides.cuh"
#include "advection/march/rows.cuh"

// Cells of a row and rows that the stencils of a thread's cells need.
constexpr int SEEN_X = HALO + CELLS + HALO;
constexpr int SEEN_Y = HALO + 1 + HALO;

// Cells beside a group that one load takes: CELLS, or 1.
__device__ inline int piece() { return WIDE ? CELLS : 1; }

// Largest number of such loads on one side.
constexpr int PIECES = HALO;

struct Place {
    int tracer;
    int first_level, end_level;
    int j, i;              // row, and index in it of the first of the cells
    int end;               // end of the cells of the row that this thread owns
    bool is_inner;         // true if no stencil of the block reaches beyond the grid
    bool near_x, near_y;   // true if a stencil of the thread reaches beyond a side that is not periodic
    // Distances from the first cell to the loads before the group, and to those behind it.
    int before[PIECES], behind[PIECES];
    int y[SEEN_Y];         // distance of row j - HALO + s from row j

    __device__ inline int west() const { return before[0] + piece() - 1; }
    __device__ inline int east() const { return behind[0]; }

    // True if cell c is a cell of the grid that this thread owns.
    __device__ inline bool owns(int c) const { return i + c >= FIRST && i + c < end; }
};

// The nearest of the indices 0 to `last`. With the two bounds in the other order NVRTC 13.0 generates wrong code for
// tiles of a grid whose size is known at compile time: benches/results/2026-11-25-h200.
__device__ inline int nearest(int at, int last) { return min(max(at, 0), last); }

// Index of the first of `together` cells at index `at` of an axis of n cells, continued periodically. Beyond a side
// that is not periodic the index is clamped; the values there are not used.
__device__ inline int continued(bool periodic, int at, int n, int together = 1)
{
    if (!periodic) return nearest(at, n - together);
    // An axis shorter than the stencil is wrapped around more than once.
    if (TINY) return (at % n + n) % n;
    return at < 0 ? at + n : at >= n ? at - n : at;
}

// End of the cells that a group of `together` cells from `begin` owns. Groups begin at multiples of `together`, except
// the last one of a row, which ends with the row and owns the cells that it shares with the group before it.
__device__ inline int end_of(const TransportArgs& args, int begin, int together)
{
    const int row = pitch(args), end = end_of_cells(args);
    return begin + together >= row ? end : min(end, min(begin + together, row - together));
}

// True if a stencil around the cells from index i on reaches beyond a side in x that is not periodic.
__device__ inline bool is_near_x(const TransportArgs& args, int i)
{
    return !periodic_x() && (i < FIRST + HALO || i + CELLS + HALO > end_of_cells(args));
}

// True if a stencil around row j reaches beyond a side in y that is not periodic.
__device__ inline bool is_near_y(const TransportArgs& args, int j)
{
    return !periodic_y() && (j < HALO || j + 1 + HALO > ny_of(args));
}

// Computes the distances to the cells around those of a place.
__device__ inline void set_row_offsets(const TransportArgs& args, Place& place)
{
    const int row = pitch(args), i = place.i;
    for (int p = 0; p < PIECES; ++p) {
        place.before[p] = continued(periodic_x(), i - (p + 1) * piece(), row, piece()) - i;
        place.behind[p] = continued(periodic_x(), i + CELLS + p * piece(), row, piece()) - i;
    }
    for (int s = 0; s < SEEN_Y; ++s)
        place.y[s] = (continued(periodic_y(), place.j - HALO + s, ny_of(args)) - place.j) * row;
}

// Assigns to a thread the cells of row `j` from `begin` on, and the levels of march `march`.
__device__ inline void put(const TransportArgs& args, int begin, int j, int march, Place& place)
{
    place.first_level = march * LEVELS_PER_THREAD;
    place.end_level = min(place.first_level + LEVELS_PER_THREAD, NZ);
    place.j = j;
    place.i = min(begin, pitch(args) - CELLS);
    place.end = end_of(args, begin, CELLS);
    place.near_x = is_near_x(args, place.i);
    place.near_y = is_near_y(args, j);
    set_row_offsets(args, place);
}

// Finds the place of this thread by linear numbering.
__device__ inline bool find_place_linear(const TransportArgs& args, Place& place)
{
    const int groups = (pitch(args) + CELLS - 1) / CELLS, ny = ny_of(args);
    const int block = static_cast<int>(TRACER_MAJOR ? blockIdx.x : blockIdx.y);
    const int number = block * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
    const int row = number / groups, march = row / ny;
    if (march * LEVELS_PER_THREAD >= NZ) return false;
    put(args, (number - row * groups) * CELLS, row - march * ny, march, place);
    // Nearly every warp contains an end of a row.
    place.is_inner = false;
    return true;
}

// Finds the place of this thread in a block of rows.
__device__ inline bool find_place_in_rows(const TransportArgs& args, int strip, Place& place)
{
    const int thread = static_cast<int>(threadIdx.x), rows = static_cast<int>(blockDim.x) / WIDTH;
    const int row = thread / WIDTH, first_row = static_cast<int>(blockIdx.y) * rows;
    const int begin = (strip * WIDTH + thread - row * WIDTH) * CELLS;
    const int ny = ny_of(args);
    if (row >= rows || first_row + row >= ny || begin >= pitch(args)) return false;
    put(args, begin, first_row + row, static_cast<int>(blockIdx.z), place);
    // Uniform over the warp, which would otherwise march twice.
    place.is_inner = strip * WIDTH * CELLS >= FIRST + HALO
                     && (strip + 1) * WIDTH * CELLS + HALO <= end_of_cells(args)
                     && first_row >= HALO && first_row + rows + HALO <= ny;
    return true;
}

// Finds the place of this thread for `tracers` tracers from `first_tracer` on; false if the thread has no cells.
__device__ inline bool find_place(const TransportArgs& args, int first_tracer, int tracers,
                                  Place& place)
{
    const int block = static_cast<int>(blockIdx.x), strip = block / tracers;
    place.tracer = TRACER_MAJOR ? static_cast<int>(args.first_tracer + blockIdx.y) + first_tracer
                                : first_tracer + block - strip * tracers;
    return LINEAR_INDEXING ? find_place_linear(args, place) : find_place_in_rows(args, strip, place);
}

// An inner place with compile-time flags and distances, so that the compiler drops the code for sides.
__device__ inline Place inner(const TransportArgs& args, const Place& place)
{
    Place inner = place;
    inner.is_inner = true;
    inner.near_x = inner.near_y = false;
    for (int p = 0; p < PIECES; ++p) {
        inner.before[p] = -(p + 1) * piece();
        inner.behind[p] = CELLS + p * piece();
    }
    for (int s = 0; s < SEEN_Y; ++s) inner.y[s] = (s - HALO) * pitch(args);
    return inner;
}

// True if the cells are at a side that is not periodic.
__device__ inline bool at_west(const Place& place) { return !periodic_x() && place.i == 0; }

__device__ inline bool at_east(const TransportArgs& args, const Place& place)
{
    return !periodic_x() && place.i + CELLS == pitch(args);
}

__device__ inline bool at_south(const Place& place) { return !periodic_y() && place.j == 0; }

__device__ inline bool at_north(const TransportArgs& args, const Place& place)
{
    return !periodic_y() && place.j + 1 == ny_of(args);
}
