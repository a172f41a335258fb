// KPP's normalised sunlight, as in src/chemistry/rates/sun.rs.
#pragma once

// Sunlight at a time (s, local solar clock): 0 at night, 1 at noon, NaN if the time is not finite.
__device__ inline double sunlight_at(double time)
{
    const double hours = time / HOUR;
    const double hour = hours - __dmul_rn(DAY, trunc(trunc(hours) / DAY));
    if (!(hour >= SUNRISE && hour <= SUNSET)) return hour * 0.0;
    const double u = (__dmul_rn(2.0, hour) - SUNRISE - SUNSET) / (SUNSET - SUNRISE);
    return (1.0 + cos(SUN_PI * u * fabs(u))) / 2;
}
