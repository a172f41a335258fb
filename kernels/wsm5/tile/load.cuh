// The tile filled from the fields, and a first look at what can happen in its cells.
#pragma once

#include "wsm5/tile/tile.cuh"

// Whether any process can change a cell, whatever falls into it. A cell near saturation counts: then
// the processes themselves find out.
__device__ inline bool can_change(const Wsm5Params& p, real pressure, const Cell& cell)
{
    if (!cell::is_clear(cell)) return true;
    const real cap = p.vapour_pressure_cap;
    real saturated = cell.t < FREEZING ? thermo::saturation(cell.t, pressure, cap).ice
                                       : thermo::saturation_water(cell.t, pressure, cap);
    // Without a cap, air can be too thin for water and not for ice.
    if (FALLOUT == Fallout::Substepped && cell.t < FREEZING)
        saturated = min(saturated, thermo::saturation_water(cell.t, pressure, cap));
    return cell.qv > NEARLY_SATURATED * saturated;
}

// What is known of the cells of a thread, a bit for each.
struct Marks {
    unsigned active;   // those that can change by themselves
    unsigned clipped;  // those that have had negative mixing ratios
};

// Clips negative mixing ratios. Returns the water that this makes, kg m-2.
__device__ inline real clip_all(const Air& air, Cell& cell)
{
    return step::clip(air, cell.qc) + step::clip(air, cell.qr) + step::clip(air, cell.qi) + step::clip(air, cell.qs);
}

// Reads the cells of a thread.
__device__ inline Marks load(const CloudArgs& a, const Position& at, Tile& tile)
{
    Marks marks = {0, 0};
#pragma unroll
    for (int m = 0; m < CELLS; ++m) {
        if (!at.has(m)) continue;
        const int k = at.level(m), column = at.column;
        const int here = k * a.level + at.place;
        const Air air = {__ldg(&a.rho[here]), __ldg(&a.p[here]), __ldg(&a.dz[here]), 0, 0, 0};
        Cell cell = {(a.theta[here] + a.theta_base) * __ldg(&a.exner[here]), a.qv[here],
                     a.qc[here], a.qr[here], a.qi[here], a.qs[here]};
        const real made = clip_all(air, cell);
        if (made > 0) marks.clipped |= 1u << m;
        if (can_change(a.params, air.p, cell)) marks.active |= 1u << m;
        tile.t[k][column] = cell.t;
        tile.qv[k][column] = cell.qv;
        tile.qc[k][column] = cell.qc;
        tile.qr[k][column] = cell.qr;
        tile.qi[k][column] = cell.qi;
        tile.qs[k][column] = cell.qs;
        tile.rho[k][column] = air.rho;
        tile.dz[k][column] = air.dz;
        tile.clipped[k][column] = made;
    }
    return marks;
}

// The columns of a tile that any of the threads of a warp has something in.
__device__ inline unsigned columns_with(bool something)
{
    // The lanes of a column follow each other at the distance of a row.
    unsigned columns = __ballot_sync(ALL_LANES, something);
#pragma unroll
    for (int rows = WARP / 2; rows >= TILE_COLUMNS; rows /= 2) columns |= columns >> rows;
    return columns & (ALL_LANES >> (WARP - TILE_COLUMNS));
}

// Notes which columns hold rain, snow and ice, and what the sub-stepped fall wants to know of the
// start of a minor step. Looks only at the cells of the thread.
__device__ inline void begin_step(const Position& at, Tile& tile)
{
    bool rain = false, snow = false, ice = false;
#pragma unroll
    for (int m = 0; m < CELLS; ++m) {
        if (!at.has(m)) continue;
        const int k = at.level(m), column = at.column;
        rain |= tile.qr[k][column] > 0;
        snow |= tile.qs[k][column] > 0;
        ice |= tile.qi[k][column] > 0;
        keep(tile.start, k, column, tile.t[k][column], tile.qr[k][column]);
    }
    const unsigned columns[SPECIES] = {columns_with(rain), columns_with(snow), columns_with(ice)};
    if (lane() != 0) return;
#pragma unroll
    for (int s = 0; s < SPECIES; ++s)
        if (columns[s] != 0) atomicOr(&tile.falling.species[s], columns[s]);
}
