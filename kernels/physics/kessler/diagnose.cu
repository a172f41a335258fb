// Reflectivity of the columns of a grid, one thread for each cell: see src/physics/kessler/reflectivity.rs. The result has
// the shape (levels, columns), without gaps.
#include "physics/kessler/reflectivity.cuh"

extern "C" __global__ void __launch_bounds__(KESSLER_THREADS)
    kessler_diagnose(__grid_constant__ const KesslerDiagnosisArgs a)
{
    const int number = blockIdx.x * KESSLER_THREADS + threadIdx.x;
    if (number >= a.columns) return;
    const int place = a.first + number / a.width * a.pitch + number % a.width;
    const int k = blockIdx.y, at = k * a.level + place;
    a.refl_10cm[k * a.columns + number] = kessler::reflectivity(a.rho[at], a.qr[at]);
}
