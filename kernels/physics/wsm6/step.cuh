// A minor step of one cell after sedimentation: the processes in order. See src/physics/wsm6/step.rs.
#pragma once

#include "physics/wsm5/step.cuh"
#include "physics/wsm6/balance.cuh"
#include "physics/wsm6/cell.cuh"
#include "physics/wsm6/ice.cuh"
#include "physics/wsm6/melt.cuh"

namespace wsm6::step {

// All warm rates of a cell, which are WSM5's. See src/physics/wsm6/step.rs.
__device__ inline WarmRates warm_rates(
    const Wsm6Params& p, real dt_cloud, const Air& air, const StepStart& step_start, const Wsm6Cell& cell,
    const Coefficients& coefficients)
{
    return warm::rates(p.common, dt_cloud, air, step_start, cell::without_graupel(cell), coefficients);
}

// Computes the rates of a cell and applies them. See src/physics/wsm6/step.rs.
__device__ inline real apply_rates(
    const Wsm6Params& p, real dt_cloud, const Air& air, const StepStart& step_start, Wsm6Cell& cell)
{
    // In such a cell all rates are zero.
    const bool is_calm = cell::is_clear(cell) && (cell.t >= FREEZING || cell.qv <= step_start.qsi);
    if (is_calm) return 0;
    const Wsm6Coefficients coefficients = cell::coefficients(p, air, step_start, cell);
    const WarmRates warm = warm_rates(p, dt_cloud, air, step_start, cell, coefficients.common);
    const Wsm6IceRates ice = ice::rates(p, dt_cloud, air, step_start, cell, coefficients, warm.prevp);
    return balance::apply(dt_cloud, air, warm, ice, cell);
}

// Brings a cell to saturation, and removes traces. See src/physics/wsm6/step.rs.
__device__ inline real condense(
    const Wsm6Params& p, real dt_cloud, const Air& air, const StepStart& step_start, Wsm6Cell& cell)
{
    const real clipped = melt::condense(p, dt_cloud, air, step_start, cell);
    return clipped - (::step::remove_traces(cell.qc) + ::step::remove_traces(cell.qi));
}

// Adds the precipitation of a minor step to the sums of the call. See src/physics/wsm6/step.rs.
__device__ inline void deposit(
    real dt_cloud, real depth, real rain, real snow, real graupel, real ice, Wsm6Precipitation& sum)
{
    const auto rate = [&](real mass) { return mass / depth / dt_cloud; };
    const auto millimetres = [&](real rate) { return rate * depth / RHO_WATER * dt_cloud * MILLIMETRES; };
    const real all = rate(rain) + rate(snow) + rate(graupel) + rate(ice);
    const real crystals = rate(snow) + rate(ice);
    // Nothing is added for what has not fallen.
    sum.rain += millimetres(max(all, real(0)));
    sum.snow += millimetres(max(crystals, real(0)));
    sum.graupel += millimetres(max(rate(graupel), real(0)));
    if (all > 0) sum.sr = (sum.snow + sum.graupel) / (sum.rain + PRECIPITATION_MIN);
}

}  // namespace wsm6::step
