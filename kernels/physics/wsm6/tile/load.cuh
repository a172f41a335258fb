// Load of a tile from the fields, and a first test for active cells.
#pragma once

#include "physics/tile/cells.cuh"
#include "physics/wsm5/tile/saturation.cuh"
#include "physics/wsm6/tile/tile.cuh"

// True if any process can change a cell, apart from sedimentation into it. Cells near saturation count as well; the
// processes decide then.
__device__ inline bool can_change(real saturated, const Wsm6Cell& cell)
{
    // All species at once, since a branch for each would be slower.
    const real condensate = max(max(max(cell.qc, cell.qr), max(cell.qi, cell.qs)), cell.qg);
    return condensate > 0 || cell.qv > NEARLY_SATURATED * saturated;
}

// Clips negative mixing ratios. Returns the water that clipping adds, kg m-2.
__device__ inline real clip_all(const Air& air, Wsm6Cell& cell)
{
    return step::clip(air, cell.qc) + step::clip(air, cell.qr) + step::clip(air, cell.qi)
        + step::clip(air, cell.qs)
        + step::clip(air, cell.qg);
}

// Values of a cell in the fields; those that are needed first come first.
struct LoadedCell {
    real exner, p, theta, qv;
    real qc, qr, qi, qs, qg;
    real rho, dz;
};

__device__ inline void load_cell(const Wsm6Args& a, int here, LoadedCell& cell)
{
    const Fields from = fields_of(a);
    cell = {__ldg(&from.exner[here]), __ldg(&from.p[here]), from.theta[here], from.qv[here],
            from.qc[here], from.qr[here], from.qi[here], from.qs[here], from.qg[here],
            __ldg(&from.rho[here]), __ldg(&from.dz[here])};
}

__device__ inline void add_contents(const Wsm6Cell& cell, Contents& contents)
{
    contents.add(Species::RAIN, cell.qr);
    contents.add(Species::SNOW, max(cell.qs, cell.qg));
    contents.add(Species::ICE, cell.qi);
}

// Examines the cells of a thread, of which the first have been prefetched. Returns a bit for each cell that can change
// by itself, or has been clipped. In a run (TRACK_MISMATCH) values that are not finite are noted.
__device__ inline unsigned load(const Wsm6Args& a, const Position& at, LoadedCell (&found)[PREFETCH], Tile& tile,
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
            Wsm6Cell cell = {(f.theta + a.theta_base) * f.exner, f.qv, f.qc, f.qr, f.qi, f.qs, f.qg};
            if (TRACK_MISMATCH) {
                const real water = wsm6::cell::water(cell);
                tile.water[k][column] = water;
                nonfinite += nonfinite_indicator(cell, water);
            }
            if (ORIGIN_KEPT) {
                const Cell common = wsm6::cell::without_graupel(cell);
                origin = {f.exner, f.p, cell::step_start(a.params.common, air, common)};
            }
            const real saturated = ORIGIN_KEPT ? least_saturation(origin.step_start)
                                               : least_saturation(a.params.common, cell.t, air.p);
            if (can_change(saturated, cell)) active |= 1u << m;
            const real made = clip_all(air, cell);
            if (made > 0) {
                active |= 1u << m;
                atomicOr(&tile.clips, 1u);
            }
            add_contents(cell, contents);
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
            record_nonfinite(a, here, {a.theta[here], a.qv[here], a.qc[here], a.qr[here], a.qi[here], a.qs[here],
                                       a.qg[here]});
        }
    }
    if (at.is_inside) return active;
    contents = {};
    return 0;
}

// Contents of the cells of a thread at the start of a minor step after the first.
__device__ inline Contents reload_contents(const Position& at, const Tile& tile)
{
    Contents contents = {};
#pragma unroll
    for (int m = 0; m < CELLS; ++m)
        if (tile.place[at.column] != NOWHERE && at.has(m))
            add_contents(cell_in(tile, at.level(m), at.column), contents);
    return contents;
}
