// The Kessler scheme, one thread for each column. The order of operations is that of src/physics/kessler/columns.rs for
// a single column.

#include "dry_mass/mismatch.cuh"
#include "physics/kessler/cell.cuh"
#include "physics/kessler/sedimentation.cuh"
#include "primitives/pdl_wait.cuh"
#include "primitives/layered.cuh"
#include "primitives/status_word.cuh"

using namespace kessler;

// Rain of one column during sedimentation, from the ground up, in the local memory of its thread.
struct Column {
    real qr_falling[NZ];
    real speed[NZ];
    real rho[NZ];
    real density_factor[NZ];
    real per_depth[NZ];
    real per_mass[NZ];
};

// Precipitation of a column, and the terms of its water budget.
struct Ground {
    real rain;           // precipitation since the start of the run, mm
    real rainncv;        // precipitation of the last sub-step, mm
    real fallen;         // precipitation of the call, kg m-2
    real fall_residual;  // water that sedimentation has created, kg m-2
    real clipped;        // water that clipping at zero has added, kg m-2
    real mass_mismatch;  // mass of the changes minus that computed with rho dz, kg m-2
};

// Remaining sub-steps of the sedimentation.
struct SubStepsLeft {
    real left;     // remaining sub-steps, including the current one; 0 at the end
    real substep;  // length of a sub-step, s
    real time;     // remaining time, s
};

__device__ inline real flux_of(const Column& column, int k)
{
    return sedimentation::flux(column.rho[k], column.qr_falling[k], column.speed[k]);
}

__device__ inline void set_speed(const KesslerFactors& p, Column& column, int k)
{
    column.speed[k] = sedimentation::fall_speed(p, column.rho[k], column.density_factor[k], column.qr_falling[k]);
}

// Sets the invariants of the sedimentation, and the first terminal velocities.
__device__ inline void prepare(const KesslerArgs& a, int place, int reach, Column& column)
{
    const real rho_lowest = column.rho[0];
#pragma unroll 1
    for (int k = 0; k < reach; ++k) {
        // For the uppermost layer, the distance to the layer above is taken to be that to the layer below.
        const int lower = min(k, NZ - 2);
        const real dz = a.dz[lower * a.level + place], dz_above = a.dz[(lower + 1) * a.level + place];
        column.density_factor[k] = sedimentation::density_factor(rho_lowest, column.rho[k]);
        column.per_depth[k] = 1 / a.dz[k * a.level + place];
        column.per_mass[k] = 1 / (sedimentation::distance(dz, dz_above) * column.rho[k]);
        set_speed(a.factors, column, k);
    }
}

// Number of sub-steps for a time span, with the current terminal velocities.
__device__ inline real substeps_for(const Column& column, real span, int reach)
{
    real largest = 0;
#pragma unroll 1
    for (int k = 0; k < reach; ++k)
        largest = max(sedimentation::courant(column.speed[k], span, column.per_depth[k]), largest);
    return sedimentation::number_of_substeps(largest);
}

// One sub-step.
__device__ inline void substep(const KesslerFactors& p, int reach, Column& column, SubStepsLeft& remaining,
                               Ground& ground)
{
    remaining.time -= remaining.substep;
    real flux = flux_of(column, 0);
    ground.rainncv = sedimentation::precipitation(flux, remaining.substep);
    ground.rain += ground.rainncv;
    // A millimetre of water is a kilogram per square metre.
    ground.fallen += ground.rainncv;
    // NaN as the number of sub-steps leaves none.
    remaining.left = remaining.left > 1 ? remaining.left - 1 : real(0);
#pragma unroll 1
    for (int k = 0; k < reach; ++k) {
        const real above = k + 1 < reach ? flux_of(column, k + 1) : real(0);
        column.qr_falling[k] =
            sedimentation::passed(column.qr_falling[k], remaining.substep, column.per_mass[k], flux, above);
        flux = above;
        if (remaining.left != 0) set_speed(p, column, k);
    }
    if (remaining.left == 0) return;
    // While their number is the expected one, sub-steps keep their length.
    const real needed = substeps_for(column, remaining.time, reach);
    if (needed != remaining.left) {
        remaining.left = needed;
        remaining.substep = remaining.time / needed;
    }
}

// Non-zero (NaN) if a cell may have a value that is infinite or NaN.
__device__ inline real nonfinite_indicator(const KesslerCell& cell)
{
    // x - x is 0 for finite x only.
    const real water = cell::water(cell.qv, cell.qc, cell.qr);
    return (cell.theta - cell.theta) + (water - water);
}

// Notes the first field of a cell that is infinite or NaN, if there is one and notes are on.
__device__ inline void record_nonfinite(const KesslerArgs& a, int at, const KesslerCell& cell)
{
    if (a.notes == nullptr) return;
    const real values[] = {cell.theta, cell.qv, cell.qc, cell.qr};
    constexpr int FIELDS = sizeof(values) / sizeof(real);
    int field = FIELDS;
#pragma unroll
    for (int n = FIELDS - 1; n >= 0; --n)
        if (!(values[n] - values[n] == 0)) field = n;
    if (field < FIELDS)
        record_first_nonfinite(a.notes, a.step, field == 0 ? a.theta_number : a.water_number + field - 1, at);
}

// The processes in the cells of a column, after sedimentation.
__device__ inline void process(const KesslerArgs& a, int place, const Column& column, Ground& ground)
{
    const bool is_weighed = a.mass_mismatch != nullptr;
#pragma unroll 1
    for (int k = 0; k < NZ; ++k) {
        const int at = k * a.level + place;
        const KesslerCell before{a.theta[at], a.qv[at], a.qc[at], a.qr[at], 0};
        const real rho = column.rho[k], dz = a.dz[at];
        const KesslerCell after =
            cell::processed(a.factors, a.dt, a.theta_base, rho, a.exner[at], column.qr_falling[k], before);
        if (nonfinite_indicator(before) + nonfinite_indicator(after) != 0) {
            record_nonfinite(a, at, before);
            record_nonfinite(a, at, after);
        }
        ground.clipped += rho * dz * after.made;
        if (is_weighed) {
            const real mass = layered_at(a.mass, place, k), per_area = a.per_area[place];
            const real water = cell::water(before.qv, before.qc, before.qr);
            const real water_after = cell::water(after.qv, after.qc, after.qr);
            ground.mass_mismatch += mismatch::mass_mismatch(mass, per_area, rho, dz, water, water_after);
        }
        a.theta[at] = after.theta;
        a.qv[at] = after.qv;
        a.qc[at] = after.qc;
        a.qr[at] = after.qr;
    }
}

extern "C" __global__ void __launch_bounds__(KESSLER_THREADS) kessler_column(__grid_constant__ const KesslerArgs a)
{
    begin(a.marks, MARK_KESSLER_COLUMN);
    const int number = blockIdx.x * KESSLER_THREADS + threadIdx.x;
    if (number >= a.columns) return;
    const int place = a.first + number / a.width * a.pitch + number % a.width;
    Column column;
    // Sedimentation does not change layers above the highest one with rain.
    int reach = 0;
#pragma unroll 1
    for (int k = 0; k < NZ; ++k) {
        const int at = k * a.level + place;
        column.qr_falling[k] = a.qr[at];
        column.rho[k] = a.rho[at];
        if (column.qr_falling[k] > 0) reach = k + 1;
    }
    Ground ground{a.rain[place]};
    if (reach > 0) {
        prepare(a, place, reach, column);
        const real left = substeps_for(column, a.dt, reach);
        SubStepsLeft remaining{left, a.dt / left, a.dt};
        while (remaining.left != 0) substep(a.factors, reach, column, remaining, ground);
        ground.fall_residual = ground.fallen;
#pragma unroll 1
        for (int k = 0; k < reach; ++k) {
            const int at = k * a.level + place;
            ground.fall_residual += sedimentation::gained(column.rho[k], a.dz[at], a.qr[at], column.qr_falling[k]);
        }
    }
    process(a, place, column, ground);
    a.rain[place] = ground.rain;
    a.rainncv[place] = ground.rainncv;
    if (a.fallen != nullptr) {
        a.fallen[place] = ground.fallen;
        a.fall_residual[place] = ground.fall_residual;
        a.clipped[place] = ground.clipped;
        a.mass_mismatch[place] = ground.mass_mismatch;
    }
}
