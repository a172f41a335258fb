// The reduction of segments in one launch: the version in use.
//
// Performance: every thread issues several loads of 16 bytes before it uses the first, which saturates the memory;
// neighbouring threads read neighbouring addresses; the device holds all blocks at a time, and all have the same share;
// and the partial results of the blocks are combined by the last block to finish, without another launch. The reduction
// is memory-bound; short arrays are limited by the latency of a launch and of two accesses to global memory.
//
// Reproducibility: the shares depend on the length, the address and the device only, partial results are combined along
// fixed trees, and the result does not depend on the block that happens to be the last. The only atomic operation
// counts blocks.
#pragma once
#include "primitives/pdl_wait.cuh"
#include "primitives/ticket.cuh"
#include "primitives/reduce/operations.cuh"

constexpr unsigned WARPS = REDUCE_THREADS / WARP;
static_assert(WARPS * WARP == REDUCE_THREADS && WARPS <= WARP, "a warp adds up what the warps have");

// Combined result of all lanes of a warp; the first lane gets it.
template <class Op>
__device__ inline typename Op::Partial warp_total(typename Op::Partial own)
{
#pragma unroll
    for (unsigned half = WARP / 2; half > 0; half /= 2) own = Op::join(own, passed(own, half));
    return own;
}

// Combined result of all threads of the block; the first thread gets it. All threads call it.
template <class Op>
__device__ inline typename Op::Partial block_total(typename Op::Partial own)
{
    __shared__ typename Op::Partial of_warps[WARPS];
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    own = warp_total<Op>(own);
    if (lane == 0) of_warps[warp] = own;
    __syncthreads();
    if (warp == 0) own = warp_total<Op>(lane < WARPS ? of_warps[lane] : Op::none());
    return own;
}

// Adds REDUCE_PACKS packs of x (and y), with a stride of `step` packs, from pack p on; packs from `end` on are left
// out. `from` is the index of the first pack in the segment.
template <class Op, bool is_aligned, bool is_full>
__device__ inline void add_round(typename Op::Partial& total, const element* x, const element* y,
                                 long long p, long long step, long long end, long long from)
{
    Pack xs[REDUCE_PACKS], ys[REDUCE_PACKS];
    // All loads are issued before the first result is needed, since none depends on a condition. Beyond the end the
    // last pack is loaded again and ignored.
#pragma unroll
    for (int n = 0; n < REDUCE_PACKS; ++n) {
        const long long at = is_full ? p + n * step : min(p + n * step, end - 1);
        xs[n] = pack_at<true>(x + at * LANES);
        if constexpr (Op::TAKES_TWO) ys[n] = pack_at<is_aligned>(y + at * LANES);
    }
#pragma unroll
    for (int n = 0; n < REDUCE_PACKS; ++n) {
        const long long at = p + n * step;
        if (is_full || at < end)
            Op::add(total, xs[n], Op::TAKES_TWO ? ys[n] : xs[n], from + at * LANES);
    }
}

// Partial result of a thread over the packs of x (and y) up to `end`. While a whole round for all blocks is left, each
// block has a contiguous tile (REDUCE_TILED) or the blocks are interleaved; the rest is distributed evenly.
template <class Op, bool is_aligned>
__device__ inline void add_packs(typename Op::Partial& total, const element* x, const element* y,
                                 int block, int blocks, long long end, long long from)
{
    const long long all = static_cast<long long>(blocks) * REDUCE_THREADS;
    const long long own = static_cast<long long>(block) * REDUCE_THREADS + threadIdx.x;
    const long long round = REDUCE_PACKS * all;
    const long long step = REDUCE_TILED ? REDUCE_THREADS : all;
    long long p = REDUCE_TILED ? own + (REDUCE_PACKS - 1) * (own - threadIdx.x) : own;
    long long done = 0;
    for (; done + round <= end; done += round, p += round)
        add_round<Op, is_aligned, true>(total, x, y, p, step, end, from);
    if (done + own < end)
        add_round<Op, is_aligned, false>(total, x, y, done + own, all, end, from);
}

// Partial result of a thread over its part of a segment of `length` elements from x on (and y).
template <class Op>
__device__ inline typename Op::Partial share(const element* x, const element* y, long long length,
                                             int block, int blocks)
{
    typename Op::Partial total = Op::none();
    // Elements before the first pack and after the last one, fewer than LANES each, are added by the first block.
    const int head = length < LANES ? static_cast<int>(length) : to_boundary(x);
    const long long packs = (length - head) / LANES, end = head + packs * LANES;
    const int t = threadIdx.x;
    if (block == 0 && t < head) Op::add(total, x[t], Op::TAKES_TWO ? y[t] : x[t], t);
    if (!Op::TAKES_TWO || to_boundary(y + head) == 0)
        add_packs<Op, true>(total, x + head, y + head, block, blocks, packs, head);
    else
        add_packs<Op, false>(total, x + head, y + head, block, blocks, packs, head);
    if (block == 0 && end + t < length)
        Op::add(total, x[end + t], Op::TAKES_TWO ? y[end + t] : x[end + t], end + t);
    return total;
}

// Reduces segment blockIdx.x / args.blocks by args.blocks blocks.
template <class Op>
__device__ inline void reduce(const ReduceArgs& args)
{
    using Partial = typename Op::Partial;
    constexpr int WORDS = Op::WORDS;
    static_assert(sizeof(Partial) <= WORDS * sizeof(*args.results), "a result fits its words");
    const int segment = blockIdx.x / args.blocks, block = blockIdx.x % args.blocks;
    const long long offset = segment * args.stride;
    const element* x = reinterpret_cast<const element*>(args.values) + offset;
    const element* y = Op::TAKES_TWO ? reinterpret_cast<const element*>(args.others) + offset : x;
    const auto at = [](unsigned long long* words, long long n) {
        return reinterpret_cast<Partial*>(words + n * WORDS);
    };

    wait_for_preceding();
    // A segment that its blocks read in one round: longer ones take 1.3 times as long beside the next kernel
    // (benches/results/2026-11-29-h200).
    if (args.length <= static_cast<long long>(args.blocks) * REDUCE_THREADS * REDUCE_PACKS * LANES) admit_next();
    Partial total = block_total<Op>(share<Op>(x, y, args.length, block, args.blocks));
    if (args.blocks > 1) {
        __shared__ bool is_last;
        const long long partials = static_cast<long long>(segment) * args.blocks;
        if (threadIdx.x == 0) {
            *at(args.partials, partials + block) = total;
            is_last = take_ticket(args.tickets + segment) == args.blocks;
        }
        __syncthreads();
        if (!is_last) return;
        total = Op::none();
        for (int b = threadIdx.x; b < args.blocks; b += REDUCE_THREADS)
            total = Op::join(total, *at(args.partials, partials + b));
        total = block_total<Op>(total);
        // Reset for the next launch.
        if (threadIdx.x == 0) args.tickets[segment] = 0;
    }
    if (threadIdx.x == 0) *at(args.results, segment) = total;
}
