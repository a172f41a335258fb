// Processes of warm rain: autoconversion, collection of cloud water, evaporation. See src/physics/wsm5/warm.rs. Rates
// are computed in every cell and then selected: neighbouring threads rarely agree, and without branches a thread
// overlaps the latencies of different rates.
#pragma once

#include "physics/wsm5/slope.cuh"

namespace warm {

// praut: autoconversion of cloud water to rain (C -> R). See src/physics/wsm5/warm.rs.
__device__ inline real praut(const Wsm5Params& p, real dt_cloud, real qc)
{
    const real praut = min(p.qck1 * pow(qc, SEVEN_THIRDS), qc / dt_cloud);
    return qc <= p.qc0 ? real(0) : praut;
}

// pracw: collection of cloud water by rain (C -> R). See src/physics/wsm5/warm.rs.
__device__ inline real pracw(
    const Wsm5Params& p, real dt_cloud, real qc, real qr, Slope rain, real density_factor)
{
    const real s3 = rain.length * rain.length * rain.length;
    const real pracw = min(p.pacrr * s3 * rain.power * qc * density_factor, qc / dt_cloud);
    return (qr <= Q_PRECIPITATION_MIN) | (qc <= Q_MIN) ? real(0) : pracw;
}

// prevp: condensation of vapour on rain; evaporation of rain if negative (V -> R). See src/physics/wsm5/warm.rs.
__device__ inline real prevp(
    const Wsm5Params& p, real dt_cloud, real qr, real rhw, real excess,
    const Coefficients& coefficients)
{
    const real surface = slope::ventilated_surface(
        p.precr1, p.precr2, coefficients.ventilation, coefficients.rain);
    const real prevp = (rhw - 1) * surface / coefficients.resistance_water;
    const real half = real(0.5) * excess;
    const real bounded = prevp < 0 ? max(max(prevp, -qr / dt_cloud), half) : min(prevp, half);
    return qr <= 0 ? real(0) : bounded;
}

// All warm rates of a cell. See src/physics/wsm5/warm.rs.
__device__ inline WarmRates rates(
    const Wsm5Params& p, real dt_cloud, const Air& air, const StepStart& step_start, const Cell& cell,
    const Coefficients& coefficients)
{
    const real rhw = max(cell.qv / step_start.qsw, Q_MIN);
    const real excess = (max(cell.qv, Q_MIN) - step_start.qsw) / dt_cloud;
    const real pracw =
        warm::pracw(p, dt_cloud, cell.qc, cell.qr, coefficients.rain, air.density_factor);
    return WarmRates{
        praut(p, dt_cloud, cell.qc),
        pracw,
        prevp(p, dt_cloud, cell.qr, rhw, excess, coefficients),
    };
}

}  // namespace warm
