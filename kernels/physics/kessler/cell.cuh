// A cell: what it holds, and what the processes make of it when the rain has fallen. See src/physics/kessler/cell.rs.
#pragma once

#include "physics/kessler/conversion.cuh"
#include "physics/kessler/evaporation.cuh"
#include "physics/kessler/saturation.cuh"

namespace kessler::cell {

// A mixing ratio, or zero where it is negative; what is not a number stays so.
__device__ inline real clipped(real q) { return q - min(q, real(0)); }

// The larger of two amounts, or the first where it is not a number.
__device__ inline real at_least(real amount, real least) { return amount < least ? least : amount; }

// A cell after conversion, saturation adjustment and evaporation, once for the whole call.
__device__ inline KesslerCell processed(
    const KesslerFactors& p, real dt, real theta_base, real rho, real exner, real qr_fallen, const KesslerCell& cell)
{
    const real converted = conversion::conversion(p, dt, cell.qc, cell.qr);
    const real qc = clipped(cell.qc - converted);
    const real qr = clipped(qr_fallen + converted);
    const real t = exner * (cell.theta + theta_base);
    const real pressure = saturation::pressure(exner);
    const real es = saturation::vapour_pressure(t);
    const real qvs = saturation::mixing_ratio(pressure, es);
    const real excess = saturation::excess(p, t, pressure, es, qvs, cell.qv);
    const real possible = evaporation::evaporation(p, dt, rho, pressure, qvs, cell.qv, qr);
    const real evaporated = evaporation::limited(possible, excess, qc, qr);
    const real condensed = at_least(excess, -qc);
    return KesslerCell{
        cell.theta + saturation::warming(exner) * (condensed - evaporated),
        clipped(cell.qv - condensed + evaporated),
        qc + condensed,
        qr - evaporated,
    };
}

}  // namespace kessler::cell
