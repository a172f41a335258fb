// Instantaneous changes of phase: melting, freezing, and the adjustment to saturation.
// See src/physics/wsm5/melt.rs.
#pragma once

#include "thermo.cuh"
#include "physics/wsm5/slope.cuh"

namespace melt {

// Melting of snow of a given size. See src/physics/wsm5/melt.rs.
__device__ inline real melting(
    const Wsm5Params& p, const Air& air, real t, real n0s_factor, Slope snow)
{
    const real viscosity = thermo::viscosity(t, air.rho);
    const real ventilation =
        thermo::ventilation(viscosity, thermo::diffusivity(t, air.p), air.rho);
    const real surface = slope::ventilated_surface(p.precs1, p.precs2, ventilation, snow);
    return thermo::conductivity(viscosity, air.rho) / L_FUSION
        * (FREEZING - t)
        * PI
        * real(0.5)
        * n0s_factor
        * surface;
}

// psmlt: melting of snow (S -> R), an amount. See src/physics/wsm5/melt.rs.
__device__ inline real psmlt(
    const Wsm5Params& p, real dt_cloud, const Air& air, const Cell& cell, real n0s_factor,
    Slope snow)
{
    if (cell.t <= FREEZING || cell.qs <= 0) return 0;
    const real psmlt = melting(p, air, cell.t, n0s_factor, snow) / air.rho;
    return min(max(psmlt * dt_cloud, -cell.qs), real(0));
}

// psmlt in a sub-step of a minor step (S -> R), an amount. See src/physics/wsm5/melt.rs.
__device__ inline real psmlt_in_substep(
    const Wsm5Params& p, real dt_cloud, real substeps, const Air& air, const Cell& cell,
    Slope snow)
{
    if (cell.t <= FREEZING || cell.qs <= 0) return 0;
    // The factor of the snow intercept is 1 above freezing.
    const real psmlt = melting(p, air, cell.t, 1, snow);
    return min(max(psmlt * dt_cloud / substeps, -cell.qs / substeps), real(0));
}

// Converts an amount of snow to rain. See src/physics/wsm5/melt.rs.
__device__ inline void melt(const Air& air, real psmlt, Cell& cell)
{
    cell.qs += psmlt;
    cell.qr -= psmlt;
    cell.t += L_FUSION / air.heat_capacity * psmlt;
}

// Melts snow above freezing. See src/physics/wsm5/melt.rs.
__device__ inline void melt_snow(
    const Wsm5Params& p, real dt_cloud, const Air& air, Cell& cell)
{
    if (cell.t <= FREEZING || cell.qs <= 0) return;
    const real n0s_factor = slope::snow_intercept_factor(p, cell.t);
    const Slope snow = slope::slope_snow(p, air.rho, cell.qs, n0s_factor);
    melt(air, psmlt(p, dt_cloud, air, cell, n0s_factor, snow), cell);
}

// Melts snow in a sub-step of a minor step. See src/physics/wsm5/melt.rs.
__device__ inline void melt_snow_in_substep(
    const Wsm5Params& p, real dt_cloud, real substeps, const Air& air, Slope snow, Cell& cell)
{
    if (cell.t <= FREEZING || cell.qs <= 0) return;
    const real psmlt = psmlt_in_substep(p, dt_cloud, substeps, air, cell, snow);
    melt(air, psmlt, cell);
}

// pimlt: melting of all cloud ice above freezing (I -> C), an amount. See src/physics/wsm5/melt.rs.
__device__ inline real pimlt(real cold, real qi)
{
    return cold < 0 && qi > 0 ? qi : real(0);
}

// pihmf: homogeneous freezing of all cloud water (C -> I), an amount. See src/physics/wsm5/melt.rs.
__device__ inline real pihmf(real cold, real qc)
{
    return cold > HOMOGENEOUS_FREEZING && qc > 0 ? qc : real(0);
}

// Increase of heterogeneous freezing with supercooling. See src/physics/wsm5/melt.rs.
__device__ inline real freezing_growth(const Wsm5Params& p, real cold)
{
    return exp(p.pfrz2 * min(cold, p.freezing_cold_max)) - 1;
}

// pihtf: heterogeneous freezing of cloud drops (C -> I), an amount. See src/physics/wsm5/melt.rs.
__device__ inline real pihtf(const Wsm5Params& p, real dt_cloud, real cold, real rho, real qc)
{
    const real growth = freezing_growth(p, cold);
    const real pihtf = min(p.pfrz1 * growth * rho / RHO_WATER / p.xncr * qc * qc * dt_cloud, qc);
    return (cold <= 0) | (qc <= 0) ? real(0) : pihtf;
}

// psfrz: freezing of rain (R -> S), an amount. See src/physics/wsm5/melt.rs.
__device__ inline real psfrz(
    const Wsm5Params& p, real dt_cloud, real cold, real rho, real qr, Slope rain)
{
    const real growth = freezing_growth(p, cold);
    const real s = rain.length;
    // In this order the product does not come near the smallest single-precision number.
    const real volume = RAIN_FREEZING * PI * PI * p.n0r * s * s * s * s * (s * s * s);
    const real psfrz = min(p.pfrz1 * growth * RHO_WATER / rho * volume * dt_cloud, qr);
    return (cold <= 0) | (qr <= 0) ? real(0) : psfrz;
}

// Melts ice and freezes drops. See src/physics/wsm5/melt.rs.
__device__ inline void adjust_phase(
    const Wsm5Params& p, real dt_cloud, const Air& air, real qr_for_slope, Cell& cell)
{
    const real cold = FREEZING - cell.t;
    const real fusion = cold < 0 ? L_FUSION : L_SUBLIMATION - air.latent_heat;
    const real warming = fusion / air.heat_capacity;

    const real pimlt = melt::pimlt(cold, cell.qi);
    if (pimlt > 0) {
        cell.qc += pimlt;
        cell.t -= warming * pimlt;
        cell.qi = 0;
    }
    const real pihmf = melt::pihmf(cold, cell.qc);
    if (pihmf > 0) {
        cell.qi += pihmf;
        cell.t += warming * pihmf;
        cell.qc = 0;
    }
    const real pihtf = melt::pihtf(p, dt_cloud, cold, air.rho, cell.qc);
    cell.qi += pihtf;
    cell.t += warming * pihtf;
    cell.qc -= pihtf;
    const Slope rain = slope::slope_rain(p, air.rho, qr_for_slope);
    const real psfrz = melt::psfrz(p, dt_cloud, cold, air.rho, cell.qr, rain);
    cell.qs += psfrz;
    cell.t += warming * psfrz;
    cell.qr -= psfrz;
}

// pcond: condensation by one Newton step towards water saturation (V -> C).
// See src/physics/wsm5/melt.rs.
__device__ inline real pcond(real dt_cloud, const Air& air, const Cell& cell, real qsw)
{
    const real l = air.latent_heat;
    const real stiffness = l * l / (R_VAPOUR * air.heat_capacity) * qsw / (cell.t * cell.t);
    const real excess = (max(cell.qv, Q_MIN) - qsw) / (1 + stiffness);
    const real evaporation = max(excess, -cell.qc) / dt_cloud;
    const real condensation = min(max(excess / dt_cloud, real(0)), max(cell.qv, real(0)) / dt_cloud);
    return (cell.qc > 0) & (excess < 0) ? evaporation : condensation;
}

// Condenses the excess over water saturation, or evaporates cloud water into the deficit.
// See src/physics/wsm5/melt.rs.
__device__ inline real condense(
    const Wsm5Params& p, real dt_cloud, const Air& air, const StepStart& step_start, Cell& cell)
{
    // If the temperature is unchanged, so is the saturation at the start of the step.
    const bool is_unchanged = (cell.t - step_start.t) == 0;
    const real now = thermo::saturation_water(cell.t, air.p, p.vapour_pressure_cap);
    const real qsw = is_unchanged ? step_start.qsw : now;
    const real pcond = melt::pcond(dt_cloud, air, cell, qsw);
    const real qc = cell.qc + pcond * dt_cloud;
    cell.qv -= pcond * dt_cloud;
    cell.qc = max(qc, real(0));
    cell.t += pcond * air.latent_heat / air.heat_capacity * dt_cloud;
    return cell.qc - qc;
}

}  // namespace melt
