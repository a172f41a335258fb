// The species that sediment.
#pragma once

#include "wsm5/slope.cuh"

enum class Species { RAIN, SNOW, ICE };
static_assert(FALLING_SPECIES == int(Species::ICE) + 1, "as in Rust");

// A species of a cell.
template <Species KIND>
__device__ inline real& amount(Cell& cell)
{
    if constexpr (KIND == Species::RAIN) return cell.qr;
    else if constexpr (KIND == Species::SNOW) return cell.qs;
    else return cell.qi;
}

// Fall speed of a species that has the mixing ratio q; the factor is that of the snow intercept.
template <Species KIND>
__device__ inline real fall_speed(const Wsm5Params& p, const Air& air, real q, real n0s_factor)
{
    if constexpr (KIND == Species::RAIN)
        return slope::fall_speed_rain(p, air.rho, air.density_factor, q);
    else if constexpr (KIND == Species::SNOW)
        return slope::fall_speed_snow(p, air.rho, air.density_factor, q, n0s_factor);
    else return slope::fall_speed_ice(p, air.rho, q, slope::ice_number(air.rho, q));
}
