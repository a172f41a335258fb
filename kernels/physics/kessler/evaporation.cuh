// Evaporation of rain. See src/physics/kessler/evaporation.rs.
#pragma once

namespace kessler::evaporation {

// Rain that evaporates in a call without limits, kg kg-1.
__device__ inline real evaporation(
    const KesslerFactors& p, real dt, real rho, real pressure, real qvs, real qv, real qr)
{
    const real air = GRAMS_PER_CM3 * rho;
    const real content = air * qr;
    const real ventilation =
        EVAPORATION_STILL + EVAPORATION_VENTILATED * pow(content, EVAPORATION_VENTILATION_EXPONENT);
    const real resistance = EVAPORATION_DIFFUSION / (pressure * qvs) + EVAPORATION_CONDUCTION;
    const real deficit = max(qvs - qv, real(0)) / (air * qvs);
    const real rate = ventilation * pow(content, EVAPORATION_EXPONENT) / resistance * deficit;
    return p.evaporation * (dt * rate);
}

// Rain that evaporates in a call, limited to the saturation deficit that is left after all cloud water has evaporated,
// and to the rain, kg kg-1.
__device__ inline real limited(real evaporation, real excess, real qc, real qr)
{
    const real missing = max(-excess - qc, real(0));
    return min(qr, min(evaporation, missing));
}

}  // namespace kessler::evaporation
