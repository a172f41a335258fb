// The tasks of sedimentation: one species of a column, or all, by a group of lanes.
//
// To be included behind what a scheme has for them: `Speeds` with start_speeds and arrive_with (what the terminal
// velocities depend on, at departure and at arrival), set_speeds (those of a species), keeps_speed (true for a species
// that falls as fast as at departure), and land_more (for what has fallen with a species of the task). With KINDS > 1
// only the last species keeps its speed.
#pragma once

#include "physics/tile/sedimentation.cuh"

// Sedimentation of the species of a task in a column for a minor step: all of them, or `only`. A group without a column
// of its own repeats that of another group without storing results.
template <class Args, class Tile>
__device__ inline void sediment(const Args& a, Tile& tile, Species only, int column, bool is_own)
{
    const auto kind = [&](int s) { return KINDS == 1 ? only : Species(s); };
    Grid grid;
    set_grid(tile, column, grid);
    Layers layers;
    real here[KINDS][SLOTS], speed[KINDS][SLOTS];
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const int k = min(level_of(m), NZ - 1);
#pragma unroll
        for (int s = 0; s < KINDS; ++s) {
            const real q = field_of(tile, kind(s))[k][column];
            here[s][m] = has_level(m) ? q : real(0);
            layers.content[s][m] = grid.air[m].rho * here[s][m];
        }
    }
    Speeds speeds;
    start_speeds(a.params, only, tile, column, speeds);
#pragma unroll
    for (int s = 0; s < KINDS; ++s) set_speeds(a.params, kind(s), grid.air, here[s], speeds, speed[s]);
    arrive<KINDS>(a.dt_cloud, grid, speed, layers);
    if (KINDS > 1 || !keeps_speed(only)) {
        constexpr int COUNT = KINDS > 1 ? KINDS - 1 : 1;
        arrive_with(grid, layers, speeds);
#pragma unroll
        for (int s = 0; s < COUNT; ++s) {
            real then[SLOTS];
#pragma unroll
            for (int m = 0; m < SLOTS; ++m) here[s][m] = layers.density[s][m] / grid.air[m].rho;
            set_speeds(a.params, kind(s), grid.air, here[s], speeds, then);
#pragma unroll
            for (int m = 0; m < SLOTS; ++m) speed[s][m] = sedimentation::mean_speed(speed[s][m], then[m]);
        }
        arrive<COUNT>(a.dt_cloud, grid, speed, layers);
    }
    land(tile, grid, layers, kind, column, is_own);
    land_more(tile, only, column, is_own, grid, layers, speeds);
}

// Lists the columns with a species, each by the thread of the column, which is faster than a search by every task.
template <class Tile>
__device__ inline void list_columns(Tile& tile, int column)
{
#pragma unroll
    for (int s = 0; s < FALLING_SPECIES; ++s) {
        const unsigned columns = tile.falling.species[s], before = (1u << column) - 1;
        if (columns >> column & 1) tile.listed.column[s][__popc(columns & before)] = column;
        if (column == 0) tile.listed.count[s] = __popc(columns);
    }
}

// Number of tasks of a species, or of all species if a task has all of them.
template <class Tile>
__device__ inline int tasks_of(const Tile& tile, Species kind)
{
    const int columns = COLUMNS_LISTED ? tile.listed.count[int(kind)] : __popc(columns_of(tile, kind));
    return (columns + GROUPS - 1) / GROUPS;
}

// Sedimentation for one task of a species: the next columns that contain it, one for each group of the warp.
template <class Args, class Tile>
__device__ inline void fall_in_columns(const Args& a, Tile& tile, Species kind, int task)
{
    if (!COLUMNS_LISTED) return sediment(a, tile, kind, nth_set_bit(columns_of(tile, kind), task), true);
    const int first = task * GROUPS, mine = first + lane() / GROUP;
    // If no columns are left, a group repeats the first one without storing results.
    const bool is_own = mine < tile.listed.count[int(kind)];
    sediment(a, tile, kind, tile.listed.column[int(kind)][is_own ? mine : first], is_own);
}

// Sedimentation in the tile: the tasks of one species after another, or of all together, are assigned to the warps in
// round-robin order.
template <class Args, class Tile>
__device__ inline void fall_in(const Args& a, Tile& tile)
{
    // Uniform over the warp, which the shuffle tells the compiler.
    int task = __shfl_sync(ALL_LANES, warp(), 0);
#pragma unroll 1
    for (int kind = 0; kind < FALLING_SPECIES / KINDS; ++kind) {
        const int tasks = tasks_of(tile, Species(kind));
#pragma unroll 1
        for (; task < tasks; task += WARPS) fall_in_columns(a, tile, Species(kind), task);
        // The round-robin order continues with the first task of the next species.
        task -= tasks;
    }
}
