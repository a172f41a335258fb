// The elements of the reductions: numbers of the working precision, or 32-bit integers if REDUCE_WHOLE is set; alone or
// in packs of 16 bytes.
#pragma once

template <bool is_whole> struct ElementOf { using type = real; };
template <> struct ElementOf<true> { using type = int; };
using element = ElementOf<REDUCE_WHOLE != 0>::type;

// Accumulator of sums without loss of precision.
template <class T> struct WideOf { using type = double; };
template <> struct WideOf<int> { using type = long long; };
using wide = WideOf<element>::type;

constexpr int PACK_BYTES = 16;
constexpr int LANES = PACK_BYTES / sizeof(element);

struct alignas(PACK_BYTES) Pack {
    element lane[LANES];
};

constexpr unsigned ALL_LANES = 0xffffffff;

// Number of elements from x to the next address that is aligned to 16 bytes.
__device__ inline int to_boundary(const element* x)
{
    const unsigned long long beyond = reinterpret_cast<unsigned long long>(x) % PACK_BYTES;
    return beyond == 0 ? 0 : static_cast<int>((PACK_BYTES - beyond) / sizeof(element));
}

// LANES elements from x on: by one load if x is aligned, else one by one.
template <bool is_aligned>
__device__ inline Pack pack_at(const element* x)
{
    if constexpr (is_aligned) return *reinterpret_cast<const Pack*>(x);
    Pack pack;
#pragma unroll
    for (int lane = 0; lane < LANES; ++lane) pack.lane[lane] = x[lane];
    return pack;
}

__device__ inline bool is_number(float x) { return x == x; }
__device__ inline bool is_number(double x) { return x == x; }
__device__ inline bool is_number(int) { return true; }

// Neutral value of minimum and maximum: NaN, since min and max prefer any number to it, or the other end of the range
// of integers.
template <bool is_largest> __device__ inline float of_none(float) { return __int_as_float(0x7fffffff); }
template <bool is_largest> __device__ inline double of_none(double)
{
    return __longlong_as_double(0x7fffffffffffffff);
}
template <bool is_largest> __device__ inline int of_none(int)
{
    return is_largest ? -0x7fffffff - 1 : 0x7fffffff;
}
