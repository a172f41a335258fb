// Reflectivity and effective radii: see src/physics/wsm6/reflectivity.rs and src/physics/wsm5/radii.rs.
//
// A block has as many columns as a warp has lanes, and several levels of each at a time. Results have the shape
// (levels, columns).

#include "physics/mapping/column_map.cuh"
#include "physics/wsm5/radii.cuh"
#include "physics/wsm6/reflectivity.cuh"

// Properties of a cell that determine its reflectivity.
__device__ inline Wsm6Target target_at(const Wsm6Args& a, int at)
{
    const real t = (a.theta[at] + a.theta_base) * a.exner[at];
    return {{t, a.p[at], a.qv[at], a.qr[at], a.qs[at]}, a.qg[at]};
}

extern "C" __global__ void __launch_bounds__(DIAGNOSIS_COLUMNS* DIAGNOSIS_ROWS)
    wsm6_diagnose(__grid_constant__ const Wsm6DiagnosisArgs args)
{
    const Wsm6Args& a = args.cloud;
    const Wsm5Params& p = a.params.common;
    // The level above the highest one with melting snow or graupel; 0 without.
    __shared__ int melting_level[DIAGNOSIS_COLUMNS];
    const int column = threadIdx.x % DIAGNOSIS_COLUMNS, row = threadIdx.x / DIAGNOSIS_COLUMNS;
    const int number = blockIdx.x * DIAGNOSIS_COLUMNS + column;
    const bool is_inside = number < region_of(a).count;
    const int place = is_inside ? place_of(a, number) : 0;
    if (row == 0) melting_level[column] = 0;
    __syncthreads();
    for (int k = row; is_inside && k < NZ - 1; k += DIAGNOSIS_ROWS) {
        const int at = cell_of(a, k, place);
        if (wsm6::reflectivity::is_melting(target_at(a, at), target_at(a, at + region_of(a).level)))
            atomicMax(&melting_level[column], k + 1);
    }
    __syncthreads();
    if (!is_inside) return;
    const int top = melting_level[column];
    const Wsm6Target above = target_at(a, cell_of(a, top, place));
    const real snow_above = reflectivity::content(above.common, above.common.qs);
    const real graupel_above = reflectivity::content(above.common, above.qg);
    for (int k = row; k < NZ; k += DIAGNOSIS_ROWS) {
        const int at = cell_of(a, k, place);
        const Wsm6Target target = target_at(a, at);
        const bool melts_snow =
            k < top && reflectivity::has_snow(target.common) && reflectivity::has_snow(above.common);
        const bool melts_graupel =
            k < top && wsm6::reflectivity::has_graupel(target.qg) && wsm6::reflectivity::has_graupel(above.qg);
        const real snow = melts_snow ? reflectivity::z_melting_snow(p, args.snow_bins, target.common, snow_above)
                                     : reflectivity::z_snow(p, target.common);
        const real graupel = melts_graupel
            ? wsm6::reflectivity::z_melting_graupel(a.params, args.graupel_bins, target, graupel_above)
            : wsm6::reflectivity::z_graupel(a.params, target);
        const real rho = a.rho[at];
        const int out = k * region_of(a).count + number;
        args.refl_10cm[out] = reflectivity::decibels(reflectivity::z_rain(p, target.common) + snow + graupel);
        args.re_cloud[out] = radii::re_cloud(p, rho, a.qc[at]);
        args.re_ice[out] = radii::re_ice(p, rho, a.qi[at]);
        args.re_snow[out] = radii::re_snow(p, target.common.t, rho, a.qs[at]);
    }
}
