// The processes in the cells, each by one thread, whichever thread has read it.
#pragma once

#include "wsm5/melt.cuh"
#include "wsm5/tile/load.cuh"

// Temperature of a cell at the start of the minor step, and the rain whose drop size decides how
// fast it freezes; in the semi-Lagrangian variant the fall leaves the one as it is, and the other
// is what it leaves.
__device__ inline real t_at_start(const Start& start, int k, int column, const Cell&)
{
    return start.t[k][column];
}

__device__ inline real t_at_start(const Nothing&, int, int, const Cell& cell) { return cell.t; }

__device__ inline real sized_rain(const Start& start, int k, int column, const Cell&)
{
    return start.qr[k][column];
}

__device__ inline real sized_rain(const Nothing&, int, int, const Cell& cell) { return cell.qr; }

// Lists the cells where something happens: those that can change by themselves, and those that the
// fall has left something in, where there was any. The latter are marked as well.
__device__ inline void list_active(const Position& at, Tile& tile, unsigned& active)
{
    if (tile.falling.any() >> at.column & 1) {
#pragma unroll
        for (int m = 0; m < CELLS; ++m) {
            if (!at.has(m)) continue;
            const Cell cell = cell_in(tile, at.level(m), at.column);
            const bool has_melted = t_at_start(tile.start, at.level(m), at.column, cell) != cell.t;
            if (!cell::is_clear(cell) || has_melted) active |= 1u << m;
        }
    }
    int count = 0;
#pragma unroll
    for (int m = 0; m < CELLS; ++m) count += __popc(__ballot_sync(ALL_LANES, active >> m & 1));
    if (count == 0) return;
    // The cells of a warp follow each other in the list.
    int next = 0;
    if (lane() == 0) next = atomicAdd(&tile.active_count, count);
    next = __shfl_sync(ALL_LANES, next, 0);
#pragma unroll
    for (int m = 0; m < CELLS; ++m) {
        const bool is_active = active >> m & 1;
        const unsigned lanes = __ballot_sync(ALL_LANES, is_active);
        const unsigned before = lanes & ((1u << lane()) - 1);
        if (is_active) tile.active[next + __popc(before)] = at.level(m) * TILE_COLUMNS + at.column;
        next += __popc(lanes);
    }
}

// Lets the processes act in the listed cells.
__device__ inline void act(const CloudArgs& a, bool is_first, Tile& tile)
{
    const Wsm5Params& p = a.params;
    const int count = tile.active_count;
    for (int n = threadIdx.x; n < count; n += TILE_THREADS) {
        const int k = tile.active[n] / TILE_COLUMNS, column = tile.active[n] % TILE_COLUMNS;
        const int here = k * a.level + tile.place[column];
        Cell cell = cell_in(tile, k, column);
        Air air = {tile.rho[k][column], __ldg(&a.p[here]), tile.dz[k][column], 0, 0, 0};
        // The fields still hold what was there at the start of the call.
        Cell first = cell;
        if (FALLOUT == Fallout::Substepped || !is_first) {
            first.t = (a.theta[here] + a.theta_base) * __ldg(&a.exner[here]);
            first.qv = a.qv[here];
        }
        cell::settle(first, air);
        Cell start = cell;
        start.t = t_at_start(tile.start, k, column, cell);
        const Onset at_start = cell::onset(p, air, start);
        const real qr_sized = sized_rain(tile.start, k, column, cell);
        // The sub-stepped fall has melted snow on the way.
        if (FALLOUT == Fallout::SemiLagrangian) melt::melt_snow(p, a.dt_cloud, air, cell);
        const real clipped = step::processes(p, a.dt_cloud, air, at_start, qr_sized, cell);
        put(cell, k, column, tile);
        tile.clipped[k][column] += air.rho * air.dz * clipped;
    }
}
