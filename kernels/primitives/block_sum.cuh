// The sum over the threads of a block.
#pragma once

// Adds up one number of each of the SUM_THREADS threads, by halves and so in the same order in
// every run; the first thread has the sum. All threads of the block call it.
__device__ inline double block_sum(double own)
{
    constexpr int warp = 32;
    constexpr unsigned all_lanes = 0xffffffff;
    static_assert(SUM_THREADS >= warp && (SUM_THREADS & (SUM_THREADS - 1)) == 0, "halves");
    __shared__ double partial[SUM_THREADS];
    __syncthreads();
    partial[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x >= warp) return 0;
    // A lane adds up what lies below it at whole warps, until one number for each lane is left.
    double sums[SUM_THREADS / warp];
    for (int n = 0; n < SUM_THREADS / warp; ++n) sums[n] = partial[threadIdx.x + n * warp];
    for (int half = SUM_THREADS / warp / 2; half > 0; half /= 2)
        for (int n = 0; n < half; ++n) sums[n] += sums[n + half];
    double sum = sums[0];
    for (int half = warp / 2; half > 0; half /= 2) sum += __shfl_down_sync(all_lanes, sum, half);
    return sum;
}
