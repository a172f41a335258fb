// Sums over the threads of a block.
#pragma once

// Adds up COUNT numbers of each of the SUM_THREADS threads, by halves and so in the same order in
// every run; the first thread has the sums. All threads of the block call it.
template <int COUNT>
__device__ inline void block_sums(double (&sums)[COUNT])
{
    constexpr int warp = 32;
    constexpr unsigned all_lanes = 0xffffffff;
    static_assert(SUM_THREADS >= warp && (SUM_THREADS & (SUM_THREADS - 1)) == 0, "halves");
    __shared__ double partial[COUNT][SUM_THREADS];
    __syncthreads();
    for (int c = 0; c < COUNT; ++c) partial[c][threadIdx.x] = sums[c];
    __syncthreads();
    if (threadIdx.x >= warp) return;
    for (int c = 0; c < COUNT; ++c) {
        // A lane adds up what lies below it at whole warps, until one number for each lane is left.
        double own[SUM_THREADS / warp];
        for (int n = 0; n < SUM_THREADS / warp; ++n) own[n] = partial[c][threadIdx.x + n * warp];
        for (int half = SUM_THREADS / warp / 2; half > 0; half /= 2)
            for (int n = 0; n < half; ++n) own[n] += own[n + half];
        double sum = own[0];
        for (int half = warp / 2; half > 0; half /= 2) sum += __shfl_down_sync(all_lanes, sum, half);
        sums[c] = sum;
    }
}

// The sum of one number of each thread.
__device__ inline double block_sum(double own)
{
    double sums[] = {own};
    block_sums(sums);
    return sums[0];
}
