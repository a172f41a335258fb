// Shape of a tile of columns, and the mapping of the threads of its block: see src/physics/wsm5/gpu/tile.rs.
//
// A scheme with such tiles has a kernel with the settings of the tile, its species that sediment (`enum class Species`,
// FALLING_SPECIES of them), and a struct `Tile` in shared memory with the members that the functions here use.
#pragma once

#include "physics/mapping/column_map.cuh"

enum class Species;

constexpr unsigned ALL_LANES = 0xffffffff;
constexpr int WARPS = TILE_THREADS / WARP;
// Older devices need a few more registers for the same code, so that fewer blocks fit.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr int BLOCKS = TILE_BLOCKS > 1 ? TILE_BLOCKS - 1 : 1;
#else
constexpr int BLOCKS = TILE_BLOCKS;
#endif

// Levels of a lane in sub-stepped sedimentation: lane, lane + WARP, ...
constexpr int LEVELS_PER_LANE = (NZ + WARP - 1) / WARP;
// Levels that the threads of a block load at a time.
constexpr int ROWS = TILE_THREADS / TILE_COLUMNS;
// Cells that a thread loads: adjacent levels of its column, so that the cells of a warp are similar.
constexpr int CELLS = (NZ + ROWS - 1) / ROWS;
// True if active cells are listed, for distribution among all threads.
constexpr bool LISTED = CELLS > 1;
constexpr int MOST_ACTIVE = NZ * TILE_COLUMNS;
// An odd distance between levels, so that the levels of a column are in different banks.
constexpr int STRIDE = TILE_COLUMNS + 1;

static_assert(WARP % TILE_COLUMNS == 0, "a warp reads whole rows of a tile");
static_assert(TILE_THREADS % WARP == 0, "a block has whole warps");
static_assert(CELLS <= WARP, "the cells of a thread are the bits of a word");

// Offset of a column outside the region.
constexpr int NOWHERE = -1;

// A field of the tile.
typedef real Field[NZ][STRIDE];

// Lanes for the sedimentation of a species in a column, and groups of them in a warp.
constexpr int GROUP = TILE_LANES;
constexpr int GROUPS = WARP / GROUP;
// Species of a column in a task: one, or all that sediment.
constexpr int KINDS = TILE_KINDS;
// True if the columns with a species are listed for the groups of a warp.
constexpr bool COLUMNS_LISTED = FALLOUT == Sedimentation::SemiLagrangian && GROUPS > 1;
// Slots of a lane in semi-Lagrangian sedimentation, from the ground up: levels, the top of the grid, and one above it.
constexpr int SLOTS = (NZ + 1) / GROUP + 1;

// Layer geometry in shared memory. With a task for each species of a column it is the heights, computed once for all
// species; a depth is then loaded again from global memory when needed, which is rare. Otherwise it is the depths.
constexpr bool HEIGHTS_KEPT = FALLOUT == Sedimentation::SemiLagrangian && KINDS == 1;
static_assert(HEIGHTS_KEPT || !COLUMNS_LISTED, "columns are listed when heights are made");

struct Heights {
    Field top;  // of the layers, above the ground, m
};

struct Depths {
    Field dz;
};

template <bool> struct Layering { typedef Depths Type; };
template <> struct Layering<true> { typedef Heights Type; };

// Destination of the depths when they are loaded.
__device__ inline Field& depths_read(Heights&, Field& passing) { return passing; }

__device__ inline Field& depths_read(Depths& depths, Field&) { return depths.dz; }

// Depth of the lowest layer; heights must have been computed.
__device__ inline real lowest_depth(const Heights& heights, int column) { return heights.top[0][column]; }

__device__ inline real lowest_depth(const Depths& depths, int column) { return depths.dz[0][column]; }

template <class Args>
__device__ inline real depth_of(const Args& a, const Heights&, int k, int, int place)
{
    return __ldg(&a.dz[cell_of(a, k, place)]);
}

template <class Args>
__device__ inline real depth_of(const Args&, const Depths& depths, int k, int column, int)
{
    return depths.dz[k][column];
}

// The lowest level of a row of threads.
__device__ inline int first_level(int row) { return ROWS < NZ ? row * NZ / ROWS : row; }

// The column of a thread in the load of fields.
struct Position {
    int column;  // in the tile
    int row;     // of the rows of threads of the block
    bool is_inside;  // true if the column belongs to the region; others are not changed

    // The level of its cell `m`, if it has that many.
    __device__ int level(int m) const { return first_level(row) + m; }
    __device__ bool has(int m) const { return m < NZ / ROWS || level(m) < min(first_level(row + 1), NZ); }
};

// The index of a column of the tile among all columns.
__device__ inline int number_of(int column) { return blockIdx.x * TILE_COLUMNS + column; }

template <class Args>
__device__ inline Position position(const Args& a)
{
    const int column = threadIdx.x % TILE_COLUMNS, row = threadIdx.x / TILE_COLUMNS;
    const int number = number_of(column);
    return {column, row, number < region_of(a).count && has_work(a, number)};
}

// Offset of the column in a level of the fields; that of the last column if the tile extends beyond it. Computed at
// each use, since wide tiles have no register for it.
template <class Args>
__device__ inline int place_of(const Args& a, const Position& at)
{
    return place_of(a, min(number_of(at.column), region_of(a).count - 1));
}

__device__ inline int lowest_level_of_warp() { return first_level(threadIdx.x / WARP * (WARP / TILE_COLUMNS)); }

__device__ inline int lane() { return threadIdx.x % WARP; }
__device__ inline int warp() { return threadIdx.x / WARP; }
