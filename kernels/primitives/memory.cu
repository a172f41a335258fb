// Minimal experiments on the memory of the device. src/cli/bench/memory.rs describes their results,
// src/primitives/gpu/memory.rs has the launchers.

namespace {

__device__ inline long long place()
{
    return static_cast<long long>(blockIdx.x) * MEMORY_THREADS + threadIdx.x;
}

}  // namespace

#define EXPERIMENT(name)                                            \
    extern "C" __global__ void __launch_bounds__(MEMORY_THREADS)    \
    name(const __grid_constant__ MemoryArgs args)

// Neighbouring threads read neighbouring elements, from an unaligned address on.
EXPERIMENT(memory_offset)
{
    const long long at = place();
    if (at < args.count) args.to[at] = args.from[at + args.step];
}

// Neighbouring threads read and write elements at a stride.
EXPERIMENT(memory_stride)
{
    const long long at = place();
    if (at < args.count) args.to[at * args.step] = args.from[at * args.step];
}

// Copies by loads and stores of `width` elements.
namespace {

template <int width> struct alignas(width * sizeof(real)) Wide {
    real lane[width];
};

template <int width>
__device__ inline void copy(const MemoryArgs& args, long long first, long long end, long long step)
{
    const auto* from = reinterpret_cast<const Wide<width>*>(args.from);
    auto* to = reinterpret_cast<Wide<width>*>(args.to);
    for (long long at = first; at < end; at += step) to[at] = from[at];
}

// All threads of the grid copy adjacent elements, in a grid-stride loop.
template <int width> __device__ inline void copy_by_grid(const MemoryArgs& args)
{
    const long long threads = static_cast<long long>(gridDim.x) * MEMORY_THREADS;
    copy<width>(args, place(), args.count / width, threads);
}

// Every block has a contiguous piece, and its threads copy adjacent elements.
template <int width> __device__ inline void copy_by_block(const MemoryArgs& args)
{
    const long long all = args.count / width, piece = (all + gridDim.x - 1) / gridDim.x;
    const long long first = blockIdx.x * piece;
    copy<width>(args, first + threadIdx.x, min(all, first + piece), MEMORY_THREADS);
}

// Every thread has a contiguous piece.
template <int width> __device__ inline void copy_by_thread(const MemoryArgs& args)
{
    const long long threads = static_cast<long long>(gridDim.x) * MEMORY_THREADS;
    const long long all = args.count / width, piece = (all + threads - 1) / threads;
    const long long first = place() * piece;
    copy<width>(args, first, min(all, first + piece), 1);
}

}  // namespace

EXPERIMENT(memory_grid_1) { copy_by_grid<1>(args); }
EXPERIMENT(memory_grid_2) { copy_by_grid<2>(args); }
EXPERIMENT(memory_grid_4) { copy_by_grid<4>(args); }
EXPERIMENT(memory_block_1) { copy_by_block<1>(args); }
EXPERIMENT(memory_block_2) { copy_by_block<2>(args); }
EXPERIMENT(memory_block_4) { copy_by_block<4>(args); }
EXPERIMENT(memory_thread_1) { copy_by_thread<1>(args); }
EXPERIMENT(memory_thread_2) { copy_by_thread<2>(args); }
EXPERIMENT(memory_thread_4) { copy_by_thread<4>(args); }

// The lanes of a warp read words of shared memory at a stride of `step`. As many of the 32 lanes share a bank as the
// greatest common divisor of `step` and 32; with step 0 all lanes read the same word.
EXPERIMENT(memory_banks)
{
    __shared__ real words[MEMORY_WORDS];
    for (int word = threadIdx.x; word < MEMORY_WORDS; word += MEMORY_THREADS)
        words[word] = static_cast<real>(word % MEMORY_PATTERN);
    __syncthreads();
    // The reads are volatile, so that the compiler does not remove any.
    const volatile real* own = words + threadIdx.x % WARP * args.step;
    real sum = 0;
#pragma unroll 1
    for (int round = 0; round < args.rounds; ++round) {
#pragma unroll
        for (int word = 0; word < WARP; ++word) sum += own[word];
    }
    args.to[place()] = sum;
}

// Every thread reads an element by an index list.
EXPERIMENT(memory_gather)
{
    const long long at = place();
    if (at < args.count) args.to[at] = args.from[args.indices[at]];
}

// The same through the read-only data cache.
EXPERIMENT(memory_gather_read_only)
{
    const long long at = place();
    if (at < args.count) args.to[at] = __ldg(args.from + __ldg(args.indices + at));
}

// Arithmetic between two copies: a chain of multiplications and additions for each element.
EXPERIMENT(memory_work)
{
    const long long at = place();
    if (at >= args.count) return;
    real x = args.from[at];
#pragma unroll 4
    for (int round = 0; round < args.rounds; ++round) x = fma(x, args.factor, args.summand);
    args.to[at] = x;
}
