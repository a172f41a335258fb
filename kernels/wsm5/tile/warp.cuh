// Operations over the lanes of a warp. All lanes take part; orders of additions are fixed.
#pragma once

#include "wsm5/tile/tile.cuh"

// Sum of all lanes, in every lane.
__device__ inline real warp_sum(real x)
{
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        x += __shfl_xor_sync(ALL_LANES, x, distance);
    return x;
}

// Largest value of all lanes, in every lane.
__device__ inline real warp_max(real x)
{
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        x = max(x, __shfl_xor_sync(ALL_LANES, x, distance));
    return x;
}

// Sum of this lane and those before it.
__device__ inline real prefix_sum(real x)
{
#pragma unroll
    for (int distance = 1; distance < WARP; distance *= 2) {
        const real before = __shfl_up_sync(ALL_LANES, x, distance);
        if (lane() >= distance) x += before;
    }
    return x;
}

// Largest value of this lane and those after it.
__device__ inline real suffix_max(real x)
{
#pragma unroll
    for (int distance = 1; distance < WARP; distance *= 2)
        x = max(x, __shfl_down_sync(ALL_LANES, x, distance));
    return x;
}

// The value of the next level, of levels spread over the lanes as in LEVELS; `m` counts those of a
// lane. Means nothing at the last one.
template <class T>
__device__ inline T next_level(const T (&x)[LEVELS], int m)
{
    const T mine = lane() == 0 && m + 1 < LEVELS ? x[m + 1 < LEVELS ? m + 1 : m] : x[m];
    return __shfl_sync(ALL_LANES, mine, (lane() + 1) % WARP);
}

// Position of the bit `n`, counted from 0, among those that are set in a word.
__device__ inline int nth_set_bit(unsigned word, int n)
{
    const unsigned before = (1u << lane()) - 1;
    const bool is_it = (word >> lane() & 1) && __popc(word & before) == n;
    return __ffs(__ballot_sync(ALL_LANES, is_it)) - 1;
}
