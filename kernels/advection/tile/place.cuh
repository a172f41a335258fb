// The cells of a thread in a tile.
//
// A block has a tile of adjacent rows, a warp one row of the tile, a thread CELLS cells of the row; all march upward
// together. A thread computes the fluxes west and south of its cells and gets the other ones from its neighbours: from
// other lanes by shuffles, from other rows through shared memory. Neighbouring blocks have the same cells of different
// tracers, which share the wind.
#pragma once

#include "advection/march/unlimited.cuh"

constexpr int LANES = WARP;
constexpr unsigned ALL_LANES = 0xffffffff;

// Groups of cells in a cache line. The copy of a warp takes half as many sectors if its source and its target are
// aligned alike within cache lines.
constexpr int LINE = 128 / sizeof(Cells);

struct alignas(128) Line {
    Cells group[LINE];
};

// Halo groups at either end of a row of the tile, and cells between them.
constexpr int RING = (HALO + CELLS) / CELLS;
constexpr int TILE_OWN_CELLS = (LANES - 2 * RING) * CELLS;

// Rows that a tile finishes: the first row lacks the scale factors south of it, the last two rows those north of them.
constexpr int TILE_OWN_ROWS = TILE_ROWS - 3;

// Rows of a tile, and the rows that the stencils of their southern faces need.
constexpr int SEEN_ROWS = TILE_ROWS + 2 * HALO - 1;

__device__ inline int tile_row() { return static_cast<int>(threadIdx.x) / LANES; }
__device__ inline int tile_lane() { return static_cast<int>(threadIdx.x) % LANES; }

// Row `at` of the grid, continued periodically or clamped.
__device__ inline int row_of_grid(const TransportArgs& args, int at)
{
    return continued(periodic_y(), min(at, ny_of(args) + HALO), ny_of(args));
}

// A place in a tile.
struct TilePlace {
    Place place;
    int first_row;       // row of the grid that is the first row of the tile
    int place_in_line;   // index within its cache line at which a row of the tile begins
    bool owns;           // true if this thread finishes the cells
};

// The first cell that tile `strip` of a row finishes. Tiles overlap slightly, so that all of them, and the halos of all
// but the outer ones, are within the row.
__device__ inline int tile_begin(const TransportArgs& args, int strip)
{
    const int last = static_cast<int>(gridDim.y) - 1, spare = pitch(args) - TILE_OWN_CELLS;
    if (strip == last) return spare;
    return (strip * spare / last + CELLS - 1) / CELLS * CELLS;
}

// Finds the place of this thread among those of the tracers from `first_tracer` on.
__device__ inline TilePlace find_place_in_tile(const TransportArgs& args, int first_tracer)
{
    const int strip = static_cast<int>(blockIdx.y), row = tile_row(), lane = tile_lane();
    const int ny = ny_of(args);
    const int first = tile_begin(args, strip) - RING * CELLS;
    const int first_row = LIMIT_BEGIN + static_cast<int>(blockIdx.z) * TILE_OWN_ROWS - 1;
    const int i = first + lane * CELLS, j = first_row + row;
    Place place;
    place.tracer = first_tracer + static_cast<int>(blockIdx.x);
    place.first_level = 0;
    place.end_level = NZ;
    place.end = strip + 1 == static_cast<int>(gridDim.y) ? end_of_cells(args) : tile_begin(args, strip + 1);
    place.i = periodic_x() ? continued(true, i, nx_of(args)) : nearest(i, pitch(args) - CELLS);
    place.j = row_of_grid(args, j);
    place.near_x = is_near_x(args, place.i);
    place.near_y = is_near_y(args, place.j);
    place.is_inner = first >= FIRST + HALO && first + LANES * CELLS + HALO <= end_of_cells(args)
                     && first_row >= HALO && first_row + TILE_ROWS + HALO <= ny;
    const bool owns = lane >= RING && lane < LANES - RING && i < place.end && row >= 1
                      && row <= TILE_OWN_ROWS && j < ny;
    return {place, first_row, (first / CELLS) & (LINE - 1), owns};
}

// The value of the cell at distance `at` from the first cell of this thread, from the registers of the thread that has
// it.
__device__ inline real in_row(const Cells& here, int at)
{
    const int lanes = (at + LANES * CELLS) / CELLS - LANES, c = at - lanes * CELLS;
    if (lanes < 0) return __shfl_up_sync(ALL_LANES, here.at[c], -lanes);
    if (lanes > 0) return __shfl_down_sync(ALL_LANES, here.at[c], lanes);
    return here.at[c];
}
