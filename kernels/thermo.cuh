// Thermodynamics of moist air and the transport of heat and vapour in it. See src/thermo.rs.
#pragma once

#include "primitives/div_rn.cuh"

namespace thermo {

// Specific heat of moist air at constant pressure. See src/thermo.rs.
__device__ inline real heat_capacity(real qv)
{
    const real vapour = max(qv, Q_MIN);
    return CP_DRY * (1 - vapour) + vapour * CP_VAPOUR;
}

// Latent heat of vaporisation. See src/thermo.rs.
__device__ inline real latent_heat(real t)
{
    return L_VAPORISATION - L_SLOPE * (t - FREEZING);
}

// Vapour pressure in equilibrium with a phase. See src/thermo.rs.
__device__ inline real vapour_pressure(real tr, real ln_tr, real c, real l)
{
    const real a = (c - CP_VAPOUR) / R_VAPOUR;
    const real b = a + l / (R_VAPOUR * (FREEZING + TRIPLE_POINT_EXCESS));
    return TRIPLE_POINT_PRESSURE * exp(a * ln_tr + b * (1 - tr));
}

// Mixing ratio of vapour at a partial pressure. See src/thermo.rs.
__device__ inline real mixing_ratio(real p, real e, real cap)
{
    e = min(e, cap * p);
    return max(EPSILON * e / (p - e), Q_MIN);
}

// Saturation over water and over ice. The exponent of the vapour pressure multiplies an error of the quotient, by 22
// over ice, and so does evaporation that leaves little of a species: with EXACT_SATURATION it is correctly rounded.
// See src/thermo.rs.
__device__ inline Saturation saturation(real t, real p, real cap)
{
    const real triple_point = FREEZING + TRIPLE_POINT_EXCESS;
    const real tr = EXACT_SATURATION ? exact_quotient(triple_point, t) : triple_point / t;
    const real ln_tr = log(tr);
    const real water = mixing_ratio(p, vapour_pressure(tr, ln_tr, C_LIQUID, L_VAPORISATION), cap);
    const real ice = t < triple_point
        ? mixing_ratio(p, vapour_pressure(tr, ln_tr, C_ICE, L_SUBLIMATION), cap)
        : water;
    return Saturation{water, ice};
}

// Saturation over water alone. See src/thermo.rs.
__device__ inline real saturation_water(real t, real p, real cap)
{
    const real triple_point = FREEZING + TRIPLE_POINT_EXCESS;
    const real tr = EXACT_SATURATION ? exact_quotient(triple_point, t) : triple_point / t;
    return mixing_ratio(p, vapour_pressure(tr, log(tr), C_LIQUID, L_VAPORISATION), cap);
}

// Kinematic viscosity of air. See src/thermo.rs.
__device__ inline real viscosity(real t, real rho)
{
    return VISCOSITY * t * sqrt(t) / (t + SUTHERLAND) / rho;
}

// Heat conductivity of air from its viscosity. See src/thermo.rs.
__device__ inline real conductivity(real viscosity, real rho)
{
    return CONDUCTIVITY * viscosity * rho;
}

// Diffusivity of vapour in air. See src/thermo.rs.
__device__ inline real diffusivity(real t, real p)
{
    return DIFFUSIVITY * pow(t, DIFFUSIVITY_EXPONENT) / p;
}

// Resistance to the growth of a particle by vapour. See src/thermo.rs.
__device__ inline real growth_resistance(
    real l, real t, real rho, real conductivity, real diffusivity, real saturation)
{
    const real heat = rho * l * l / (conductivity * R_VAPOUR * t * t);
    return heat + 1 / (saturation * diffusivity);
}

// Ventilation of a falling particle, without its size. See src/thermo.rs.
__device__ inline real ventilation(real viscosity, real diffusivity, real rho)
{
    const real schmidt = pow(viscosity / diffusivity, VENTILATION_EXPONENT);
    return schmidt * sqrt(sqrt(RHO_REFERENCE / rho)) / sqrt(viscosity);
}

}  // namespace thermo
