// Collection: of ice, snow and rain by each other and by graupel, and of cloud water by snow and graupel. Few cells have
// any two of them, so that a rate begins with a branch. See src/physics/wsm6/collection.rs.
#pragma once

#include "physics/wsm6/slope.cuh"

namespace wsm6::collection {

// Fall speeds of the particles of a cell that collide. See src/physics/wsm6/collection.rs.
__device__ inline Collision collision(
    const Wsm6Params& p, const Air& air, const Wsm6Cell& cell, real number, const Wsm6Coefficients& coefficients)
{
    const auto of = [&](real factor, Slope slope) { return ::slope::fall_speed(factor, slope, air.density_factor); };
    const real ws = of(p.common.pvts, coefficients.common.snow);
    const real wg = of(p.graupel.pvtg, coefficients.graupel);
    const real diameter = min(::slope::ice_diameter(p.common, air.rho, cell.qi, number), p.common.dimax);
    return Collision{
        of(p.common.pvtr, coefficients.common.rain),
        slope::common_speed(ws, wg, cell.qs, cell.qg),
        ::slope::fall_speed_crystal(diameter),
        diameter,
        number,
    };
}

// Efficiency of a collector that is scarcer than what it collects. See src/physics/wsm6/collection.rs.
__device__ inline real efficiency(real collector, real collected)
{
    const real ratio = min(max(collector / collected, real(0)), real(1));
    return ratio * ratio;
}

// Area that particles sweep for crystals of one diameter. See src/physics/wsm6/collection.rs.
__device__ inline real ice_sweep(real s, real diameter)
{
    return 2 * s * s * s + 2 * diameter * s * s + diameter * diameter * s;
}

// Content of ice that particles collect in a second. See src/physics/wsm6/collection.rs.
__device__ inline real ice_collected(real qi, real intercept, real speed, Slope collector, const Collision& motion)
{
    return PI
        * qi
        * intercept
        * fabs(speed - motion.ice)
        * ice_sweep(collector.length, motion.diameter)
        * (real(0.5) * real(0.5));
}

// Efficiency of the collection of ice by snow and graupel. See src/physics/wsm6/collection.rs.
__device__ inline real sticking(real cold) { return exp(-COLLECTION_DECAY * cold); }

// Content of a precipitating species that another collects in a second. See src/physics/wsm6/collection.rs.
__device__ inline real mass_collected(real intercepts, real speed, real density, Slope collected, Slope collector)
{
    const real x = collected.length, y = collector.length;
    const real x3 = x * x * x;
    // In this order no product leaves the range of single precision.
    const real sixth = (real(2) + real(2) + real(1)) * (x3 * x3 * y);
    const real fifth = 2 * (x3 * x * x * y * y);
    const real fourth = real(0.5) * (x3 * x * y * y * y);
    return PI * PI * intercepts * fabs(speed) * density * (sixth + fifth + fourth);
}

// praci: collection of ice by rain (I -> S or G). See src/physics/wsm6/collection.rs.
__device__ inline real praci(
    const Wsm6Params& p, real dt_cloud, const Wsm6Cell& cell, const Wsm6Coefficients& coefficients,
    const Collision& motion)
{
    if (cell.t >= FREEZING || cell.qi <= Q_MIN || cell.qr <= Q_PRECIPITATION_MIN) return 0;
    const Slope rain = coefficients.common.rain;
    const real praci = ice_collected(cell.qi, p.common.n0r, motion.rain, rain, motion);
    return min(praci * efficiency(cell.qr, cell.qi), cell.qi / dt_cloud);
}

// piacr: freezing of rain that collects ice (R -> S or G). See src/physics/wsm6/collection.rs.
__device__ inline real piacr(
    const Wsm6Params& p, real dt_cloud, const Air& air, const Wsm6Cell& cell, const Wsm6Coefficients& coefficients,
    const Collision& motion)
{
    if (cell.t >= FREEZING || cell.qi <= Q_MIN || cell.qr <= Q_PRECIPITATION_MIN) return 0;
    const Slope rain = coefficients.common.rain;
    const real s3 = rain.length * rain.length * rain.length;
    const real collisions = PI * PI * p.avtr * p.common.n0r * motion.number * air.density_factor;
    const real mass = RHO_WATER * p.rain_moment * s3 * s3 * rain.power / PIACR_DIVISOR / air.rho;
    return min(collisions * mass * efficiency(cell.qi, cell.qr), cell.qr / dt_cloud);
}

// psaci: collection of ice by snow (I -> S). See src/physics/wsm6/collection.rs.
__device__ inline real psaci(
    const Wsm6Params& p, real dt_cloud, const Wsm6Cell& cell, const Wsm6Coefficients& coefficients,
    const Collision& motion)
{
    if (cell.t >= FREEZING || cell.qi <= Q_MIN || cell.qs <= Q_PRECIPITATION_MIN) return 0;
    const real intercept = p.common.n0s * coefficients.common.n0s_factor;
    const real psaci = ice_collected(cell.qi, intercept, motion.rimed, coefficients.common.snow, motion);
    return min(psaci * sticking(FREEZING - cell.t), cell.qi / dt_cloud);
}

// pgaci: collection of ice by graupel (I -> G). See src/physics/wsm6/collection.rs.
__device__ inline real pgaci(
    const Wsm6Params& p, real dt_cloud, const Wsm6Cell& cell, const Wsm6Coefficients& coefficients,
    const Collision& motion)
{
    if (cell.t >= FREEZING || cell.qi <= Q_MIN || cell.qg <= Q_PRECIPITATION_MIN) return 0;
    const Slope graupel = coefficients.graupel;
    const real pgaci = ice_collected(cell.qi, p.graupel.n0g, motion.rimed, graupel, motion);
    return min(pgaci * sticking(FREEZING - cell.t), cell.qi / dt_cloud);
}

// Cloud water that a species collects in a second. See src/physics/wsm6/collection.rs.
__device__ inline real water_collected(real factor, Slope collector, real q, real qc)
{
    const real s3 = collector.length * collector.length * collector.length;
    return factor * s3 * collector.power * efficiency(q, qc) * qc;
}

// psacw: collection of cloud water by snow; it acts through paacw. See src/physics/wsm6/collection.rs.
__device__ inline real psacw(
    const Wsm6Params& p, real dt_cloud, const Air& air, const Wsm6Cell& cell, const Wsm6Coefficients& coefficients)
{
    if (cell.qs <= Q_PRECIPITATION_MIN || cell.qc <= Q_MIN) return 0;
    const real factor = p.common.pacrc * coefficients.common.n0s_factor;
    const real psacw = water_collected(factor, coefficients.common.snow, cell.qs, cell.qc);
    return min(psacw * air.density_factor, cell.qc / dt_cloud);
}

// pgacw: collection of cloud water by graupel; it acts through paacw. See src/physics/wsm6/collection.rs.
__device__ inline real pgacw(
    const Wsm6Params& p, real dt_cloud, const Air& air, const Wsm6Cell& cell, const Wsm6Coefficients& coefficients)
{
    if (cell.qg <= Q_PRECIPITATION_MIN || cell.qc <= Q_MIN) return 0;
    const real pgacw = water_collected(p.graupel.pacrg, coefficients.graupel, cell.qg, cell.qc);
    return min(pgacw * air.density_factor, cell.qc / dt_cloud);
}

// paacw: mean of psacw and pgacw by mass (C -> S and C -> G, or C -> R). See src/physics/wsm6/collection.rs.
__device__ inline real paacw(real psacw, real pgacw, real qs, real qg)
{
    const real sum = qs + qg;
    const real paacw = (qs * psacw + qg * pgacw) / sum;
    return sum <= Q_COMMON_MIN ? real(0) : paacw;
}

// pracs: collection of snow by rain (S -> G). See src/physics/wsm6/collection.rs.
__device__ inline real pracs(
    const Wsm6Params& p, real dt_cloud, const Air& air, const Wsm6Cell& cell, const Wsm6Coefficients& coefficients,
    const Collision& motion)
{
    const real qr = cell.qr, qs = cell.qs, least = Q_PRECIPITATION_MIN;
    if (cell.t >= FREEZING || qs <= least || qr <= least) return 0;
    const Coefficients& c = coefficients.common;
    const real intercepts = p.common.n0r * p.common.n0s * c.n0s_factor;
    const real density = RHO_SNOW / air.rho;
    const real pracs = mass_collected(intercepts, motion.rain - motion.rimed, density, c.snow, c.rain);
    return min(pracs * efficiency(qr, qs), qs / dt_cloud);
}

// psacr: collection of rain by snow (R -> S or G). See src/physics/wsm6/collection.rs.
__device__ inline real psacr(
    const Wsm6Params& p, real dt_cloud, const Air& air, const Wsm6Cell& cell, const Wsm6Coefficients& coefficients,
    const Collision& motion)
{
    const real qr = cell.qr, qs = cell.qs, least = Q_PRECIPITATION_MIN;
    if (qs <= least || qr <= least) return 0;
    const Coefficients& c = coefficients.common;
    const real intercepts = p.common.n0r * p.common.n0s * c.n0s_factor;
    const real density = RHO_WATER / air.rho;
    const real psacr = mass_collected(intercepts, motion.rimed - motion.rain, density, c.rain, c.snow);
    return min(psacr * efficiency(qs, qr), qr / dt_cloud);
}

// pgacr: collection of rain by graupel (R -> G). See src/physics/wsm6/collection.rs.
__device__ inline real pgacr(
    const Wsm6Params& p, real dt_cloud, const Air& air, const Wsm6Cell& cell, const Wsm6Coefficients& coefficients,
    const Collision& motion)
{
    const real qr = cell.qr, qg = cell.qg, least = Q_PRECIPITATION_MIN;
    if (qg <= least || qr <= least) return 0;
    const Slope rain = coefficients.common.rain, graupel = coefficients.graupel;
    const real intercepts = p.common.n0r * p.graupel.n0g;
    const real density = RHO_WATER / air.rho;
    const real pgacr = mass_collected(intercepts, motion.rimed - motion.rain, density, rain, graupel);
    return min(pgacr * efficiency(qg, qr), qr / dt_cloud);
}

}  // namespace wsm6::collection
