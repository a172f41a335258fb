// Reductions of an output frame, other than the statistics of levels: see src/backend/summary.rs. The x index of a
// thread is its column.
#include "primitives/atomic_max.cuh"
#include "primitives/layered.cuh"

// Column content of species blockIdx.y per square metre.
extern "C" __global__ void __launch_bounds__(SUMMARY_THREADS)
summary_contents_acc64(const __grid_constant__ ContentsArgs args)
{
    const int c = blockIdx.x * SUMMARY_THREADS + threadIdx.x;
    const int nx = args.nx, columns = nx * args.ny;
    if (c >= columns) return;
    const int j = c / nx, place = j * args.pitch + c - j * nx;
    const real* q = args.water + static_cast<long long>(blockIdx.y) * NZ * columns + c;
    double sum = 0;
#pragma unroll 9
    for (int k = 0; k < NZ; ++k) {
        const double mass = layered_at(args.mass, place, k);
        sum += mass * static_cast<double>(q[static_cast<long long>(k) * columns]);
    }
    args.contents[static_cast<long long>(blockIdx.y) * columns + c] = static_cast<real>(sum / args.area[c]);
}

// Outflow through a face; `flux` is positive out of the cell.
__device__ inline double outgoing(real flux) { return max(static_cast<double>(flux), 0.0); }

// The cell with the largest outflow rate, among those of nx by ny columns: outflow per second divided by the mass of the
// cell. The y index of a block is the first of its levels.
extern "C" __global__ void __launch_bounds__(SUMMARY_THREADS)
summary_outflow_acc64(const __grid_constant__ OutflowArgs args)
{
    const int c = blockIdx.x * SUMMARY_THREADS + threadIdx.x;
    const int nx = args.nx, ny = args.ny, columns = nx * ny, pitch = args.pitch;
    unsigned long long fastest = 0;
    if (c < columns) {
        const int j = c / nx, i = c - j * nx, place = j * pitch + i;
        const long long plane = static_cast<long long>(args.rows) * pitch;
        for (int k = blockIdx.y; k < NZ; k += gridDim.y) {
            const real* x = args.x + (static_cast<long long>(k) * args.rows + j) * args.face_pitch + i;
            const real* y = args.y + k * (plane + pitch) + place;
            const real* z = args.z + k * plane + place;
            const double out = outgoing(x[1]) + outgoing(-x[0]) + outgoing(y[pitch])
                               + outgoing(-y[0]) + outgoing(z[plane]) + outgoing(-z[0]);
            const double rate = out / static_cast<double>(layered_at(args.mass, place, k));
            const unsigned cell = static_cast<unsigned>(k) * columns + c;
            fastest = max(fastest, first_of_largest(static_cast<float>(rate), cell));
        }
    }
    update_largest(args.fastest, fastest);
}
