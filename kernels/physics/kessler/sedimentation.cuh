// Sedimentation of rain by upstream differences in sub-steps. See src/physics/kessler/sedimentation.rs.
#pragma once

namespace kessler::sedimentation {

// Factor by which thin air speeds up the fall, 1.
__device__ inline real density_factor(real rho_lowest, real rho) { return sqrt(rho_lowest / rho); }

// Distance between the middles of two layers, m.
__device__ inline real distance(real dz, real dz_above) { return real(0.5) * (dz + dz_above); }

// Terminal velocity of rain, m s-1.
__device__ inline real fall_speed(const KesslerFactors& p, real rho, real density_factor, real qr)
{
    const real content = max(GRAMS_PER_CM3 * qr * rho, real(0));
    return p.fall * (FALL_RAIN * pow(content, FALL_RAIN_EXPONENT) * density_factor);
}

// Layers fallen through in a time span (the Courant number), 1.
__device__ inline real courant(real speed, real span, real per_depth) { return speed * span * per_depth; }

// Number of sub-steps for a largest Courant number; NaN if there would be too many.
__device__ inline real number_of_substeps(real largest)
{
    const real number = max(round(real(0.5) + largest / COURANT_MAX), real(1));
    const real beyond = sqrt(SUBSTEPS_MAX - number);
    return number <= SUBSTEPS_MAX ? number : beyond;
}

// Rain flux through the bottom of a layer, kg m-2 s-1.
__device__ inline real flux(real rho, real qr, real speed) { return rho * qr * speed; }

// Precipitation of a sub-step, mm.
__device__ inline real precipitation(real flux, real substep)
{
    return flux * substep / RHO_WATER * MILLIMETRES_PER_METRE;
}

// Rain of a layer after a sub-step, kg kg-1.
__device__ inline real passed(real qr, real substep, real per_mass, real flux, real flux_above)
{
    return qr - substep * per_mass * (flux - flux_above);
}

// Water that sedimentation creates in a layer, not counting the outflow to the ground, kg m-2.
__device__ inline real gained(real rho, real dz, real qr, real qr_fallen) { return rho * dz * (qr_fallen - qr); }

}  // namespace kessler::sedimentation
