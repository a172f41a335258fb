// A minor step of one cell after sedimentation: the processes in order. See src/physics/wsm5/step.rs.
#pragma once

#include "physics/wsm5/balance.cuh"
#include "physics/wsm5/cell.cuh"
#include "physics/wsm5/ice.cuh"
#include "physics/wsm5/melt.cuh"
#include "physics/wsm5/warm.cuh"

namespace step {

// Clips a negative mixing ratio at zero. See src/physics/wsm5/step.rs.
__device__ inline real clip(const Air& air, real& q)
{
    const real below = min(q, real(0));
    q -= below;  // NaN stays NaN
    return -(air.rho * air.dz * below);
}

// Removes cloud water or ice up to Q_MIN. See src/physics/wsm5/step.rs.
__device__ inline real remove_traces(real& q)
{
    real removed = 0;
    if (q <= Q_MIN) {
        removed = q;
        q = 0;
    }
    return removed;
}

// All processes of a minor step in a cell after sedimentation. See src/physics/wsm5/step.rs.
__device__ inline real processes(
    const Wsm5Params& p, real dt_cloud, const Air& air, const StepStart& step_start, real qr_for_slope,
    Cell& cell)
{
    melt::adjust_phase(p, dt_cloud, air, qr_for_slope, cell);
    // In such a cell all rates but condensation are zero.
    const bool is_calm = cell::is_clear(cell) && (cell.t >= FREEZING || cell.qv <= step_start.qsi);
    real clipped = 0;
    if (!is_calm) {
        const Coefficients coefficients = cell::coefficients(p, air, step_start, cell);
        const WarmRates warm = warm::rates(p, dt_cloud, air, step_start, cell, coefficients);
        const IceRates ice = ice::rates(p, dt_cloud, air, step_start, cell, coefficients, warm.prevp);
        clipped = balance::apply(dt_cloud, air, warm, ice, cell);
    }
    clipped += melt::condense(p, dt_cloud, air, step_start, cell);
    if (!is_calm) clipped -= remove_traces(cell.qc) + remove_traces(cell.qi);
    return clipped;
}

// Adds the precipitation of a minor step to the sums of the call.
// See src/physics/wsm5/step.rs.
__device__ inline void deposit(
    real dt_cloud, real depth, real rain, real snow, real ice, Precipitation& sum)
{
    const auto rate = [&](real mass) { return mass / depth / dt_cloud; };
    const auto millimetres = [&](real rate) {
        return rate * depth / RHO_WATER * dt_cloud * MILLIMETRES;
    };
    const real all = rate(rain) + rate(snow) + rate(ice);
    const real frozen = rate(snow) + rate(ice);
    if (all > 0) {
        sum.rain += millimetres(all);
        sum.rainncv += millimetres(all);
    }
    if (frozen > 0) {
        sum.snow += millimetres(frozen);
        sum.snowncv += millimetres(frozen);
    }
    if (all > 0) sum.sr = sum.snowncv / (sum.rainncv + PRECIPITATION_MIN);
}

}  // namespace step
