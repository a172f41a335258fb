// The processes in the cells, one thread for each, which need not be the thread that loaded the cell.
#pragma once

#include "physics/tile/cells.cuh"
#include "physics/wsm6/tile/load.cuh"
#include "physics/wsm6/tile/store.cuh"

// Marks the cells with rain, snow, graupel or ice after sedimentation, which completes the marks of active cells. In the
// last minor step the mass mismatch of all other cells is set to zero.
__device__ inline void mark_active(const Position& at, bool is_last, Tile& tile, unsigned& active)
{
    if (at.is_inside) {
#pragma unroll
        for (int m = 0; m < CELLS; ++m) {
            if (!at.has(m)) continue;
            const int k = at.level(m), column = at.column;
            // Cloud water does not sediment: cells with cloud water are marked already.
            const real fallen = max(max(tile.qr[k][column], tile.qs[k][column]),
                                    max(tile.qi[k][column], tile.qg[k][column]));
            if (fallen > 0) active |= 1u << m;
        }
    }
    if (TRACK_MISMATCH && is_last) {
#pragma unroll
        for (int m = 0; m < CELLS; ++m)
            if (at.has(m) && !(active >> m & 1)) tile.water[at.level(m)][at.column] = 0;
    }
}

// Computes the properties of a cell before the processes of a minor step.
__device__ inline Origin origin_of(const Wsm6Args& a, const Tile& tile, int k, int column)
{
    const int here = cell_of(a, k, tile.place[column]);
    const real exner = __ldg(&a.exner[here]), p = __ldg(&a.p[here]);
    const Cell start = wsm6::cell::without_graupel(cell_in(tile, k, column));
    return {exner, p, cell::step_start(a.params.common, Air{0, p, 0, 0, 0, 0}, start)};
}

// The processes in a cell, which is stored after the last minor step.
__device__ inline void run_processes_in(const Wsm6Args& a, const Origin& origin, int k, int column, bool is_first,
                                        bool is_last, Tile& tile)
{
    const Wsm6Params& p = a.params;
    const int here = cell_of(a, k, tile.place[column]);
    Wsm6Cell cell = cell_in(tile, k, column);
    const real exner = origin.exner, depth = depth_in(a, tile, k, column);
    // No process needs the depth of a layer.
    Air air = {tile.rho[k][column], origin.p, 0, 0, 0, 0};
    const StepStart& at_start = origin.step_start;
    // The fields still hold the values at the start of the call.
    const auto t_of_call = [&] { return is_first ? at_start.t : (a.theta[here] + a.theta_base) * exner; };
    Cell first = wsm6::cell::without_graupel(cell);
    first.t = t_of_call();
    if (!is_first) first.qv = a.qv[here];
    cell::set_call_invariants(first, air);
    const real qr_for_slope = cell.qr;
    wsm6::melt::melt(p, a.dt_cloud, air, cell);
    wsm6::melt::adjust_phase(p, a.dt_cloud, air, qr_for_slope, cell);
    real clipped = wsm6::step::apply_rates(p, a.dt_cloud, air, at_start, cell);
    clipped += wsm6::step::condense(p, a.dt_cloud, air, at_start, cell);
    if (is_last) store_cell(a, k, column, air.rho, exner, t_of_call(), cell, tile);
    else put(cell, k, column, tile);
    tile.clipped[k][column] += air.rho * depth * clipped;
    if (clipped != 0) atomicOr(&tile.clips, 1u);
}
