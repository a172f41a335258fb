// What a frame of output is summed up to besides the statistics of its levels: see
// src/backend/summary.rs. A thread for each column.
#include "primitives/largest.cuh"

// Mass of a cell, as the CPU version has it.
__device__ inline real mass_of(const LayeredPointers& mass, int c, int k)
{
    return mass.with_mu[c] * mass.c1[k] + mass.without_mu[c] * mass.c2[k];
}

// Water above each square metre of the ground, species by species.
extern "C" __global__ void __launch_bounds__(SUMMARY_THREADS)
summary_contents_acc64(const __grid_constant__ ContentsArgs args)
{
    const int c = blockIdx.x * SUMMARY_THREADS + threadIdx.x;
    if (c >= args.columns) return;
    const long long columns = args.columns;
    double sums[SUMMARY_SPECIES] = {};
    for (int k = 0; k < NZ; ++k) {
        const double mass = mass_of(args.mass, c, k);
        for (int s = 0; s < SUMMARY_SPECIES; ++s)
            sums[s] += mass * static_cast<double>(args.water[(static_cast<long long>(s) * NZ + k) * columns + c]);
    }
    for (int s = 0; s < SUMMARY_SPECIES; ++s)
        args.contents[s * columns + c] = static_cast<real>(sums[s] / args.area[c]);
}

// What flows out through a face: `flux` points out of the cell.
__device__ inline double outgoing(real flux) { return max(static_cast<double>(flux), 0.0); }

// The cell that air leaves fastest: what flows out of it in a second over its mass.
extern "C" __global__ void __launch_bounds__(SUMMARY_THREADS)
summary_outflow_acc64(const __grid_constant__ OutflowArgs args)
{
    const int c = blockIdx.x * SUMMARY_THREADS + threadIdx.x;
    const int nx = args.nx, ny = args.ny, plane = nx * ny;
    unsigned long long fastest = 0;
    if (c < plane) {
        const int j = c / nx, i = c - j * nx;
        real below = args.z[c];
        for (int k = 0; k < NZ; ++k) {
            const real* x = args.x + (static_cast<long long>(k) * ny + j) * (nx + 1) + i;
            const real* y = args.y + (static_cast<long long>(k) * (ny + 1) + j) * nx + i;
            const real above = args.z[static_cast<long long>(k + 1) * plane + c];
            const double out = outgoing(x[1]) + outgoing(-x[0]) + outgoing(y[nx]) + outgoing(-y[0])
                               + outgoing(above) + outgoing(-below);
            const double rate = out / static_cast<double>(mass_of(args.mass, c, k));
            const unsigned cell = static_cast<unsigned>(k) * plane + c;
            fastest = max(fastest, first_of_largest(static_cast<float>(rate), cell));
            below = above;
        }
    }
    note_largest(args.fastest, fastest);
}
