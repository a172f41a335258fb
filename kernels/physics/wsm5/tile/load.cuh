// Load of a tile from the fields, and a first test for active cells.
#pragma once

#include "physics/wsm5/tile/tile.cuh"

// Properties of a cell before the processes of a minor step.
struct Origin {
    real exner, p;
    StepStart step_start;
};

// True if threads process the cells that they have loaded, and keep their properties in registers.
constexpr bool ORIGIN_KEPT = !LISTED && ONE_STEP;

// The lowest saturation mixing ratio at which a process can start in a cell.
__device__ inline real least_saturation(const StepStart& step_start)
{
    const real least = step_start.t < FREEZING ? step_start.qsi : step_start.qsw;
    // Without a cap, the vapour pressure over water can exceed the pressure while that over ice does not.
    return FALLOUT == Sedimentation::Substepped ? min(least, step_start.qsw) : least;
}

// The lowest saturation mixing ratio, without computing the other one.
__device__ inline real least_saturation(const Wsm5Params& p, real t, real pressure)
{
    const real cap = p.vapour_pressure_cap;
    const bool is_cold = t < FREEZING;
    const real tr = (FREEZING + TRIPLE_POINT_EXCESS) / t;
    const real e = thermo::vapour_pressure(tr, log(tr), is_cold ? C_ICE : C_LIQUID,
                                           is_cold ? L_SUBLIMATION : L_VAPORISATION);
    const real least = thermo::mixing_ratio(pressure, e, cap);
    return FALLOUT == Sedimentation::Substepped && is_cold
        ? min(least, thermo::saturation_water(t, pressure, cap)) : least;
}

// True if any process can change a cell, apart from sedimentation into it. Cells near saturation count as well; the
// processes decide then.
__device__ inline bool can_change(real saturated, const Cell& cell)
{
    // All species at once, since a branch for each would be slower.
    const real condensate = max(max(cell.qc, cell.qr), max(cell.qi, cell.qs));
    return condensate > 0 || cell.qv > NEARLY_SATURATED * saturated;
}

// Clips negative mixing ratios. Returns the water that clipping adds, kg m-2.
__device__ inline real clip_all(const Air& air, Cell& cell)
{
    return step::clip(air, cell.qc) + step::clip(air, cell.qr) + step::clip(air, cell.qi) + step::clip(air, cell.qs);
}

// Values of a cell in the fields; those that are needed first come first.
struct LoadedCell {
    real exner, p, theta, qv;
    real qc, qr, qi, qs;
    real rho, dz;
};

// Number of cells that a thread prefetches at a time.
constexpr int PREFETCH = CELLS < TILE_PREFETCH ? CELLS : TILE_PREFETCH;

__device__ inline LoadedCell load_cell(const Wsm5Args& a, int here)
{
    const Fields from = fields_of(a);
    return {__ldg(&from.exner[here]), __ldg(&from.p[here]), from.theta[here], from.qv[here],
            from.qc[here], from.qr[here], from.qi[here], from.qs[here],
            __ldg(&from.rho[here]), __ldg(&from.dz[here])};
}

// Prefetches the next cells of a thread, from cell `start` on.
__device__ inline void prefetch(const Wsm5Args& a, const Position& at, int start, LoadedCell (&found)[PREFETCH])
{
    const int place = place_of(a, at);
#pragma unroll
    for (int n = 0; n < PREFETCH; ++n)
        if (at.has(start + n)) found[n] = load_cell(a, cell_of(a, at.level(start + n), place));
}

// Largest contents of rain, snow and ice in the cells of a thread, kg kg-1.
struct Contents {
    real rain, snow, ice;
};

// Stores the state of a cell at the start of a minor step, for the thread and for sub-stepped sedimentation.
__device__ inline void store_start(int k, int column, const Cell& cell, Tile& tile, Contents& contents)
{
    contents.rain = max(contents.rain, cell.qr);
    contents.snow = max(contents.snow, cell.qs);
    contents.ice = max(contents.ice, cell.qi);
    keep(tile.start, k, column, cell.t, cell.qr);
}

// Examines the cells of a thread, of which the first have been prefetched. Returns a bit for each cell that can change
// by itself, or has been clipped. In a run (TRACK_MISMATCH) values that are not finite are noted.
__device__ inline unsigned load(const Wsm5Args& a, const Position& at, LoadedCell (&found)[PREFETCH], Tile& tile,
                                Contents& contents, Origin& origin)
{
    unsigned active = 0;
    real nonfinite = 0;
#pragma unroll
    for (int start = 0; start < CELLS; start += PREFETCH) {
        if (start > 0) prefetch(a, at, start, found);
#pragma unroll
        for (int n = 0; n < PREFETCH; ++n) {
            const int m = start + n;
            if (!at.has(m)) continue;
            const int k = at.level(m), column = at.column;
            const LoadedCell& f = found[n];
            const Air air = {f.rho, f.p, f.dz, 0, 0, 0};
            Cell cell = {(f.theta + a.theta_base) * f.exner, f.qv, f.qc, f.qr, f.qi, f.qs};
            if (TRACK_MISMATCH) {
                const real water = cell::water(cell);
                tile.water[k][column] = water;
                nonfinite += nonfinite_indicator(cell, water);
            }
            if (ORIGIN_KEPT) origin = {f.exner, f.p, cell::step_start(a.params, air, cell)};
            const real saturated = ORIGIN_KEPT ? least_saturation(origin.step_start)
                                               : least_saturation(a.params, cell.t, air.p);
            if (can_change(saturated, cell)) active |= 1u << m;
            const real made = clip_all(air, cell);
            if (made > 0) {
                active |= 1u << m;
                atomicOr(&tile.clips, 1u);
            }
            store_start(k, column, cell, tile, contents);
            put(cell, k, column, tile);
            tile.rho[k][column] = air.rho;
            depths_read(tile.layering, tile.depth)[k][column] = air.dz;
            tile.clipped[k][column] = made;
        }
    }
    if (nonfinite != 0 && at.is_inside) {
        // The fields still hold the loaded values.
        for (int m = 0; m < CELLS; ++m) {
            if (!at.has(m)) continue;
            const int here = cell_of(a, at.level(m), place_of(a, number_of(at.column)));
            record_nonfinite(a, here, {a.theta[here], a.qv[here], a.qc[here], a.qr[here], a.qi[here], a.qs[here]});
        }
    }
    if (at.is_inside) return active;
    contents = {0, 0, 0};
    return 0;
}

// The columns of a tile with content in any of the threads of a warp.
__device__ inline unsigned columns_with(bool something)
{
    // Lanes of the same column are TILE_COLUMNS apart.
    unsigned columns = __ballot_sync(ALL_LANES, something);
#pragma unroll
    for (int rows = WARP / 2; rows >= TILE_COLUMNS; rows /= 2) columns |= columns >> rows;
    return columns & (ALL_LANES >> (WARP - TILE_COLUMNS));
}

// Contents of the cells of a thread at the start of a minor step after the first.
__device__ inline Contents reload_contents(const Position& at, Tile& tile)
{
    Contents contents = {0, 0, 0};
#pragma unroll
    for (int m = 0; m < CELLS; ++m)
        if (tile.place[at.column] != NOWHERE && at.has(m))
            store_start(at.level(m), at.column, cell_in(tile, at.level(m), at.column), tile, contents);
    return contents;
}

// Marks the columns that contain rain, snow and ice.
__device__ inline void mark_falling_columns(const Contents& contents, Tile& tile)
{
    const unsigned rain = columns_with(contents.rain > 0), snow = columns_with(contents.snow > 0);
    const unsigned ice = columns_with(contents.ice > 0);
    // One lane for each species.
    const int s = lane();
    const unsigned columns = s == int(Species::RAIN) ? rain : s == int(Species::SNOW) ? snow : ice;
    if (s < FALLING_SPECIES && columns != 0) atomicOr(&tile.falling.species[s], columns);
}
