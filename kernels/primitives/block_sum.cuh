// Sums over the threads of a block.
#pragma once

// Adds up COUNT numbers of each of the SUM_THREADS threads by halving, in the same order in every run; all threads get
// the sums. All threads of the block call it.
template <int COUNT>
__device__ inline void block_sums(double (&sums)[COUNT])
{
    constexpr unsigned all_lanes = 0xffffffff;
    static_assert(SUM_THREADS >= WARP && (SUM_THREADS & (SUM_THREADS - 1)) == 0, "halves");
    __shared__ double partial[COUNT][SUM_THREADS];
    __shared__ double whole[COUNT];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % WARP;
    for (int c = 0; c < COUNT; ++c) partial[c][thread] = sums[c];
    __syncthreads();
    // The numbers are distributed among the warps.
    for (int c = thread / WARP; c < COUNT; c += SUM_THREADS / WARP) {
        // Each lane first adds up the numbers of the threads with its lane index in all warps.
        double own[SUM_THREADS / WARP];
        for (int n = 0; n < SUM_THREADS / WARP; ++n) own[n] = partial[c][lane + n * WARP];
        for (int half = SUM_THREADS / WARP / 2; half > 0; half /= 2)
            for (int n = 0; n < half; ++n) own[n] += own[n + half];
        double sum = own[0];
        for (int half = WARP / 2; half > 0; half /= 2) sum += __shfl_down_sync(all_lanes, sum, half);
        if (lane == 0) whole[c] = sum;
    }
    __syncthreads();
    for (int c = 0; c < COUNT; ++c) sums[c] = whole[c];
}

// The sum of one number of each thread.
__device__ inline double block_sum(double own)
{
    double sums[] = {own};
    block_sums(sums);
    return sums[0];
}
