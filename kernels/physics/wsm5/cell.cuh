// A cell: its contents, its air, and common coefficients of its rates. See src/physics/wsm5/cell.rs.
#pragma once

#include "thermo.cuh"
#include "physics/wsm5/slope.cuh"

namespace cell {

// True if a cell contains no condensate. See src/physics/wsm5/cell.rs.
__device__ inline bool is_clear(const Cell& cell)
{
    return cell.qc <= 0 && cell.qr <= 0 && cell.qi <= 0 && cell.qs <= 0;
}

// All water of a cell, kg kg-1. See src/physics/wsm5/cell.rs.
__device__ inline real water(const Cell& cell) { return cell.qv + cell.qc + cell.qr + cell.qi + cell.qs; }

// Sets the invariants of a call. See src/physics/wsm5/cell.rs.
__device__ inline void set_call_invariants(const Cell& cell, Air& air)
{
    air.density_factor = sqrt(1 / air.rho * RHO_REFERENCE);
    air.heat_capacity = thermo::heat_capacity(cell.qv);
    air.latent_heat = thermo::latent_heat(cell.t);
}

// Values of a cell at the start of a minor step. See src/physics/wsm5/cell.rs.
__device__ inline StepStart step_start(const Wsm5Params& p, const Air& air, const Cell& cell)
{
    const Saturation saturation = thermo::saturation(cell.t, air.p, p.vapour_pressure_cap);
    return StepStart{cell.t, saturation.water, saturation.ice};
}

// The coefficients of a cell; zero if no rate uses them. They are computed in every cell and then selected: see
// warm.cuh. See src/physics/wsm5/cell.rs.
__device__ inline Coefficients coefficients(
    const Wsm5Params& p, const Air& air, const StepStart& step_start, const Cell& cell)
{
    const bool rain = cell.qr > 0, snow = cell.qs > 0;
    const bool deposits = (cell.t < FREEZING) & (snow | (cell.qi > 0));
    const real t_snow = FALLOUT == Sedimentation::SemiLagrangian ? cell.t : step_start.t;
    const real n0s_factor = snow ? slope::snow_intercept_factor(p, t_snow) : real(1);
    Coefficients coefficients{};
    coefficients.rain = slope::slope_rain(p, air.rho, cell.qr);
    coefficients.snow = slope::slope_snow(p, air.rho, cell.qs, n0s_factor);
    coefficients.n0s_factor = n0s_factor;
    const real viscosity = thermo::viscosity(cell.t, air.rho);
    const real conductivity = thermo::conductivity(viscosity, air.rho);
    const real diffusivity = thermo::diffusivity(cell.t, air.p);
    const auto resistance = [&](real latent_heat, real saturation) {
        return thermo::growth_resistance(
            latent_heat, cell.t, air.rho, conductivity, diffusivity, saturation);
    };
    const real water = resistance(air.latent_heat, step_start.qsw);
    const real ice = resistance(L_SUBLIMATION, step_start.qsi);
    const real ventilation = thermo::ventilation(viscosity, diffusivity, air.rho);
    coefficients.resistance_water = rain ? water : real(0);
    coefficients.resistance_ice = deposits ? ice : real(0);
    coefficients.ventilation = rain | (snow & deposits) ? ventilation : real(0);
    return coefficients;
}

}  // namespace cell
