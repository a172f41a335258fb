// The Wilson operator on one parity. Compile-time constants: the extents of the lattice and the layout of its fields
// (LINK_REALS, DIAGONAL_T, BACKWARD_STORED, CHUNK), the cache hints of the loads and the order of the sites. See
// src/lattice/gpu/mod.rs.
#include "lattice/wilson/hop.cuh"
#include "lattice/wilson/kept_links.cuh"
#include "lattice/wilson/site_order.cuh"

// out = D in of SIDE_THREADS times REGISTER_SIDES right-hand sides, or out = base + coefficient D in.
template <bool DAGGER, bool HAS_BASE>
__device__ inline void operate(const WilsonArgs& args)
{
    constexpr int sides = REGISTER_SIDES;
    const int thread = static_cast<int>(threadIdx.x), first_side = thread / BLOCK_SITES * sides;
    Site site;
    if (!site_of_thread(static_cast<int>(blockIdx.x), thread % BLOCK_SITES, args.parity, site)) return;
    const int index = index_of(site);
    Complex sum[sides][4][3];
    const long long offset = static_cast<long long>(first_side) * SPINOR_REALS * HALF_VOLUME;
    hop<DAGGER, sides>(args, args.in_ + offset, site, index, sum);
#pragma unroll
    for (int side = 0; side < sides; ++side) {
        const long long at = offset + static_cast<long long>(side) * SPINOR_REALS * HALF_VOLUME;
        if constexpr (HAS_BASE) add_to_base(args.base + at, index, args.coefficient, sum[side]);
        store_spinor<STREAMED>(args.out + at, index, sum[side]);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, RESIDENT_BLOCKS)
wilson_hop(const __grid_constant__ WilsonArgs args)
{
    if constexpr (!LOOP_SIDES) operate<false, false>(args);
}

// out = D in for several right-hand sides in sequence, by threads that load their links once.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, RESIDENT_BLOCKS)
wilson_hop_loop(const __grid_constant__ WilsonArgs args)
{
    if constexpr (LOOP_SIDES) {
        Site site;
        if (!site_of_thread(static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), args.parity, site)) return;
        const int index = index_of(site);
        keep_links<0>(args, site, index);
        keep_links<1>(args, site, index);
        keep_links<2>(args, site, index);
        keep_links<3>(args, site, index);
        const long long stride = static_cast<long long>(SPINOR_REALS) * HALF_VOLUME;
#pragma unroll 1
        for (int first = 0; first < args.sides; first += REGISTER_SIDES) {
            Complex sum[REGISTER_SIDES][4][3];
            hop<false, REGISTER_SIDES, KeptLinks>(args, args.in_ + first * stride, site, index, sum);
#pragma unroll
            for (int side = 0; side < REGISTER_SIDES; ++side)
                store_spinor<STREAMED>(args.out + (first + side) * stride, index, sum[side]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, RESIDENT_BLOCKS)
wilson_hop_dagger(const __grid_constant__ WilsonArgs args)
{
    if constexpr (!HOP_ALONE) operate<true, false>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, RESIDENT_BLOCKS)
wilson_add(const __grid_constant__ WilsonArgs args)
{
    if constexpr (!HOP_ALONE) operate<false, true>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, RESIDENT_BLOCKS)
wilson_add_dagger(const __grid_constant__ WilsonArgs args)
{
    if constexpr (!HOP_ALONE) operate<true, true>(args);
}
