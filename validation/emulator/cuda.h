// Runs CUDA kernels on the host: as much of the language as g++ needs to compile ours.
//
// Include this file first, then the text that precedes every kernel, then the kernel; call it with
// `emulator::launch`.
//
// Blocks run one after the other in a random order. The threads of a block are fibres: one runs
// until it has to wait for others, then another one that can go on. Which one has precedence is
// drawn anew at every barrier: often one warp after the other, sometimes all threads mixed. So
// threads that forgot to wait for each other give other results with another seed. Shared memory
// holds NaN at the start of every block. A barrier that not all threads of the block reach, and a
// shuffle or ballot that a lane of its mask does not come to, end the program with a message that
// tells where everyone is; so they do where the missing threads have left the kernel, which CUDA
// itself would let pass.
//
// Differences to a device: a thread that waits for another one in a loop waits for ever; threads
// of different blocks never run at the same time; arithmetic is the host's.
#pragma once

#undef _FORTIFY_SOURCE  // its checks do not know jumps from stack to stack
#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <link.h>
#include <random>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __host__
#define __device__
#define __global__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
// One for the block, whose threads all run on one thread of the host. The definition of an
// `extern __shared__` array, of sufficient size, is left to the program.
#define __shared__ thread_local
#define __align__(bytes) __attribute__((aligned(bytes)))

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    unsigned long count() const { return 1ul * x * y * z; }
};

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulator {

constexpr unsigned WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffff;
constexpr std::size_t STACK = 512 * 1024;

enum class State { READY, AT_BARRIER, AT_WARP, LEFT };

// Where in the source a thread waits.
struct Place {
    const char* what = "";
    const char* file = "";
    int line = 0;
    bool operator==(const Place& other) const
    {
        return line == other.line && !std::strcmp(what, other.what) && !std::strcmp(file, other.file);
    }
};

// One thread of the kernel.
struct Fibre {
    dim3 index;
    unsigned number = 0;
    std::uint64_t rank = 0;              // who comes first, among those that can go on
    State state = State::READY;
    Place place;
    unsigned mask = 0;                   // lanes that the warp operation waits for
    std::uint64_t given = 0;             // what this lane brings to it
    std::uint64_t received[WARP] = {};   // what all lanes of the mask have brought
    char* stack = nullptr;
    bool has_stack_frame = false;
    jmp_buf context;
};

inline std::vector<Fibre> fibres;
// Those that can go on, the one with the highest rank at the top of the heap.
inline std::vector<std::pair<std::uint64_t, Fibre*>> ready;
inline Fibre* current = nullptr;
inline std::function<void()> body;
inline jmp_buf scheduler;
inline std::mt19937_64 dice;

inline unsigned warp_of(const Fibre& fibre) { return fibre.number / WARP; }
inline unsigned lane_of(const Fibre& fibre) { return fibre.number % WARP; }

// Tells where the threads of the block are, and ends the program.
[[noreturn]] inline void fail(const std::string& why)
{
    std::fprintf(stderr, "emulator: %s in block (%u, %u, %u)\n", why.c_str(), blockIdx.x,
                 blockIdx.y, blockIdx.z);
    for (std::size_t first = 0; first < fibres.size();) {
        const Fibre& f = fibres[first];
        std::size_t next = first + 1;
        while (next < fibres.size() && fibres[next].state == f.state &&
               fibres[next].place == f.place && fibres[next].mask == f.mask) ++next;
        std::fprintf(stderr, "  threads %zu to %zu ", first, next - 1);
        if (f.state == State::LEFT) std::fprintf(stderr, "have left the kernel\n");
        else if (f.state == State::READY) std::fprintf(stderr, "are running\n");
        else
            std::fprintf(stderr, "wait in %s at %s:%d, mask %08x\n", f.place.what, f.place.file,
                         f.place.line, f.mask);
        first = next;
    }
    std::exit(3);
}

// Gives way to other threads, and comes back when this one can go on.
[[gnu::noinline]] inline void give_way()
{
    if (_setjmp(current->context) == 0) _longjmp(scheduler, 1);
}

inline void run_fibre()
{
    for (;;) {
        body();
        current->state = State::LEFT;
        give_way();
    }
}

[[gnu::noinline]] inline void resume(Fibre& fibre)
{
    current = &fibre;
    threadIdx = fibre.index;
    if (_setjmp(scheduler) != 0) return;
    if (fibre.has_stack_frame) _longjmp(fibre.context, 1);
    fibre.has_stack_frame = true;
    static ucontext_t start;
    getcontext(&start);
    start.uc_stack.ss_sp = fibre.stack;
    start.uc_stack.ss_size = STACK;
    start.uc_link = nullptr;
    makecontext(&start, run_fibre, 0);
    setcontext(&start);
}

inline void make_ready(Fibre& fibre)
{
    fibre.state = State::READY;
    ready.emplace_back(fibre.rank, &fibre);
    std::push_heap(ready.begin(), ready.end());
}

// Lets all threads go on, in a new order.
inline void release_all()
{
    const bool by_warps = dice() % 4 != 0;
    const std::uint64_t salt = dice();
    for (Fibre& fibre : fibres) {
        // The same number for all lanes of a warp, as good as random.
        const std::uint64_t of_warp = (warp_of(fibre) + 1) * (salt | 1);
        fibre.rank = (by_warps ? of_warp << 32 : dice() << 32) | (dice() >> 32);
        make_ready(fibre);
    }
}

// Waits until all threads of the block have come here.
inline void barrier(Place place)
{
    current->state = State::AT_BARRIER;
    current->place = place;
    current->mask = 0;
    give_way();
}

// Brings a value, waits for the other lanes of the mask, and returns what all have brought.
template <class T>
const std::uint64_t* exchange(Place place, unsigned mask, T value)
{
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    Fibre& self = *current;
    if (!(mask >> lane_of(self) & 1)) fail("a lane is not in its own mask");
    self.state = State::AT_WARP;
    self.place = place;
    self.mask = mask;
    self.given = 0;
    std::memcpy(&self.given, &value, sizeof(T));
    const std::size_t first = warp_of(self) * WARP;
    std::uint64_t all[WARP];
    std::memset(all, 0xff, sizeof all);
    for (unsigned lane = 0; lane < WARP; ++lane) {
        if (!(mask >> lane & 1)) continue;
        const Fibre* other = first + lane < fibres.size() ? &fibres[first + lane] : nullptr;
        if (!other || other->state == State::LEFT) fail("a lane of the mask will never come");
        if (other->state != State::AT_WARP || other->mask != mask || !(other->place == place)) {
            give_way();
            return self.received;
        }
        all[lane] = other->given;
    }
    for (unsigned lane = 0; lane < WARP; ++lane) {
        if (!(mask >> lane & 1)) continue;
        Fibre& other = fibres[first + lane];
        std::copy(all, all + WARP, other.received);
        make_ready(other);
    }
    give_way();
    return self.received;
}

// What a lane has brought; all bits set where it was not asked to come.
template <class T>
T taken_from(const std::uint64_t* all, unsigned lane)
{
    T value;
    std::memcpy(&value, &all[lane], sizeof(T));
    return value;
}

// Lets the threads of one block run to their ends.
inline void run_block()
{
    ready.clear();
    release_all();
    for (;;) {
        while (!ready.empty()) {
            std::pop_heap(ready.begin(), ready.end());
            Fibre& next = *ready.back().second;
            ready.pop_back();
            resume(next);
        }
        const Fibre& first = fibres[0];
        for (const Fibre& f : fibres) {
            if (f.state != first.state) fail("threads wait for others that do not come");
            if (f.state == State::AT_WARP) fail("lanes wait for others that do not come");
            if (!(f.place == first.place) && f.state == State::AT_BARRIER)
                fail("threads wait at different barriers");
        }
        if (first.state == State::LEFT) return;
        release_all();
    }
}

// Fills shared memory, which is all that is `thread_local` in the program, with NaN.
inline void poison_shared_memory()
{
    dl_iterate_phdr(
        [](dl_phdr_info* program, std::size_t, void*) {
            for (int i = 0; i < program->dlpi_phnum; ++i)
                if (program->dlpi_phdr[i].p_type == PT_TLS && program->dlpi_tls_data)
                    std::memset(program->dlpi_tls_data, 0xff, program->dlpi_phdr[i].p_memsz);
            return 1;  // the first one is the program itself
        },
        nullptr);
}

// Runs a kernel; `seed` decides the order of the blocks, and of the threads between barriers.
template <class Args>
void launch(void (*kernel)(Args), dim3 grid, dim3 block, std::uint64_t seed, const Args& args)
{
    gridDim = grid;
    blockDim = block;
    dice.seed(seed);
    body = [&] { kernel(args); };
    fibres.assign(block.count(), Fibre());
    for (unsigned n = 0; n < fibres.size(); ++n) {
        Fibre& fibre = fibres[n];
        fibre.number = n;
        fibre.index = {n % block.x, n / block.x % block.y, n / block.x / block.y};
        void* stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stack == MAP_FAILED) fail("no memory for a stack");
        mprotect(stack, 4096, PROT_NONE);  // whoever needs more than the stack is stopped here
        fibre.stack = static_cast<char*>(stack);
    }
    std::vector<unsigned long> order(grid.count());
    for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
    std::shuffle(order.begin(), order.end(), dice);
    for (unsigned long n : order) {
        blockIdx = {unsigned(n % grid.x), unsigned(n / grid.x % grid.y), unsigned(n / grid.x / grid.y)};
        poison_shared_memory();
        run_block();
    }
    for (Fibre& fibre : fibres) munmap(fibre.stack, STACK);
    fibres.clear();
}

}  // namespace emulator

// Barriers, shuffles and votes. The last two arguments are the place of the call.

#define PLACE const char* file = __builtin_FILE(), int line = __builtin_LINE()
#define AT(what) emulator::Place{what, file, line}

inline void __syncthreads(PLACE) { emulator::barrier(AT("__syncthreads")); }

inline int __syncthreads_count(int predicate, PLACE)
{
    static int count = 0;
    count += predicate != 0;
    emulator::barrier(AT("__syncthreads_count"));
    const int result = count;
    emulator::barrier(AT("__syncthreads_count"));
    count = 0;
    emulator::barrier(AT("__syncthreads_count"));
    return result;
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
    const unsigned lane = emulator::lane_of(*emulator::current), segment = lane & ~(width - 1u);
    const std::uint64_t* all = emulator::exchange(AT("__shfl_sync"), mask, value);
    return emulator::taken_from<T>(all, segment | (unsigned(source) & (width - 1u)));
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, PLACE)
{
    const unsigned lane = emulator::lane_of(*emulator::current), segment = lane & ~(width - 1u);
    const std::uint64_t* all = emulator::exchange(AT("__shfl_up_sync"), mask, value);
    return lane - segment < delta ? value : emulator::taken_from<T>(all, lane - delta);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, PLACE)
{
    const unsigned lane = emulator::lane_of(*emulator::current), segment = lane & ~(width - 1u);
    const std::uint64_t* all = emulator::exchange(AT("__shfl_down_sync"), mask, value);
    return lane - segment + delta >= unsigned(width) ? value : emulator::taken_from<T>(all, lane + delta);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, unsigned bits, int width = 32, PLACE)
{
    const unsigned lane = emulator::lane_of(*emulator::current), end = (lane | (width - 1u)) + 1;
    const std::uint64_t* all = emulator::exchange(AT("__shfl_xor_sync"), mask, value);
    return (lane ^ bits) >= end ? value : emulator::taken_from<T>(all, lane ^ bits);
}

#undef PLACE
#undef AT

#include "functions.h"
