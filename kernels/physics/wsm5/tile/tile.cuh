// Shared memory of a block: the cells of several neighbouring columns.
//
// The mapping of threads changes from phase to phase. For loads, neighbouring threads have neighbouring columns of one
// level, as in the fields. In sedimentation a group of lanes has one column and its lanes have the levels. In the
// processes a thread has any active cell, and stores it.
#pragma once

#include "physics/wsm5/mapping/nonfinite.cuh"
#include "physics/wsm5/mapping/column_map.cuh"
#include "physics/wsm5/mapping/column_results.cuh"

constexpr unsigned ALL_LANES = 0xffffffff;
constexpr int WARPS = TILE_THREADS / WARP;
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

// Values at the start of the minor step for sub-stepped sedimentation.
struct Start {
    Field t;
    Field qr;
};

struct Nothing {};

template <Sedimentation> struct Kept { typedef Nothing Type; };
template <> struct Kept<Sedimentation::Substepped> { typedef Start Type; };

__device__ inline void keep(Start& start, int k, int column, real t, real qr)
{
    start.t[k][column] = t;
    start.qr[k][column] = qr;
}

__device__ inline void keep(Nothing&, int, int, real, real) {}

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

__device__ inline real depth_of(const Wsm5Args& a, const Heights&, int k, int, int place)
{
    return __ldg(&a.dz[cell_of(a, k, place)]);
}

__device__ inline real depth_of(const Wsm5Args&, const Depths& depths, int k, int column, int)
{
    return depths.dz[k][column];
}

// An arrived layer.
struct alignas(4 * sizeof(real)) Arrived {
    LayerProfile profile;
    real arrival;  // of its bottom
    real mass;
};

// Work space of sedimentation in one column. Arrays as in src/physics/wsm5/sedimentation_work.rs.
struct SedimentationWork {
    Arrived arrived[NZ + 1];
    real arrival[SLOTS * GROUP];
};

// Columns of the tile with a species, one bit for each.
struct Falling {
    unsigned species[FALLING_SPECIES];

    __device__ unsigned of(Species kind) const { return species[int(kind)]; }
    __device__ unsigned any() const { return species[0] | species[1] | species[2]; }
};

// The columns with each species, listed for the tasks of sedimentation.
struct Listed {
    int count[FALLING_SPECIES];
    unsigned char column[FALLING_SPECIES][TILE_COLUMNS];
};

// Results of the sedimentation of a species in a minor step, other than the cells, kg m-2: see columns_with_landing.
struct Landing {
    real ground;    // precipitation at the ground
    real residual;  // water that sedimentation has created
    real clipped;   // water that clipping at zero has added
};

struct Tile {
    Field t, qv, qc, qr, qi, qs;
    Field rho;
    Layering<HEIGHTS_KEPT>::Type layering;
    Field clipped;  // water that clipping has added in a cell, kg m-2
    Field water;    // all water of a cell before the call, for the mass mismatch, kg kg-1
    Kept<FALLOUT>::Type start;
    union {
        Field depth;  // of the layers, until heights are computed, m
        SedimentationWork fall[WARPS * GROUPS][KINDS];
        // Active cells, level and column: warm ones from the front, cold ones from the back.
        unsigned short active[MOST_ACTIVE];
    };
    Falling falling;
    Listed listed;
    Landing landing[FALLING_SPECIES][TILE_COLUMNS];
    Precipitation sum[TILE_COLUMNS];  // of the minor steps before the current one
    int place[TILE_COLUMNS];  // of a column in a level of the fields, or NOWHERE
    int warm_count, cold_count;
    unsigned clips;  // non-zero if clipping has added water in any cell
};

static_assert(sizeof(Tile) == TILE_BYTES, "as much memory as Rust counts on");

// The columns with a species, or with any if a task has all species.
__device__ inline unsigned columns_of(const Tile& tile, Species kind)
{
    return KINDS == 1 ? tile.falling.of(kind) : tile.falling.any();
}

// The columns with results of a species: in the sub-stepped variant melting snow gives rain in columns without rain.
__device__ inline unsigned columns_with_landing(const Tile& tile, Species kind)
{
    return FALLOUT == Sedimentation::Substepped ? tile.falling.any() : columns_of(tile, kind);
}

// Resets the lists of the preceding minor step.
__device__ inline void begin_minor_step(Tile& tile)
{
    tile.falling = {{0, 0, 0}};
    tile.warm_count = tile.cold_count = 0;
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

__device__ inline Position position(const Wsm5Args& a)
{
    const int column = threadIdx.x % TILE_COLUMNS, row = threadIdx.x / TILE_COLUMNS;
    const int number = number_of(column);
    return {column, row, number < region_of(a).count && has_work(a, number)};
}

// Offset of the column in a level of the fields; that of the last column if the tile extends beyond it. Computed at
// each use, since wide tiles have no register for it.
__device__ inline int place_of(const Wsm5Args& a, const Position& at)
{
    return place_of(a, min(number_of(at.column), region_of(a).count - 1));
}

__device__ inline int lowest_level_of_warp() { return first_level(threadIdx.x / WARP * (WARP / TILE_COLUMNS)); }

__device__ inline int lane() { return threadIdx.x % WARP; }
__device__ inline int warp() { return threadIdx.x / WARP; }

// Depth of a layer in a column of the tile.
__device__ inline real depth_in(const Wsm5Args& a, const Tile& tile, int k, int column)
{
    return depth_of(a, tile.layering, k, column, tile.place[column]);
}

// The air of a cell for sedimentation: density, depth and density factor.
__device__ inline Air air_of(real rho, real dz)
{
    Air air = {rho, 0, dz, 0, 0, 0};
    cell::set_call_invariants(Cell{}, air);
    return air;
}

__device__ inline Cell cell_in(const Tile& tile, int k, int column)
{
    return {tile.t[k][column],  tile.qv[k][column], tile.qc[k][column],
            tile.qr[k][column], tile.qi[k][column], tile.qs[k][column]};
}

// Stores a cell in the tile.
__device__ inline void put(const Cell& cell, int k, int column, Tile& tile)
{
    tile.t[k][column] = cell.t;
    tile.qv[k][column] = cell.qv;
    tile.qc[k][column] = cell.qc;
    tile.qr[k][column] = cell.qr;
    tile.qi[k][column] = cell.qi;
    tile.qs[k][column] = cell.qs;
}
