// Instantaneous changes of phase: melting, freezing, and the adjustment to saturation. See src/physics/wsm6/melt.rs.
#pragma once

#include "physics/wsm5/melt.cuh"
#include "physics/wsm6/cell.cuh"

namespace wsm6::melt {

// pgmlt: melting of graupel (G -> R), an amount. See src/physics/wsm6/melt.rs.
__device__ inline real pgmlt(
    const Wsm6Params& p, real dt_cloud, const Air& air, const Wsm6Cell& cell, real ventilation, Slope graupel)
{
    if (cell.qg <= 0) return 0;
    const real surface =
        ::slope::ventilated_surface(p.graupel.precg1, p.graupel.precg2, ventilation, graupel);
    const real conductivity = thermo::conductivity(thermo::viscosity(cell.t, air.rho), air.rho);
    const real pgmlt = conductivity / L_FUSION * (FREEZING - cell.t) * surface / air.rho;
    return min(max(pgmlt * dt_cloud, -cell.qg), real(0));
}

// Melts snow and then graupel above freezing. See src/physics/wsm6/melt.rs.
__device__ inline void melt(const Wsm6Params& p, real dt_cloud, const Air& air, Wsm6Cell& cell)
{
    if (cell.t <= FREEZING) return;
    const real ventilation =
        thermo::ventilation(thermo::viscosity(cell.t, air.rho), thermo::diffusivity(cell.t, air.p), air.rho);
    // The factor of the snow intercept is 1 above freezing.
    const Slope snow = ::slope::slope_snow(p.common, air.rho, cell.qs, 1);
    const Slope graupel = slope::slope_graupel(p, air.rho, cell.qg);
    const real psmlt = ::melt::psmlt(p.common, dt_cloud, air, cell::without_graupel(cell), 1, snow);
    const real warming = L_FUSION / air.heat_capacity;
    cell.qs += psmlt;
    cell.qr -= psmlt;
    cell.t += warming * psmlt;
    const real pgmlt = melt::pgmlt(p, dt_cloud, air, cell, ventilation, graupel);
    cell.qg += pgmlt;
    cell.qr -= pgmlt;
    cell.t += warming * pgmlt;
}

// Melts ice and freezes drops. See src/physics/wsm6/melt.rs.
__device__ inline void adjust_phase(
    const Wsm6Params& p, real dt_cloud, const Air& air, real qr_for_slope, Wsm6Cell& cell)
{
    const real cold = FREEZING - cell.t;
    const real fusion = cold < 0 ? L_FUSION : L_SUBLIMATION - air.latent_heat;
    const real warming = fusion / air.heat_capacity;

    const real pimlt = ::melt::pimlt(cold, cell.qi);
    if (pimlt > 0) {
        cell.qc += pimlt;
        cell.t -= warming * pimlt;
        cell.qi = 0;
    }
    const real pihmf = ::melt::pihmf(cold, cell.qc);
    if (pihmf > 0) {
        cell.qi += pihmf;
        cell.t += warming * pihmf;
        cell.qc = 0;
    }
    // Unlike in WSM5, traces do not freeze.
    const real qc = cell.qc > Q_MIN ? cell.qc : real(0);
    const real pihtf = ::melt::pihtf(p.common, dt_cloud, cold, air.rho, qc);
    cell.qi += pihtf;
    cell.t += warming * pihtf;
    cell.qc -= pihtf;
    const Slope rain = ::slope::slope_rain(p.common, air.rho, qr_for_slope);
    const real pgfrz = ::melt::psfrz(p.common, dt_cloud, cold, air.rho, cell.qr, rain);
    cell.qg += pgfrz;
    cell.t += warming * pgfrz;
    cell.qr -= pgfrz;
}

// Condenses the excess over saturation, or evaporates cloud water. See src/physics/wsm6/melt.rs.
__device__ inline real condense(
    const Wsm6Params& p, real dt_cloud, const Air& air, const StepStart& step_start, Wsm6Cell& cell)
{
    Cell common = cell::without_graupel(cell);
    const real clipped = ::melt::condense(p.common, dt_cloud, air, step_start, common);
    cell.t = common.t;
    cell.qv = common.qv;
    cell.qc = common.qc;
    return clipped;
}

}  // namespace wsm6::melt
