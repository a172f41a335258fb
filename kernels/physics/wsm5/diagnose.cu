// Reflectivity and effective radii: see src/physics/wsm5/reflectivity.rs and src/physics/wsm5/radii.rs.
//
// A block has as many columns as a warp has lanes, and several levels of each at a time. Results have the shape
// (levels, columns).

#include "physics/wsm5/mapping/fields.cuh"
#include "physics/wsm5/radii.cuh"
#include "physics/wsm5/reflectivity.cuh"

// Properties of a cell that determine its reflectivity.
__device__ inline Target target_at(const Wsm5Args& a, int at)
{
    return {(a.theta[at] + a.theta_base) * a.exner[at], a.p[at], a.qv[at], a.qr[at], a.qs[at]};
}

extern "C" __global__ void __launch_bounds__(DIAGNOSIS_COLUMNS* DIAGNOSIS_ROWS)
    wsm5_diagnose(__grid_constant__ const DiagnosisArgs args)
{
    const Wsm5Args& a = args.cloud;
    // The level above the highest one with melting snow; 0 without melting snow.
    __shared__ int melting_level[DIAGNOSIS_COLUMNS];
    const int column = threadIdx.x % DIAGNOSIS_COLUMNS, row = threadIdx.x / DIAGNOSIS_COLUMNS;
    const int number = blockIdx.x * DIAGNOSIS_COLUMNS + column;
    const bool is_inside = number < region_of(a).count;
    const int place = is_inside ? place_of(a, number) : 0;
    if (row == 0) melting_level[column] = 0;
    __syncthreads();
    for (int k = row; is_inside && k < NZ - 1; k += DIAGNOSIS_ROWS) {
        const int at = cell_of(a, k, place);
        if (reflectivity::is_melting(target_at(a, at), target_at(a, at + region_of(a).level)))
            atomicMax(&melting_level[column], k + 1);
    }
    __syncthreads();
    if (!is_inside) return;
    const int top = melting_level[column];
    const Target above = target_at(a, cell_of(a, top, place));
    const real snow_above = reflectivity::content(above, above.qs);
    for (int k = row; k < NZ; k += DIAGNOSIS_ROWS) {
        const int at = cell_of(a, k, place);
        const Target target = target_at(a, at);
        const bool is_melting =
            k < top && reflectivity::has_snow(target) && reflectivity::has_snow(above);
        const real snow = is_melting
            ? reflectivity::z_melting_snow(a.params, args.bins, target, snow_above)
            : reflectivity::z_snow(a.params, target);
        const real rho = a.rho[at];
        const int out = k * region_of(a).count + number;
        args.refl_10cm[out] = reflectivity::decibels(reflectivity::z_rain(a.params, target) + snow);
        args.re_cloud[out] = radii::re_cloud(a.params, rho, a.qc[at]);
        args.re_ice[out] = radii::re_ice(a.params, rho, a.qi[at]);
        args.re_snow[out] = radii::re_snow(a.params, target.t, rho, a.qs[at]);
    }
}
