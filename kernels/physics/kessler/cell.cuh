// A cell: its contents, and the processes in it after sedimentation. See src/physics/kessler/cell.rs.
#pragma once

#include "physics/kessler/conversion.cuh"
#include "physics/kessler/evaporation.cuh"
#include "physics/kessler/saturation.cuh"

namespace kessler::cell {

// A mixing ratio clipped at zero; NaN stays NaN.
__device__ inline real clipped(real q) { return q - min(q, real(0)); }

// All water of a cell that the scheme changes, kg kg-1.
__device__ inline real water(real qv, real qc, real qr) { return qv + qc + qr; }

// Water that clipping a mixing ratio at zero adds, kg kg-1.
__device__ inline real made(real q) { return 0 - min(q, real(0)); }

// The larger of two amounts; NaN if the first is NaN.
__device__ inline real at_least(real amount, real least) { return amount < least ? least : amount; }

// A cell after conversion, saturation adjustment and evaporation, applied once for the whole call.
__device__ inline KesslerCell processed(
    const KesslerFactors& p, real dt, real theta_base, real rho, real exner, real qr_fallen, const KesslerCell& cell)
{
    const real converted = conversion::conversion(p, dt, cell.qc, cell.qr);
    const real qc_left = cell.qc - converted, qr_left = qr_fallen + converted;
    const real qc = clipped(qc_left), qr = clipped(qr_left);
    const real t = exner * (cell.theta + theta_base);
    const real pressure = saturation::pressure(exner);
    const real es = saturation::vapour_pressure(t);
    const real qvs = saturation::mixing_ratio(pressure, es);
    const real excess = saturation::excess(p, t, pressure, es, qvs, cell.qv);
    const real possible = evaporation::evaporation(p, dt, rho, pressure, qvs, cell.qv, qr);
    const real evaporated = evaporation::limited(possible, excess, qc, qr);
    const real condensed = at_least(excess, -qc);
    const real qv_left = cell.qv - condensed + evaporated;
    return KesslerCell{
        cell.theta + saturation::warming(exner) * (condensed - evaporated),
        clipped(qv_left),
        qc + condensed,
        qr - evaporated,
        cell.made + (made(qc_left) + made(qr_left) + made(qv_left)),
    };
}

}  // namespace kessler::cell
