// The last stage of positive-definite tracers in one pass, by tiles: a block also computes the scale factors of a ring
// of halo cells around its cells.
#pragma once

#include "advection/march/limited.cuh"
#include "advection/tile/faces.cuh"

// Shared memory of a block, followed by the level coefficients.
struct LimitSmem {
    Prefetched prefetched;
    Tile low, correction;   // fluxes through southern faces
    Tile factor;            // of the corrections out of cells
};
static_assert(sizeof(LimitSmem) == LIMIT_SMEM, "the size that Rust reserves");

// Coefficients of levels that are the same for all cells.
struct LevelNumbers {
    real *sure_x, *sure_y, *sure_z;   // lower bounds of the capacities; NZ + 1 of them along z
    real *c1, *c2;                    // of the mass of the cells
    static_assert(LIMIT_LEVEL_NUMBERS == 5, "numbers behind LimitSmem");

    __device__ inline explicit LevelNumbers(real* smem)
        : sure_x(smem), sure_y(sure_x + NZ), sure_z(sure_y + NZ), c1(sure_z + NZ + 1), c2(c1 + NZ)
    {}

    __device__ inline void load(const TransportArgs& args) const
    {
        for (int k = static_cast<int>(threadIdx.x); k <= NZ; k += TILE_ROWS * LANES) {
            sure_z[k] = sure_capacity(args, args.capacity_z, k);
            if (k == NZ) continue;
            sure_x[k] = sure_capacity(args, args.capacity_x, k);
            sure_y[k] = sure_capacity(args, args.capacity_y, k);
            c1[k] = __ldg(args.cell.c1 + k);
            c2[k] = __ldg(args.cell.c2 + k);
        }
    }
};

// Splits the high-order fluxes through the lower faces of the cells. `sure` is a lower bound of their capacities, and
// `face` the index of the first face in the planes of `capacity`.
__device__ inline SplitCells split_side(const TransportArgs& args, const LayeredPointers& capacity,
                                        real sure, int k, int face, const Cells& mass,
                                        const Cells (&start)[2], const Cells& high)
{
    bool all_sure = true;
    for (int c = 0; c < CELLS; ++c) all_sure = all_sure && fabs(mass.at[c]) <= sure;
    SplitCells flux;
    if (all_sure) {
        for (int c = 0; c < CELLS; ++c)
            flux.at[c] = split(mass.at[c], {start[0].at[c], start[1].at[c]}, high.at[c]);
        return flux;
    }
    // Keeps the compiler from computing addresses before it is known that they are needed.
    asm volatile("" : "+r"(face));
    for (int c = 0; c < CELLS; ++c)
        flux.at[c] = split_capped(args, capacity, k, face + c, mass.at[c],
                                  {start[0].at[c], start[1].at[c]}, high.at[c]);
    return flux;
}

// The split fluxes through all faces of a thread's cells.
struct SplitLevel {
    SplitCells west, south, bottom, top;
    Split east;   // through the face east of the last cell
    Cells low_north, correction_north;

    __device__ inline Split next(int c) const { return c + 1 < CELLS ? west.at[c + 1] : east; }
    __device__ inline Split north(int c) const { return {low_north.at[c], correction_north.at[c]}; }
    __device__ inline Faces low(int c) const
    {
        return {west.at[c].low, next(c).low, south.at[c].low, north(c).low, bottom.at[c].low,
                top.at[c].low};
    }
    __device__ inline Faces correction(int c) const
    {
        return {west.at[c].correction, next(c).correction, south.at[c].correction,
                north(c).correction, bottom.at[c].correction, top.at[c].correction};
    }
};

// The final flux between a cell and the next, from the scale factors of both.
__device__ inline real limited(const Split& split, real below, real above)
{
    return positive_flux(split.low, split.correction, {below, above});
}

// The last stage of a positive-definite tracer.
__device__ inline void limit(const TransportArgs& args, const TilePlace& tile, LimitSmem& smem)
{
    const Place& place = tile.place;
    Prefetched& prefetched = smem.prefetched;
    const Copier copier(args, tile, prefetched);
    const LevelNumbers numbers(reinterpret_cast<real*>(&smem + 1));
    const int row = copier.row, lane = copier.lane, cell = cell_of(args, place);
    const int row_south = max(row - 1, 0), row_north = min(row + 1, TILE_ROWS - 1);

    numbers.load(args);
    copier.masses(0);
    for (int k = 0; k < 2; ++k) copier.tracer(k, k);
    copier.latest(2);
    wait_for_copies();
    __syncthreads();
    Cells q[4];
    for (int s = 0; s < 4; ++s) q[s] = prefetched.latest.at(s == 3 ? 1 : 0)[row + HALO][lane];
    Cells start = prefetched.start.at(0)[row + 1][lane];
    SplitLevel flux;
    flux.bottom = {};
    // Values of the level below, which is finished when the scale factors of the current level are known.
    Cells start_below = {}, mass_below = {}, factor_below = {}, bottom_below = {}, outflow_below = {};
    InflowValues inflow_values = {};
    for (int k = 0; k < NZ; ++k) {
        const Level level(args, place, k);
        wait_for_copies();
        const Cells here = q[2], mass_x = prefetched.mass_x[row][lane], mass_y = prefetched.mass_y[row][lane];
        flux.south =
            split_side(args, args.capacity_y, numbers.sure_y[k], k, cell, mass_y,
                       {prefetched.start.at(k)[row][lane], start},
                       high_order_south(args, place, level, mass_y, here, prefetched.latest.at(k)));
        for (int c = 0; c < CELLS; ++c) {
            smem.low[row][lane].at[c] = flux.south.at[c].low;
            smem.correction[row][lane].at[c] = flux.south.at[c].correction;
        }
        Cells start_west;
        for (int c = 0; c < CELLS; ++c) start_west.at[c] = in_row(start, c - 1);
        flux.west =
            split_side(args, args.capacity_x, numbers.sure_x[k], k, cell + place.j * more_faces(), mass_x,
                       {start_west, start}, high_order_west(args, place, mass_x, here));
        flux.east = {__shfl_down_sync(ALL_LANES, flux.west.at[0].low, 1),
                     __shfl_down_sync(ALL_LANES, flux.west.at[0].correction, 1)};
        const Cells start_above = prefetched.start.at(k + 1)[row + 1][lane];
        for (int s = 0; s < 3; ++s) q[s] = q[s + 1];
        q[3] = prefetched.latest.at(k + 2)[row + HALO][lane];
        flux.top = {};
        if (k + 1 < NZ) {
            const Cells mass_z = prefetched.mass_z[row][lane];
            flux.top = split_side(args, args.capacity_z, numbers.sure_z[k + 1], k + 1, cell, mass_z,
                                  {start, start_above}, high_order_z(args, k + 1, mass_z, q));
        }
        const Cells mass = mass_of(args.cell, cell, numbers.c1[k], numbers.c2[k]);
        __syncthreads();

        copier.tracer(k + 3, k + 2);
        copier.masses(k + 1);
        flux.low_north = smem.low[row_north][lane];
        flux.correction_north = smem.correction[row_north][lane];
        Cells factor;
        for (int c = 0; c < CELLS; ++c) {
            const real amount = low_order_mass(mass.at[c], start.at[c], args.dt, flux.low(c));
            factor.at[c] = limiter_ratio(amount, product(args.dt, flux.correction(c).outgoing()));
            if (!place.is_inner && outermost(args, place, c)) factor.at[c] = 1;
        }
        smem.factor[row][lane] = factor;
        Lateral lateral;
        for (int c = 0; c < CELLS; ++c)
            lateral.x[c] = limited(flux.west.at[c], in_row(factor, c - 1), factor.at[c]);
        lateral.x[CELLS] = __shfl_down_sync(ALL_LANES, lateral.x[0], 1);
        __syncthreads();

        const Cells factor_south = smem.factor[row_south][lane];
        const Cells factor_north = smem.factor[row_north][lane];
        Cells bottom;
        for (int c = 0; c < CELLS; ++c) {
            lateral.south.at[c] = limited(flux.south.at[c], factor_south.at[c], factor.at[c]);
            lateral.north.at[c] = limited(flux.north(c), factor.at[c], factor_north.at[c]);
            bottom.at[c] = limited(flux.bottom.at[c], factor_below.at[c], factor.at[c]);
        }
        if (tile.owns) {
            if (k > 0) {
                for (int c = 0; c < CELLS; ++c)
                    outflow_below.at[c] += bottom.at[c] - bottom_below.at[c];
                finish(args, place, Level(args, place, k - 1), inflow_values,
                       after(args, start_below, mass_below, outflow_below));
            }
            if (place.near_x) inflow_values.load(args, place, level);
            outflow_below = lateral_outflow(args, place, level, level.start, lateral);
        }
        start_below = start;
        mass_below = mass;
        factor_below = factor;
        bottom_below = bottom;
        start = start_above;
        flux.bottom = flux.top;
    }
    if (!tile.owns) return;
    // No flux through the top of the grid.
    for (int c = 0; c < CELLS; ++c) outflow_below.at[c] += real(0) - bottom_below.at[c];
    finish(args, place, Level(args, place, NZ - 1), inflow_values, after(args, start_below, mass_below, outflow_below));
}
