// The functions that CUDA offers and C++ does not, or under another name. Included by `cuda.h`;
// pure functions can be compiled with this file alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#ifndef __device__
#define __host__
#define __device__
#define __forceinline__ inline
#endif

using std::atan2;
using std::cbrt;
using std::ceil;
using std::copysign;
using std::cos;
using std::exp;
using std::exp2;
using std::fabs;
using std::floor;
using std::fma;
using std::fmax;
using std::fmin;
using std::hypot;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::log;
using std::log10;
using std::log2;
using std::pow;
using std::rint;
using std::round;
using std::sin;
using std::sqrt;
using std::tan;
using std::tanh;
using std::trunc;

// As on the device, the other one where one is not a number.
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline long long min(long long a, long long b) { return a < b ? a : b; }
inline long long max(long long a, long long b) { return a > b ? a : b; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
inline unsigned long long max(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

inline float rsqrt(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }

inline unsigned __umulhi(unsigned a, unsigned b)
{
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }

template <class To, class From>
inline To same_bits(From x)
{
    static_assert(sizeof(To) == sizeof(From));
    To result;
    std::memcpy(&result, &x, sizeof x);
    return result;
}

inline int __float_as_int(float x) { return same_bits<int>(x); }
inline float __int_as_float(int x) { return same_bits<float>(x); }
inline unsigned __float_as_uint(float x) { return same_bits<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return same_bits<float>(x); }
inline long long __double_as_longlong(double x) { return same_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return same_bits<double>(x); }

// Numbers that are moved together.
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
struct alignas(16) int4 { int x, y, z, w; };
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }

// Loads and stores with hints for the cache.
template <class T> inline T __ldg(const T* x) { return *x; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
template <class T> inline T __ldcs(const T* x) { return *x; }
template <class T> inline T __ldcg(const T* x) { return *x; }
template <class T> inline void __stcs(T* x, T value) { *x = value; }
template <class T> inline void __stcg(T* x, T value) { *x = value; }

// A thread is not interrupted between barriers, so that plain operations are atomic.
template <class T, class Change>
inline T changed(T* x, Change change)
{
    const T old = *x;
    *x = change(old);
    return old;
}

template <class T> inline T atomicAdd(T* x, T y) { return changed(x, [=](T a) { return a + y; }); }
inline unsigned atomicInc(unsigned* x, unsigned most)
{
    return changed(x, [=](unsigned a) { return a < most ? a + 1 : 0; });
}
template <class T> inline T atomicSub(T* x, T y) { return changed(x, [=](T a) { return a - y; }); }
template <class T> inline T atomicMin(T* x, T y) { return changed(x, [=](T a) { return a < y ? a : y; }); }
template <class T> inline T atomicMax(T* x, T y) { return changed(x, [=](T a) { return a > y ? a : y; }); }
template <class T> inline T atomicOr(T* x, T y) { return changed(x, [=](T a) { return a | y; }); }
template <class T> inline T atomicAnd(T* x, T y) { return changed(x, [=](T a) { return a & y; }); }
template <class T> inline T atomicExch(T* x, T y) { return changed(x, [=](T) { return y; }); }

template <class T>
inline T atomicCAS(T* x, T expected, T y)
{
    return changed(x, [=](T a) { return a == expected ? y : a; });
}

inline void __threadfence() {}
inline void __threadfence_block() {}
