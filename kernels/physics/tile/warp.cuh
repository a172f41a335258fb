// Operations over the lanes of a warp. All lanes take part; the order of additions is fixed.
#pragma once

#include "physics/tile/shape.cuh"

// Largest number of all lanes, in every lane.
__device__ inline int warp_max(int x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    // The result of this instruction is uniform for the compiler.
    return __reduce_max_sync(ALL_LANES, x);
#else
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        x = max(x, __shfl_xor_sync(ALL_LANES, x, distance));
    return x;
#endif
}

// The value of the next level, with levels distributed over the lanes as in LEVELS_PER_LANE; `m` is the index in a
// lane. Undefined at the last level.
template <class T>
__device__ inline T next_level(const T (&x)[LEVELS_PER_LANE], int m)
{
    const T mine = lane() == 0 && m + 1 < LEVELS_PER_LANE ? x[m + 1 < LEVELS_PER_LANE ? m + 1 : m] : x[m];
    return __shfl_sync(ALL_LANES, mine, (lane() + 1) % WARP);
}

// Index of a lane in its group, and of the group in the block.
__device__ inline int member() { return threadIdx.x % GROUP; }
__device__ inline int group() { return threadIdx.x / GROUP; }

// Sum of this lane and the lane `distance` before it if that is in its group.
__device__ inline real add_from_below(real x, int distance)
{
#ifdef __CUDACC_RTC__
    // The instruction sets a predicate if there is such a lane. CUDA's function does not return it, and another
    // comparison in every step of a sum would be measurably slower.
    if (sizeof(real) == sizeof(float)) {
        float sum = x;
        asm("{\n"
            ".reg .pred is_in_group;\n"
            ".reg .f32 before;\n"
            "shfl.sync.up.b32 before|is_in_group, %0, %1, %2, -1;\n"
            "@is_in_group add.f32 %0, %0, before;\n"
            "}"
            : "+f"(sum)
            : "r"(distance), "n"((WARP - GROUP) << 8));
        return sum;
    }
#endif
    const real before = __shfl_up_sync(ALL_LANES, x, distance, GROUP);
    return member() >= distance ? x + before : x;
}

// Sum of the lanes of a group before this one.
__device__ inline real sum_below(real x)
{
    real sum = x;
#pragma unroll
    for (int distance = 1; distance < GROUP; distance *= 2) sum = add_from_below(sum, distance);
    const real before = __shfl_up_sync(ALL_LANES, sum, 1, GROUP);
    return member() > 0 ? before : real(0);
}

// Sum of all lanes of a group, in every lane.
__device__ inline real group_sum(real x)
{
#pragma unroll
    for (int distance = GROUP / 2; distance > 0; distance /= 2)
        x += __shfl_xor_sync(ALL_LANES, x, distance);
    return x;
}

// The value of the slot above, with slots distributed over the lanes of a group as in SLOTS; `m` is the index in a
// lane. Undefined at the highest slot.
template <class T>
__device__ inline T from_above(const T (&x)[SLOTS], int m)
{
    return m + 1 < SLOTS ? x[m + 1 < SLOTS ? m + 1 : m] : __shfl_down_sync(ALL_LANES, x[0], 1, GROUP);
}

// The value of the slot below. The lowest slot gets its own value.
template <class T>
__device__ inline T from_below(const T (&x)[SLOTS], int m)
{
    if (m > 0) return x[m > 0 ? m - 1 : 0];
    const T below = __shfl_up_sync(ALL_LANES, x[SLOTS - 1], 1, GROUP);
    return SLOTS > 1 && member() == 0 ? x[0] : below;
}

// Largest value of the slots above each, with slots distributed as in SLOTS. The highest slot gets its own value.
__device__ inline void max_above(const real (&x)[SLOTS], real (&above)[SLOTS])
{
    real from_here = x[SLOTS - 1];
    above[SLOTS - 1] = from_here;
#pragma unroll
    for (int m = SLOTS - 2; m >= 0; --m) {
        above[m] = from_here;
        from_here = max(from_here, x[m]);
    }
#pragma unroll
    for (int distance = 1; distance < GROUP; distance *= 2)
        from_here = max(from_here, __shfl_down_sync(ALL_LANES, from_here, distance, GROUP));
    const real next = __shfl_down_sync(ALL_LANES, from_here, 1, GROUP);
    above[SLOTS - 1] = SLOTS > 1 && member() == GROUP - 1 ? above[SLOTS - 1] : next;
#pragma unroll
    for (int m = 0; m < SLOTS - 1; ++m) above[m] = max(above[m], above[SLOTS - 1]);
}

// Position of the n-th bit, counted from 0, of the set bits of a word.
__device__ inline int nth_set_bit(unsigned word, int n)
{
    const unsigned before = (1u << lane()) - 1;
    const bool is_it = (word >> lane() & 1) && __popc(word & before) == n;
    return __ffs(__ballot_sync(ALL_LANES, is_it)) - 1;
}
