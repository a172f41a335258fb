// What a frame of output is summed up to besides the statistics of its levels: see
// src/backend/summary.rs. The x of a thread is its column.
#include "primitives/largest.cuh"

// Mass of a cell, as the CPU version has it.
__device__ inline real mass_of(const LayeredPointers& mass, int c, int k)
{
    return mass.with_mu[c] * mass.c1[k] + mass.without_mu[c] * mass.c2[k];
}

// Water of species blockIdx.y above each square metre of the ground.
extern "C" __global__ void __launch_bounds__(SUMMARY_THREADS)
summary_contents_acc64(const __grid_constant__ ContentsArgs args)
{
    const int c = blockIdx.x * SUMMARY_THREADS + threadIdx.x;
    if (c >= args.columns) return;
    const real* q = args.water + static_cast<long long>(blockIdx.y) * NZ * args.columns + c;
    double sum = 0;
#pragma unroll 9
    for (int k = 0; k < NZ; ++k) {
        const double mass = mass_of(args.mass, c, k);
        sum += mass * static_cast<double>(q[k * args.columns]);
    }
    args.contents[blockIdx.y * args.columns + c] = static_cast<real>(sum / args.area[c]);
}

// What flows out through a face: `flux` points out of the cell.
__device__ inline double outgoing(real flux) { return max(static_cast<double>(flux), 0.0); }

// The cell that air leaves fastest: what flows out of it in a second over its mass. The y of a block
// is the first of its levels.
extern "C" __global__ void __launch_bounds__(SUMMARY_THREADS)
summary_outflow_acc64(const __grid_constant__ OutflowArgs args)
{
    const int c = blockIdx.x * SUMMARY_THREADS + threadIdx.x;
    const int nx = args.nx, ny = args.ny, plane = nx * ny;
    unsigned long long fastest = 0;
    if (c < plane) {
        const int j = c / nx, i = c - j * nx;
        for (int k = blockIdx.y; k < NZ; k += gridDim.y) {
            const real* x = args.x + (static_cast<long long>(k) * ny + j) * (nx + 1) + i;
            const real* y = args.y + (static_cast<long long>(k) * (ny + 1) + j) * nx + i;
            const real* z = args.z + static_cast<long long>(k) * plane + c;
            const double out = outgoing(x[1]) + outgoing(-x[0]) + outgoing(y[nx]) + outgoing(-y[0])
                               + outgoing(z[plane]) + outgoing(-z[0]);
            const double rate = out / static_cast<double>(mass_of(args.mass, c, k));
            const unsigned cell = static_cast<unsigned>(k) * plane + c;
            fastest = max(fastest, first_of_largest(static_cast<float>(rate), cell));
        }
    }
    note_largest(args.fastest, fastest);
}
