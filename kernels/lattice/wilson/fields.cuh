// Memory layout of spinors and links, in the order of the sites of one parity, and their loads and stores, in units of
// sixteen bytes for each thread. A chunk of CHUNK sites stores all first units, then all second units and so on:
// neighbouring threads have neighbouring addresses, and with small chunks all units of a site are at constant distances
// from one address.
#pragma once
#include "lattice/checkerboard.cuh"
#include "lattice/link.cuh"
#include "primitives/vector_load.cuh"

constexpr int UNIT = Wide<real>::COUNT;
// Reals of a spinor, four spin components of three colors.
constexpr int SPINOR_REALS = 24;
constexpr int SPINOR_UNITS = SPINOR_REALS / UNIT;
static_assert(HALF_VOLUME % CHUNK == 0, "chunks are full");

// The index of the first unit of a site in an array with `units` units for each site.
__device__ inline int place_of(int index, int units)
{
    return index / CHUNK * (CHUNK * units) + index % CHUNK;
}

// Loads through the read-only data cache.
__device__ inline Wide<float> load_kept(const float* from)
{
    const float4 v = __ldg(reinterpret_cast<const float4*>(from));
    return {{v.x, v.y, v.z, v.w}};
}
__device__ inline Wide<double> load_kept(const double* from)
{
    const double2 v = __ldg(reinterpret_cast<const double2*>(from));
    return {{v.x, v.y}};
}

// Loads that do not allocate in the L1 cache.
__device__ inline Wide<float> load_past(const float* from)
{
#ifdef __CUDACC_RTC__
    Wide<float> v;
    asm("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(v.at[0]), "=f"(v.at[1]), "=f"(v.at[2]), "=f"(v.at[3]) : "l"(from));
    return v;
#else
    return load_kept(from);
#endif
}
__device__ inline Wide<double> load_past(const double* from)
{
#ifdef __CUDACC_RTC__
    Wide<double> v;
    asm("ld.global.nc.L1::no_allocate.v2.f64 {%0, %1}, [%2];" : "=d"(v.at[0]), "=d"(v.at[1]) : "l"(from));
    return v;
#else
    return load_kept(from);
#endif
}

// A unit loaded with a cache hint; HINT is one of the LOAD_ constants.
template <int HINT>
__device__ inline Wide<real> load_unit(const real* from)
{
    if constexpr (HINT == LOAD_ONCE) return load_once(from);
    else if constexpr (HINT == LOAD_PAST) return load_past(from);
    else if constexpr (HINT == LOAD_KEPT) return load_kept(from);
    else return *reinterpret_cast<const Wide<real>*>(from);
}

// Loads spin components FIRST to FIRST + COUNT - 1 of a spinor; the others are unchanged.
template <int FIRST, int COUNT>
__device__ inline void load_spins(const real* field, int index, Complex (&psi)[4][3])
{
    constexpr int first = FIRST * 6 / UNIT, end = (FIRST + COUNT) * 6 / UNIT;
    const real* from = field + static_cast<long long>(place_of(index, SPINOR_UNITS)) * UNIT;
#pragma unroll
    for (int n = first; n < end; ++n) {
        const Wide<real> unit = load_unit<SPINOR_LOAD>(from + n * CHUNK * UNIT);
#pragma unroll
        for (int c = 0; c < UNIT; c += 2) {
            const int at = (n * UNIT + c) / 2;
            psi[at / 3][at % 3] = Complex{unit.at[c], unit.at[c + 1]};
        }
    }
}

__device__ inline void load_spinor(const real* field, int index, Complex (&psi)[4][3])
{
    load_spins<0, 4>(field, index, psi);
}

template <bool STREAMED>
__device__ inline void store_spinor(real* field, int index, const Complex (&psi)[4][3])
{
    real* first = field + static_cast<long long>(place_of(index, SPINOR_UNITS)) * UNIT;
#pragma unroll
    for (int n = 0; n < SPINOR_UNITS; ++n) {
        Wide<real> unit;
#pragma unroll
        for (int c = 0; c < UNIT; c += 2) {
            const int at = (n * UNIT + c) / 2;
            unit.at[c] = psi[at / 3][at % 3].re;
            unit.at[c + 1] = psi[at / 3][at % 3].im;
        }
        real* to = first + n * CHUNK * UNIT;
        if (STREAMED) store_once(to, unit);
        else *reinterpret_cast<Wide<real>*>(to) = unit;
    }
}

// A complex number of a link of 18 reals.
struct alignas(2 * sizeof(real)) Pair {
    real re, im;
};
template <int HINT>
__device__ inline Pair load_pair(const Pair* from)
{
#ifdef __CUDACC_RTC__
    if constexpr (HINT != LOAD_PLAIN && sizeof(real) == 4) {
        const float2* at = reinterpret_cast<const float2*>(from);
        float2 v;
        if constexpr (HINT == LOAD_ONCE) v = __ldcs(at);
        else if constexpr (HINT == LOAD_KEPT) v = __ldg(at);
        else asm("ld.global.nc.L1::no_allocate.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(at));
        return Pair{v.x, v.y};
    } else if constexpr (HINT != LOAD_PLAIN) {
        const Wide<double> v = load_unit<HINT>(&from->re);
        return Pair{v.at[0], v.at[1]};
    }
#endif
    return *from;
}

// Reals of all links of one direction and parity.
constexpr int LINK_STRIDE = LINK_REALS * HALF_VOLUME;

// Loads a link; the third row is computed if it is not stored.
__device__ inline void load_link(const real* links, int direction, int index, Complex (&u)[3][3])
{
    const real* from = links + static_cast<long long>(direction) * LINK_STRIDE;
    if constexpr (LINK_REALS == 12) {
        const real* at_site = from + static_cast<long long>(place_of(index, 12 / UNIT)) * UNIT;
#pragma unroll
        for (int n = 0; n < 12 / UNIT; ++n) {
            const Wide<real> unit = load_unit<LINK_LOAD>(at_site + n * CHUNK * UNIT);
#pragma unroll
            for (int c = 0; c < UNIT; c += 2) {
                const int at = (n * UNIT + c) / 2;
                u[at / 3][at % 3] = Complex{unit.at[c], unit.at[c + 1]};
            }
        }
        third_row(u);
    } else {
        const Pair* at_site = reinterpret_cast<const Pair*>(from) + place_of(index, 9);
#pragma unroll
        for (int n = 0; n < 9; ++n) {
            const Pair pair = load_pair<LINK_LOAD>(at_site + n * CHUNK);
            u[n / 3][n % 3] = Complex{pair.re, pair.im};
        }
    }
}
