// The species that sediment.
#pragma once

#include "physics/wsm5/slope.cuh"

enum class Species { RAIN, SNOW, ICE };
static_assert(FALLING_SPECIES == int(Species::ICE) + 1, "as in Rust");

// The mixing ratio of a species in a cell.
template <Species KIND>
__device__ inline real& amount(Cell& cell)
{
    if constexpr (KIND == Species::RAIN) return cell.qr;
    else if constexpr (KIND == Species::SNOW) return cell.qs;
    else return cell.qi;
}

// Terminal velocity of a species with mixing ratio q; `n0s_factor` is the factor of the snow intercept.
template <Species KIND>
__device__ inline real fall_speed(const Wsm5Params& p, const Air& air, real q, real n0s_factor)
{
    if constexpr (KIND == Species::RAIN)
        return slope::fall_speed_rain(p, air.rho, air.density_factor, q);
    else if constexpr (KIND == Species::SNOW)
        return slope::fall_speed_snow(p, air.rho, air.density_factor, q, n0s_factor);
    else return slope::fall_speed_ice(p, air.rho, q, slope::ice_number(air.rho, q));
}
