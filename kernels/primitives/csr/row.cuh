// Sums of a row of a sparse matrix over lanes.
#pragma once

#include "primitives/pdl_wait.cuh"

constexpr unsigned WHOLE_WARP = 0xffffffff;

// The sum over LANES neighbouring lanes by halving; the first of them gets it. All lanes of the warp call it.
template <int LANES>
__device__ inline real sum_of_lanes(real own)
{
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) own += __shfl_down_sync(WHOLE_WARP, own, step, LANES);
    return own;
}

// A row for each group of LANES lanes.
template <int LANES>
__device__ inline void row_by_lanes(const CsrArgs& args)
{
    const long long thread = static_cast<long long>(blockIdx.x) * CSR_THREADS + threadIdx.x;
    const long long row = thread / LANES;
    const int lane = threadIdx.x % LANES;
    const real* x = args.x + blockIdx.y * args.x_stride;
    real sum = 0;
    wait_and_admit_next();
    if (row < args.rows) {
        const int end = args.starts[row + 1];
        for (int e = args.starts[row] + lane; e < end; e += LANES)
            sum += args.values[e] * __ldg(x + args.columns[e]);
    }
    sum = sum_of_lanes<LANES>(sum);
    if (row < args.rows && lane == 0) args.y[blockIdx.y * args.y_stride + row] = sum;
}

// A row for the whole warp, with four entries of a lane in flight together.
__device__ inline void row_of_warp(const CsrArgs& args, int row)
{
    const int lane = threadIdx.x % WARP;
    const int begin = args.starts[row], end = args.starts[row + 1];
    const real* x = args.x + blockIdx.y * args.x_stride;
    real sum = 0;
#pragma unroll 4
    for (int e = begin + lane; e < end; e += WARP) sum += args.values[e] * __ldg(x + args.columns[e]);
    sum = sum_of_lanes<WARP>(sum);
    if (lane == 0) args.y[blockIdx.y * args.y_stride + row] = sum;
}
