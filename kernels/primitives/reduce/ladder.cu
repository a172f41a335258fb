// Steps of optimisation of a sum over an array, after the classical lesson on the reduction. Every kernel stores one
// sum for each block; with several blocks the same kernel is launched on these sums, until one is left. Each note
// states the gain and the remaining limit.
// See src/primitives/gpu/reduce/ladder.rs.
#include "primitives/reduce/element.cuh"

namespace {

// The element at an index, 0 beyond the end.
__device__ inline element value_at(const LadderArgs& args, long long at)
{
    return at < args.length ? reinterpret_cast<const element*>(args.values)[at] : element(0);
}

__device__ inline element* sums(const LadderArgs& args) { return reinterpret_cast<element*>(args.sums); }

}  // namespace

#define RUNG(name)                                                  \
    extern "C" __global__ void __launch_bounds__(LADDER_THREADS)    \
    name(const __grid_constant__ LadderArgs args)

// 1. Interleaved, divergent. Adds pairs of neighbours, then pairs of pairs, and so on; the working threads are
//   scattered over all warps. Every warp executes all rounds with ever fewer active lanes, and the test for active
//   lanes takes a division. Each thread loads a single element: too few loads are in flight to saturate the memory.
RUNG(ladder_interleaved_divergent)
{
    __shared__ element sum[LADDER_THREADS];
    const unsigned t = threadIdx.x;
    sum[t] = value_at(args, static_cast<long long>(blockIdx.x) * blockDim.x + t);
    __syncthreads();
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
        if (t % (2 * distance) == 0) sum[t] += sum[t + distance];
        __syncthreads();
    }
    if (t == 0) sums(args)[blockIdx.x] = sum[0];
}

// 2. Interleaved, with bank conflicts. The same pairs, but the working threads are the first ones: whole warps are idle
//   instead of single lanes. Now the lanes of a warp access shared memory at strides of 2, 4, 8 and more words, and
//   several lanes conflict in the same of its 32 banks.
RUNG(ladder_interleaved_conflicts)
{
    __shared__ element sum[LADDER_THREADS];
    const unsigned t = threadIdx.x;
    sum[t] = value_at(args, static_cast<long long>(blockIdx.x) * blockDim.x + t);
    __syncthreads();
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
        const unsigned at = 2 * distance * t;
        if (at < blockDim.x) sum[at] += sum[at + distance];
        __syncthreads();
    }
    if (t == 0) sums(args)[blockIdx.x] = sum[0];
}

// 3. Sequential addressing. The second half is added to the first, then the second quarter, and so on: neighbouring
//   lanes access neighbouring banks. Half of the threads only load an element and are idle from then on.
RUNG(ladder_sequential)
{
    __shared__ element sum[LADDER_THREADS];
    const unsigned t = threadIdx.x;
    sum[t] = value_at(args, static_cast<long long>(blockIdx.x) * blockDim.x + t);
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) sum[t] += sum[t + half];
        __syncthreads();
    }
    if (t == 0) sums(args)[blockIdx.x] = sum[0];
}

// 4. First addition during the load. Every thread loads two elements and adds them: half as many blocks for the same
//   array. Most instructions are still those of the loop and its barriers.
RUNG(ladder_first_add)
{
    __shared__ element sum[LADDER_THREADS];
    const unsigned t = threadIdx.x;
    const long long at = 2 * static_cast<long long>(blockIdx.x) * blockDim.x + t;
    sum[t] = value_at(args, at) + value_at(args, at + blockDim.x);
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) sum[t] += sum[t + half];
        __syncthreads();
    }
    if (t == 0) sums(args)[blockIdx.x] = sum[0];
}

namespace {

// Adds up the shared sums of the first two warps by one warp; its first lane gets the sum. The barriers only concern
// the lanes of the warp. Early devices executed them in lockstep without barriers; today each lane has its own program
// counter, and without barriers a lane might read a value that another has not written yet.
__device__ inline element last_warp(element* sum, unsigned lane)
{
    element own = sum[lane];
#pragma unroll
    for (unsigned distance = WARP; distance > 0; distance /= 2) {
        own += sum[lane + distance];
        __syncwarp();
        sum[lane] = own;
        __syncwarp();
    }
    return own;
}

}  // namespace

// 5. The last warp unrolled. When one warp is left, neither barriers of the block nor the loop are needed: six rounds
//   become six additions. The earlier rounds still have both.
RUNG(ladder_last_warp)
{
    __shared__ element sum[LADDER_THREADS];
    const unsigned t = threadIdx.x;
    const long long at = 2 * static_cast<long long>(blockIdx.x) * blockDim.x + t;
    sum[t] = value_at(args, at) + value_at(args, at + blockDim.x);
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > WARP; half /= 2) {
        if (t < half) sum[t] += sum[t + half];
        __syncthreads();
    }
    if (t < WARP) {
        const element total = last_warp(sum, t);
        if (t == 0) sums(args)[blockIdx.x] = total;
    }
}

namespace {

// Adds up one element of each thread; the first thread gets the sum. The size of the block is a compile-time constant,
// so that the compiler unrolls all rounds and drops those that a smaller block does not have.
template <unsigned threads>
__device__ inline element unrolled(element own)
{
    __shared__ element sum[threads];
    const unsigned t = threadIdx.x;
    sum[t] = own;
    __syncthreads();
#pragma unroll
    for (unsigned half = threads / 2; half > WARP; half /= 2) {
        if (t < half) sum[t] += sum[t + half];
        __syncthreads();
    }
    return t < WARP ? last_warp(sum, t) : own;
}

}  // namespace

// 6. Fully unrolled, with the size of the block as a compile-time constant: loop, counter and tests are gone. But each
//   thread only has two loads: now the time is spent on launching and retiring blocks, and on waiting for one pair of
//   loads after the other.
RUNG(ladder_unrolled)
{
    const long long at = 2 * static_cast<long long>(blockIdx.x) * LADDER_THREADS + threadIdx.x;
    const element total = unrolled<LADDER_THREADS>(value_at(args, at) + value_at(args, at + LADDER_THREADS));
    if (threadIdx.x == 0) sums(args)[blockIdx.x] = total;
}

namespace {

// Partial sum of a thread in a grid-stride loop with two elements at a time.
__device__ inline element many(const LadderArgs& args)
{
    const long long grid = 2 * static_cast<long long>(gridDim.x) * LADDER_THREADS;
    const long long first = 2 * static_cast<long long>(blockIdx.x) * LADDER_THREADS + threadIdx.x;
    element own = 0;
    for (long long at = first; at < args.length; at += grid)
        own += value_at(args, at) + value_at(args, at + LADDER_THREADS);
    return own;
}

}  // namespace

// 7. Many elements for each thread. As many blocks as the device holds, for any length; a thread adds up its elements
//   in a register, and the tree of the block is executed once, instead of once for 512 elements. Two launches suffice:
//   the second adds up the blocks. The tree still reads and writes shared memory, with barriers.
RUNG(ladder_many)
{
    const element total = unrolled<LADDER_THREADS>(many(args));
    if (threadIdx.x == 0) sums(args)[blockIdx.x] = total;
}

namespace {

// Adds up the values of the lanes of a warp by shuffles; the first lane gets the sum.
__device__ inline element across_warp(element own)
{
#pragma unroll
    for (unsigned half = WARP / 2; half > 0; half /= 2) own += __shfl_down_sync(ALL_LANES, own, half);
    return own;
}

// Adds up the values of the threads of a block: one shared word for each warp, and one barrier.
__device__ inline element across_block(element own)
{
    constexpr unsigned warps = LADDER_THREADS / WARP;
    __shared__ element of_warps[warps];
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    own = across_warp(own);
    if (lane == 0) of_warps[warp] = own;
    __syncthreads();
    return warp == 0 ? across_warp(lane < warps ? of_warps[lane] : element(0)) : own;
}

}  // namespace

// 8. Warp shuffle. Lanes of a warp pass their sums from register to register: no shared memory and no barrier until one
//   sum for each warp is left. The second launch remains, with its latency.
RUNG(ladder_shuffle)
{
    const element total = across_block(many(args));
    if (threadIdx.x == 0) sums(args)[blockIdx.x] = total;
}

// 9. Warp atomics. Every warp adds its sum to the result by an atomic operation: no second launch, no shared memory, no
//   barrier. The result must be zero before; thousands of warps contend for one address; and for floating-point numbers
//   the order of additions, and thus the rounding, differs from run to run.
RUNG(ladder_warp_atomics)
{
    const element total = across_warp(many(args));
    if (threadIdx.x % WARP == 0) atomicAdd(sums(args), total);
}

// 10. Block atomics. One atomic addition for each block: less contention by the number of warps of a block. The order
// is still undefined, and each thread still waits for two small loads before it issues the next two.
// primitives/reduce/segment.cuh, the best version, solves both.
RUNG(ladder_block_atomics)
{
    const element total = across_block(many(args));
    if (threadIdx.x == 0) atomicAdd(sums(args), total);
}
