// The processes in the cells, one thread for each, which need not be the thread that loaded the cell.
#pragma once

#include "physics/tile/cells.cuh"
#include "physics/wsm5/melt.cuh"
#include "physics/wsm5/tile/load.cuh"
#include "physics/wsm5/tile/store.cuh"

// Temperature of a cell at the start of the minor step, and the rain whose drop size determines its freezing rate. In
// the semi-Lagrangian variant these are the current temperature and the rain after sedimentation.
__device__ inline real t_at_start(const Start& start, int k, int column, const Cell&)
{
    return start.t[k][column];
}

__device__ inline real t_at_start(const Nothing&, int, int, const Cell& cell) { return cell.t; }

__device__ inline real rain_for_slope(const Start& start, int k, int column, const Cell&)
{
    return start.qr[k][column];
}

__device__ inline real rain_for_slope(const Nothing&, int, int, const Cell& cell) { return cell.qr; }

// True if melting during sedimentation has changed the temperature of a cell.
__device__ inline bool has_melted(const Start& start, int k, int column, const Tile& tile)
{
    return start.t[k][column] != tile.t[k][column];
}

__device__ inline bool has_melted(const Nothing&, int, int, const Tile&) { return false; }

// Marks the cells with rain, snow or ice after sedimentation, or with melting in it, which completes the marks of
// active cells. In the last minor step the mass mismatch of all other cells is set to zero.
__device__ inline void mark_active(const Wsm5Args& a, const Position& at, bool is_last, Tile& tile, unsigned& active)
{
    if (at.is_inside) {
#pragma unroll
        for (int m = 0; m < CELLS; ++m) {
            if (!at.has(m)) continue;
            const int k = at.level(m), column = at.column;
            // Cloud water does not sediment: cells with cloud water are marked already.
            const real fallen = max(max(tile.qr[k][column], tile.qs[k][column]), tile.qi[k][column]);
            if (fallen > 0 || has_melted(tile.start, k, column, tile)) active |= 1u << m;
        }
    }
    if (TRACK_MISMATCH && is_last) {
#pragma unroll
        for (int m = 0; m < CELLS; ++m)
            if (at.has(m) && !(active >> m & 1)) tile.water[at.level(m)][at.column] = 0;
    }
}

// Computes the properties of a cell before the processes of a minor step.
__device__ inline Origin origin_of(const Wsm5Args& a, const Tile& tile, int k, int column)
{
    const int here = cell_of(a, k, tile.place[column]);
    const real exner = __ldg(&a.exner[here]), p = __ldg(&a.p[here]);
    Cell start = cell_in(tile, k, column);
    start.t = t_at_start(tile.start, k, column, start);
    return {exner, p, cell::step_start(a.params, Air{0, p, 0, 0, 0, 0}, start)};
}

// The processes in a cell, which is stored after the last minor step.
__device__ inline void run_processes_in(const Wsm5Args& a, const Origin& origin, int k, int column, bool is_first,
                                        bool is_last, Tile& tile)
{
    const Wsm5Params& p = a.params;
    const int here = cell_of(a, k, tile.place[column]);
    Cell cell = cell_in(tile, k, column);
    const real exner = origin.exner, depth = depth_in(a, tile, k, column);
    // No process needs the depth of a layer.
    Air air = {tile.rho[k][column], origin.p, 0, 0, 0, 0};
    const StepStart& at_start = origin.step_start;
    // The fields still hold the values at the start of the call.
    const auto t_of_call = [&] { return is_first ? at_start.t : (a.theta[here] + a.theta_base) * exner; };
    Cell first = cell;
    first.t = t_of_call();
    if (!is_first) first.qv = a.qv[here];
    cell::set_call_invariants(first, air);
    const real qr_for_slope = rain_for_slope(tile.start, k, column, cell);
    // In the other variant snow has melted during sub-stepped sedimentation.
    if (FALLOUT == Sedimentation::SemiLagrangian) melt::melt_snow(p, a.dt_cloud, air, cell);
    const real clipped = step::processes(p, a.dt_cloud, air, at_start, qr_for_slope, cell);
    if (is_last) store_cell(a, k, column, air.rho, exner, t_of_call(), cell, tile);
    else put(cell, k, column, tile);
    tile.clipped[k][column] += air.rho * depth * clipped;
    if (clipped != 0) atomicOr(&tile.clips, 1u);
}
