// Saturation over water, and the adjustment to it. See src/physics/kessler/saturation.rs.
#pragma once

namespace kessler::saturation {

// Pressure for an Exner function, Pa.
__device__ inline real pressure(real exner) { return REFERENCE_PRESSURE * pow(exner, PRESSURE_EXPONENT); }

// Saturation vapour pressure over water, Pa.
__device__ inline real vapour_pressure(real t)
{
    const real exponent = BOLTON_FACTOR * (t - FREEZING) / (t - BOLTON_OFFSET);
    return BOLTON_PRESSURE * exp(exponent);
}

// Saturation mixing ratio, kg kg-1.
__device__ inline real mixing_ratio(real pressure, real es) { return EPSILON * es / (pressure - es); }

// Vapour that condenses to reach saturation; the deficit if negative, kg kg-1.
__device__ inline real excess(const KesslerFactors& p, real t, real pressure, real es, real qvs, real qv)
{
    const real above = t - BOLTON_OFFSET;
    const real warming = pressure / (pressure - es) * qvs * SATURATION_GROWTH / (above * above);
    return p.condensation * ((qv - qvs) / (1 + warming));
}

// Change of the potential temperature by the condensation of a unit of water, K.
__device__ inline real warming(real exner) { return L_VAPORISATION / (CP_ADJUSTMENT * exner); }

}  // namespace kessler::saturation
