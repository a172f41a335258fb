// Runs CUDA kernels on the host: as much of the language as g++ needs to compile ours.
//
// Include this file first, then the text that precedes every kernel, then the kernel, and what makes it a module: see
// `support/emulated_device/module.rs`. The implementation is in `runtime.cpp`, compiled once for all kernels, which is why this file includes
// next to nothing.
//
// Blocks run one after the other in a random order. The threads of a block are fibres: one runs
// until it has to wait for others, then another one that can go on. Which one has precedence is
// drawn anew at every barrier: often one warp after the other, sometimes all threads mixed. So
// threads that forgot to wait for each other give other results with another seed. Shared memory
// holds NaN at the start of every block. A barrier that not all threads of the block reach, and a
// shuffle or ballot that a lane of its mask does not come to, end the launch with a message that
// tells where everyone is; so they do where the missing threads have left the kernel, which CUDA
// itself would let pass.
//
// Differences to a device: a thread that waits for another one in a loop waits for ever; threads
// of different blocks never run at the same time; arithmetic is the host's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#define __host__
#define __device__
// Kept in the preprocessed text, in which the kernels are found by it.
#define __global__ __attribute__((used))
#define __constant__
#define __grid_constant__
#define __forceinline__ inline
#ifndef __noinline__
#define __noinline__
#endif
#define __launch_bounds__(...)
// One for the block, whose threads all run on one thread of the host.
#define __shared__ thread_local
#define __align__(bytes) __attribute__((aligned(bytes)))

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    unsigned long count() const { return 1ul * x * y * z; }
};

// A variable of a thread of the host, without the indirection of a library's: the loader has room for a few.
#define PER_THREAD __thread __attribute__((tls_model("initial-exec")))

extern PER_THREAD dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulator {

constexpr unsigned WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffff;

// A place in the source where a thread waits.
struct Place {
    const char* what = "";
    const char* file = "";
    int line = 0;
    bool operator==(const Place& other) const
    {
        return line == other.line && !std::strcmp(what, other.what) && !std::strcmp(file, other.file);
    }
};

// Lane of the current thread in its warp.
unsigned lane();

// Waits until all threads of the block have come here.
void barrier(Place place);

// Waits as `barrier` does: the number of threads that came with a true predicate.
int barrier_count(Place place, bool predicate);

// Passes a value to the other lanes of the mask, waits for them, and returns the values of all lanes.
const std::uint64_t* exchange_bits(Place place, unsigned mask, std::uint64_t value);

template <class T>
const std::uint64_t* exchange(Place place, unsigned mask, T value)
{
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return exchange_bits(place, mask, bits);
}

// The value of a lane; all bits are set if it is not in the mask.
template <class T>
T taken_from(const std::uint64_t* all, unsigned lane)
{
    T value;
    std::memcpy(&value, &all[lane], sizeof(T));
    return value;
}

// Waits until the work that precedes a programmatic launch is done.
void wait_for_preceding();

// A launch of a kernel.
struct Launch {
    void (*thread)(const void* arguments);  // runs the kernel in one thread
    const void* arguments;                  // its struct
    void (*touch)();                        // makes the shared memory of the module, in which it is
    void (*preceding)(void* context);       // does the work that the kernel waits for; null if it is done
    void* context;
    dim3 grid, block;
};

// Runs a kernel in every thread of a grid; `seed` decides the order of the blocks, and of the threads between barriers.
// If they got stuck, it is true, and the message tells where.
extern "C" int emulator_run(const Launch* launch, std::uint64_t seed, char* message, std::size_t room);

// Runs a kernel in one thread.
template <class Args>
void run_thread(void (*kernel)(Args), const void* arguments)
{
    kernel(*static_cast<const Args*>(arguments));
}

template <class Args>
constexpr std::size_t bytes_of_arguments(void (*)(Args))
{
    return sizeof(Args);
}

}  // namespace emulator

// Barriers, shuffles and votes. The last two arguments are the place of the call.

#define PLACE const char* file = __builtin_FILE(), int line = __builtin_LINE()
#define AT(what) emulator::Place{what, file, line}

inline void __syncthreads(PLACE) { emulator::barrier(AT("__syncthreads")); }

inline int __syncthreads_count(int predicate, PLACE)
{
    return emulator::barrier_count(AT("__syncthreads_count"), predicate != 0);
}

inline int __syncthreads_or(int predicate, PLACE)
{
    return __syncthreads_count(predicate, file, line) > 0;
}

inline int __syncthreads_and(int predicate, PLACE)
{
    return __syncthreads_count(!predicate, file, line) == 0;
}

inline void __syncwarp(unsigned mask = emulator::ALL_LANES, PLACE)
{
    emulator::exchange(AT("__syncwarp"), mask, 0);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, PLACE)
{
    const std::uint64_t* all = emulator::exchange(AT("__ballot_sync"), mask, predicate != 0);
    unsigned ballot = 0;
    for (unsigned lane = 0; lane < emulator::WARP; ++lane)
        if (mask >> lane & 1) ballot |= unsigned(all[lane]) << lane;
    return ballot;
}

inline int __any_sync(unsigned mask, int predicate, PLACE)
{
    return __ballot_sync(mask, predicate, file, line) != 0;
}

inline int __all_sync(unsigned mask, int predicate, PLACE)
{
    return __ballot_sync(mask, predicate, file, line) == mask;
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, PLACE)
{
    const unsigned lane = emulator::lane(), segment = lane & ~(width - 1u);
    const std::uint64_t* all = emulator::exchange(AT("__shfl_sync"), mask, value);
    return emulator::taken_from<T>(all, segment | (unsigned(source) & (width - 1u)));
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, PLACE)
{
    const unsigned lane = emulator::lane(), segment = lane & ~(width - 1u);
    const std::uint64_t* all = emulator::exchange(AT("__shfl_up_sync"), mask, value);
    return lane - segment < delta ? value : emulator::taken_from<T>(all, lane - delta);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, PLACE)
{
    const unsigned lane = emulator::lane(), segment = lane & ~(width - 1u);
    const std::uint64_t* all = emulator::exchange(AT("__shfl_down_sync"), mask, value);
    return lane - segment + delta >= unsigned(width) ? value : emulator::taken_from<T>(all, lane + delta);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, unsigned bits, int width = 32, PLACE)
{
    const unsigned lane = emulator::lane(), end = (lane | (width - 1u)) + 1;
    const std::uint64_t* all = emulator::exchange(AT("__shfl_xor_sync"), mask, value);
    return (lane ^ bits) >= end ? value : emulator::taken_from<T>(all, lane ^ bits);
}

#undef PLACE
#undef AT

#include "functions.h"
