// The way to a fast sum over an array, rung by rung, after the classical lesson on the reduction.
// Every kernel leaves one sum for each block; where there are several blocks, the same kernel is
// launched on these sums, until one is left. Each note states the gain and the remaining limit.
// See src/primitives/gpu/reduce/ladder.rs.
#include "primitives/reduce/element.cuh"

namespace {

// The element at a place, 0 beyond the end.
__device__ inline element value_at(const LadderArgs& args, long long at)
{
    return at < args.length ? reinterpret_cast<const element*>(args.values)[at] : element(0);
}

__device__ inline element* sums(const LadderArgs& args) { return reinterpret_cast<element*>(args.sums); }

}  // namespace

#define RUNG(name)                                                  \
    extern "C" __global__ void __launch_bounds__(LADDER_THREADS)    \
    name(const __grid_constant__ LadderArgs args)

// 1. Interleaved, divergent. Pairs of neighbours, then of pairs, and so on; the threads that work
// are scattered over all warps. Every warp goes through all rounds, with ever fewer of its lanes at
// work, and finding out which takes a division. Each thread loads a single element: far too little
// is under way to keep the memory busy.
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

// 2. Interleaved, with bank conflicts. The same pairs, but the working threads are the first ones:
// whole warps are idle instead of single lanes. Now the lanes of a warp read shared memory at
// strides of 2, 4, 8 and more words, so that several of them want the same of its 32 banks and have
// to wait for each other.
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

// 3. Sequential addressing. The second half is added to the first, then the second quarter, and so
// on: neighbouring lanes read neighbouring banks. Half of the threads only load an element and
// are idle from then on.
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

// 4. First addition during the load. Every thread loads two elements and adds them: half as many
// blocks for the same array. Most instructions are still those of the loop and its barriers.
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

// Adds up the first two warps' worth of shared sums by one warp; its first lane gets the sum. The
// barriers are for the lanes of the warp alone. Early devices ran them in step and needed none;
// today each lane has its own program counter, and without the barriers one might read what
// another has not written yet.
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

// 5. The last warp unrolled. When one warp is left, barriers of the block and the loop are not
// needed: six rounds become six additions. The rounds before still have both.
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

// Adds up one element of each thread; the first one gets the sum. The size of the block is known to
// the compiler, which unrolls all rounds and drops those that a smaller block does not have.
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

// 6. Fully unrolled, the size of the block being known when compiling: no loop is left, its counter
// and its tests are gone. But each block lives only for two loads a thread: launching and retiring
// blocks, and waiting for one pair of loads after the other, takes the time now.
RUNG(ladder_unrolled)
{
    const long long at = 2 * static_cast<long long>(blockIdx.x) * LADDER_THREADS + threadIdx.x;
    const element total = unrolled<LADDER_THREADS>(value_at(args, at) + value_at(args, at + LADDER_THREADS));
    if (threadIdx.x == 0) sums(args)[blockIdx.x] = total;
}

namespace {

// Partial sum of a thread if all threads of the grid walk over the array side by side, two elements
// each at a time.
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

// 7. Many elements a thread. As many blocks as the device holds, whatever the length; a thread adds
// up its elements in a register, and the tree of the block is walked once, not once for 512
// elements. Two launches do: the second adds up the blocks. What is left of the tree are reads and
// writes of shared memory, and barriers.
RUNG(ladder_many)
{
    const element total = unrolled<LADDER_THREADS>(many(args));
    if (threadIdx.x == 0) sums(args)[blockIdx.x] = total;
}

namespace {

// Adds up the values of the lanes of a warp, from register to register; the first one gets the sum.
__device__ inline element across_warp(element own)
{
#pragma unroll
    for (unsigned half = WARP / 2; half > 0; half /= 2) own += __shfl_down_sync(ALL_LANES, own, half);
    return own;
}

// The same for a block: one shared word for each warp, and one barrier.
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

// 8. Warp shuffle. Lanes of a warp hand their sums on from register to register: no shared memory,
// no barrier until one sum for each warp is left. The second launch remains, with its start and end.
RUNG(ladder_shuffle)
{
    const element total = across_block(many(args));
    if (threadIdx.x == 0) sums(args)[blockIdx.x] = total;
}

// 9. Warp atomics. Every warp adds its sum to the result by an atomic operation: no second launch,
// no shared memory, no barrier. The result has to be zero before; thousands of warps queue for one
// address; and for numbers with a fraction their order, and so the rounding, is another in every run.
RUNG(ladder_warp_atomics)
{
    const element total = across_warp(many(args));
    if (threadIdx.x % WARP == 0) atomicAdd(sums(args), total);
}

// 10. Block atomics. One atomic addition for each block: the queue is shorter by the number of its
// warps. The order is still left to chance, and each thread still waits for two small loads before
// it asks for the next two. The best rung, primitives/reduce/segment.cuh, mends both.
RUNG(ladder_block_atomics)
{
    const element total = across_block(many(args));
    if (threadIdx.x == 0) atomicAdd(sums(args), total);
}
