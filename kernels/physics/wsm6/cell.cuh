// A cell: its contents, and the coefficients that its rates share. See src/physics/wsm6/cell.rs.
#pragma once

#include "physics/wsm5/cell.cuh"
#include "physics/wsm6/slope.cuh"

namespace wsm6::cell {

// The contents of a cell that WSM5 knows. See src/physics/wsm6/cell.rs.
__device__ inline Cell without_graupel(const Wsm6Cell& cell)
{
    return Cell{cell.t, cell.qv, cell.qc, cell.qr, cell.qi, cell.qs};
}

// True if a cell contains no condensate. See src/physics/wsm6/cell.rs.
__device__ inline bool is_clear(const Wsm6Cell& cell)
{
    return ::cell::is_clear(without_graupel(cell)) && cell.qg <= 0;
}

// All water of a cell, kg kg-1. See src/physics/wsm6/cell.rs.
__device__ inline real water(const Wsm6Cell& cell) { return ::cell::water(without_graupel(cell)) + cell.qg; }

// The coefficients of a cell; zero if no rate uses them. They are computed in every cell and then selected, but for the
// slope of graupel, which is rare. See src/physics/wsm6/cell.rs.
__device__ inline Wsm6Coefficients coefficients(
    const Wsm6Params& p, const Air& air, const StepStart& step_start, const Wsm6Cell& cell)
{
    const bool rain = cell.qr > 0, snow = cell.qs > 0, graupel = cell.qg > 0;
    const bool rimed = snow | graupel;
    const bool is_cold = cell.t < FREEZING;
    const real n0s_factor = snow ? ::slope::snow_intercept_factor(p.common, cell.t) : real(1);
    Coefficients shared{};
    shared.rain = ::slope::slope_rain(p.common, air.rho, cell.qr);
    shared.snow = ::slope::slope_snow(p.common, air.rho, cell.qs, n0s_factor);
    shared.n0s_factor = n0s_factor;
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
    // Snow and graupel evaporate where they melt.
    shared.resistance_water = rain | (rimed & !is_cold) ? water : real(0);
    shared.resistance_ice = is_cold & (rimed | (cell.qi > 0)) ? ice : real(0);
    shared.ventilation = rain | rimed ? ventilation : real(0);
    return Wsm6Coefficients{shared, slope::slope_graupel(p, air.rho, cell.qg)};
}

}  // namespace wsm6::cell
