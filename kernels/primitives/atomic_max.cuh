// The largest number and its first index, in one word.
#pragma once

// A word that increases with a non-negative number and, for equal numbers, decreases with the index.
__device__ inline unsigned long long first_of_largest(float value, unsigned place)
{
    return static_cast<unsigned long long>(__float_as_uint(value)) << 32 | ~place;
}

// Updates the maximum with the words of all threads; all lanes of the warp call it.
__device__ inline void update_largest(unsigned long long* kept, unsigned long long own)
{
    constexpr unsigned all_lanes = 0xffffffff;
    for (int half = WARP / 2; half > 0; half /= 2)
        own = max(own, __shfl_xor_sync(all_lanes, own, half));
    if (threadIdx.x % WARP == 0) atomicMax(kept, own);
}
