// Conversion of cloud water to rain: autoconversion and accretion. See src/physics/kessler/conversion.rs.
#pragma once

namespace kessler::conversion {

// Cloud water that rain collects in a call, relative to the remaining cloud water, 1.
__device__ inline real accretion(const KesslerFactors& p, real dt, real qr)
{
    return p.accretion * (ACCRETION_RATE * dt * pow(max(qr, real(0)), ACCRETION_EXPONENT));
}

// Cloud water converted to rain in a call, kg kg-1.
__device__ inline real conversion(const KesslerFactors& p, real dt, real qc, real qr)
{
    const real accretion = conversion::accretion(p, dt, qr);
    const real excess = max(qc - AUTOCONVERSION_THRESHOLD, real(0));
    const real autoconversion = p.autoconversion * (AUTOCONVERSION_RATE * dt * excess);
    // Exactly 0 if accretion and autoconversion are, whatever the reciprocal.
    return 1 / (1 + accretion) * (accretion * qc + autoconversion);
}

}  // namespace kessler::conversion
