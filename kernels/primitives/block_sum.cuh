// The sum over the threads of a block.
#pragma once

// Adds up one number of each of the SUM_THREADS threads, by halves and so in the same order in
// every run; the first thread has the sum. All threads of the block call it.
__device__ inline double block_sum(double own)
{
    __shared__ double partial[SUM_THREADS];
    __syncthreads();
    partial[threadIdx.x] = own;
    for (int half = SUM_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    return partial[0];
}
