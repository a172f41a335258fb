// The cells of a thread of a tile: loads ahead, what sediments in them, and the list of the active ones.
//
// A scheme has `LoadedCell` with load_cell, and run_processes_in, the processes in a cell.
#pragma once

#include "physics/tile/work.cuh"

// Properties of a cell before the processes of a minor step.
struct Origin {
    real exner, p;
    StepStart step_start;
};

// True if threads process the cells that they have loaded, and keep their properties in registers.
constexpr bool ORIGIN_KEPT = !LISTED && ONE_STEP;

// Number of cells that a thread prefetches at a time.
constexpr int PREFETCH = CELLS < TILE_PREFETCH ? CELLS : TILE_PREFETCH;

// Prefetches the next cells of a thread, from cell `start` on.
template <class Args, class LoadedCell>
__device__ inline void prefetch(const Args& a, const Position& at, int start, LoadedCell (&found)[PREFETCH])
{
    const int place = place_of(a, at);
#pragma unroll
    for (int n = 0; n < PREFETCH; ++n)
        if (at.has(start + n)) load_cell(a, cell_of(a, at.level(start + n), place), found[n]);
}

// Largest contents of each species in the cells of a thread, kg kg-1.
struct Contents {
    real species[FALLING_SPECIES];

    __device__ void add(Species kind, real q) { species[int(kind)] = max(species[int(kind)], q); }
};

// The columns of a tile with content in any of the threads of a warp.
__device__ inline unsigned columns_with(bool something)
{
    // Lanes of the same column are TILE_COLUMNS apart.
    unsigned columns = __ballot_sync(ALL_LANES, something);
#pragma unroll
    for (int rows = WARP / 2; rows >= TILE_COLUMNS; rows /= 2) columns |= columns >> rows;
    return columns & (ALL_LANES >> (WARP - TILE_COLUMNS));
}

// Marks the columns that contain each species.
template <class Tile>
__device__ inline void mark_falling_columns(const Contents& contents, Tile& tile)
{
    static_assert(FALLING_SPECIES == 3, "written out: a loop takes more registers");
    const unsigned first = columns_with(contents.species[0] > 0), second = columns_with(contents.species[1] > 0);
    const unsigned third = columns_with(contents.species[2] > 0);
    // One lane for each species.
    const int s = lane();
    const unsigned columns = s == 0 ? first : s == 1 ? second : third;
    if (s < FALLING_SPECIES && columns != 0) atomicOr(&tile.falling.species[s], columns);
}

// Lists the active cells. Warps with cold levels fill the list from the back, since the processes in cold cells differ
// from those in warm ones.
template <class Tile>
__device__ inline void list_active(unsigned active, const Position& at, Tile& tile)
{
    unsigned lanes[CELLS];
    int count = 0;
#pragma unroll
    for (int m = 0; m < CELLS; ++m) {
        lanes[m] = __ballot_sync(ALL_LANES, active >> m & 1);
        count += __popc(lanes[m]);
    }
    if (count == 0) return;
    const bool is_cold = tile.t[min(lowest_level_of_warp(), NZ - 1)][0] < FREEZING;
    // The cells of a warp are contiguous in the list.
    int next = 0;
    if (lane() == 0) next = atomicAdd(is_cold ? &tile.cold_count : &tile.warm_count, count);
    next = __shfl_sync(ALL_LANES, next, 0);
    const unsigned before = (1u << lane()) - 1;
#pragma unroll
    for (int m = 0; m < CELLS; ++m) {
        const int n = next + __popc(lanes[m] & before);
        if (active >> m & 1)
            tile.active[is_cold ? MOST_ACTIVE - 1 - n : n] = at.level(m) * TILE_COLUMNS + at.column;
        next += __popc(lanes[m]);
    }
}

// The processes in the active cells: a thread with one cell only takes its own, otherwise threads take cells of the
// list.
template <class Args, class Tile>
__device__ inline void run_processes(const Args& a, const Position& at, const Origin& origin, unsigned active,
                                     bool is_first, bool is_last, Tile& tile)
{
    if (!LISTED) {
        if (active == 0) return;
        const int k = at.level(0);
        run_processes_in(a, ORIGIN_KEPT ? origin : origin_of(a, tile, k, at.column), k, at.column, is_first, is_last,
                         tile);
        return;
    }
    // The cells at the front of the list are processed first, then those at the back from its last entry on.
    const int gap = MOST_ACTIVE - tile.warm_count - tile.cold_count;
    for (int n = threadIdx.x; n < MOST_ACTIVE - gap; n += TILE_THREADS) {
        const int cell = tile.active[n < tile.warm_count ? n : n + gap];
        const int k = cell / TILE_COLUMNS, column = cell % TILE_COLUMNS;
        run_processes_in(a, origin_of(a, tile, k, column), k, column, is_first, is_last, tile);
    }
}
