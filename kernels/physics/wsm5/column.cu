// The microphysics with one thread for each column: the mapping of the first ports of this scheme to GPUs.

#include "primitives/pdl_wait.cuh"
#include "physics/wsm5/column/column.cuh"
#include "physics/wsm5/column/sedimentation.cuh"
#include "physics/wsm5/mapping/nonfinite.cuh"
#include "physics/wsm5/mapping/fields.cuh"
#include "physics/wsm5/column/substepped_sedimentation.cuh"
#include "physics/wsm5/mapping/column_results.cuh"

// One minor step: the processes of the scheme in order. See src/physics/wsm5/mod.rs.
__device__ inline void minor_step(const Wsm5Params& p, real dt_cloud, Column& column, Precipitation& sum)
{
#pragma unroll 1
    for (int k = 0; k < NZ; ++k)
        column.step_start[k] = cell::step_start(p, column.air[k], column.cells[k]);
    real ground[FALLING_SPECIES];
    if constexpr (FALLOUT == Sedimentation::SemiLagrangian) {
        sediment_semi_lagrangian(p, dt_cloud, column, sum, ground);
    } else {
        sediment_substepped(p, dt_cloud, column, ground);
    }
    add_to_sums(dt_cloud, column.air[0].dz, ground, sum);
#pragma unroll 1
    for (int k = 0; k < NZ; ++k) {
        const Air& air = column.air[k];
        const real clipped = step::processes(p, dt_cloud, air, column.step_start[k], column.qr_for_slope[k],
                                             column.cells[k]);
        sum.clipped += air.rho * air.dz * clipped;
    }
}

// Notes non-finite values of a column. Separate from the loops that detect them, to keep those short.
__device__ inline void record_nonfinite_cells(const Wsm5Args& a, int place, const Column& column)
{
#pragma unroll 1
    for (int k = 0; k < NZ; ++k) record_nonfinite(a, cell_of(a, k, place), column.cells[k]);
}

extern "C" __global__ void __launch_bounds__(COLUMN_THREADS)
    wsm5_column(__grid_constant__ const Wsm5Args a)
{
    begin(a.marks, MARK_WSM5_COLUMN);
    const int number = blockIdx.x * COLUMN_THREADS + threadIdx.x;
    if (number >= region_of(a).count) return;
    const int place = place_of(a, number);
    Column column;
    real nonfinite = 0;
#pragma unroll 1
    for (int k = 0; k < NZ; ++k) {
        const int at = cell_of(a, k, place);
        column.cells[k] = Cell{(a.theta[at] + a.theta_base) * a.exner[at], a.qv[at], a.qc[at],
                               a.qr[at], a.qi[at], a.qs[at]};
        nonfinite += nonfinite_indicator(column.cells[k], cell::water(column.cells[k]));
        column.air[k] = Air{a.rho[at], a.p[at], a.dz[at], 0, 0, 0};
    }
    if (nonfinite != 0) record_nonfinite_cells(a, place, column);
    Precipitation sum{};
    begin_call(column, sum);
    const int steps = ONE_STEP ? 1 : a.minor_steps;
    for (int step = 0; step < steps; ++step) minor_step(a.params, a.dt_cloud, column, sum);
    real mismatch = 0;
    nonfinite = 0;
#pragma unroll 1
    for (int k = 0; k < NZ; ++k) {
        const int at = cell_of(a, k, place);
        const Cell& cell = column.cells[k];
        const real water = cell::water(cell);
        const real before = cell::water(Cell{0, a.qv[at], a.qc[at], a.qr[at], a.qi[at], a.qs[at]});
        mismatch += mass_mismatch(a, place, k, a.rho[at], a.dz[at], before, water);
        nonfinite += nonfinite_indicator(cell, water);
        store_theta(a, at, a.exner[at], (a.theta[at] + a.theta_base) * a.exner[at], cell.t);
        a.qv[at] = cell.qv;
        a.qc[at] = cell.qc;
        a.qr[at] = cell.qr;
        a.qi[at] = cell.qi;
        a.qs[at] = cell.qs;
    }
    if (nonfinite != 0) record_nonfinite_cells(a, place, column);
    store_surface(a, place, sum, mismatch);
}
