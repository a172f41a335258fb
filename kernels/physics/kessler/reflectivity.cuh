// Radar reflectivity of rain. See src/physics/kessler/reflectivity.rs.
#pragma once

namespace kessler {

// Reflectivity at 10 cm of raindrops of exponentially distributed sizes, dBZ.
__device__ inline real reflectivity(real rho, real rain)
{
    // NaN is no rain.
    const real qr = max(rain, real(0));
    if (qr <= RADAR_RAIN_MIN) return DBZ_LEAST;
    const real length = sqrt(sqrt(rho * qr / (PI * RHO_WATER * RAIN_INTERCEPT)));
    const real squared = length * length;
    const real moment = length * squared * (squared * squared);
    const real z = RAIN_INTERCEPT * SIXTH_MOMENT * moment;
    return max(TEN_DECIBELS * log10(z * MM6_IN_M3), DBZ_LEAST);
}

}  // namespace kessler
