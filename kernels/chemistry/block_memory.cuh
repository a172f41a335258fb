// Memory of a block. A block has CELLS cells and WORKERS threads for each of them. The values of all its cells are
// adjacent, so that the accesses of a warp, whose threads have different cells, are contiguous. Element i of an array
// of a cell is at [i * CELLS] in code that follows tables, and in pairs in straight-line code (straight_line.cuh).
//
// Threads come in rows of LANES, a power of two. Those beyond the last cell are idle: their worker number has no work,
// but they take part in barriers.
#pragma once

// The size is set at launch.
extern __shared__ __align__(16) double shared_memory[];

// The block's part of the scratch in global memory.
__device__ inline double* scratch_of_block(double* scratch)
{
    return scratch + static_cast<long long>(blockIdx.x) * SCRATCH_DOUBLES;
}

// The same address, declared to the compiler to be one of global memory.
__device__ inline double* in_global(double* address)
{
#ifdef __CUDACC_RTC__
    __builtin_assume(__isGlobal(address));
#endif
    return address;
}

// Compiler barrier: values read earlier are not kept in registers across it.
__device__ inline void compiler_barrier() { asm volatile("" ::: "memory"); }

// The beginning of an array for a cell: in shared memory, or in the block's part of the scratch in global memory.
template <class T, bool IS_SHARED>
__device__ inline T* array_of(double* scratch, int place, int cell)
{
    if constexpr (IS_SHARED) return reinterpret_cast<T*>(shared_memory + place) + cell;
    else return reinterpret_cast<T*>(scratch + place) + cell;
}

// Barrier of all workers of all cells; none with a single worker. A macro, so that the emulated device of the tests
// tells its places apart.
#define WAIT_FOR_WORKERS()                          \
    do {                                            \
        if constexpr (WORKERS > 1) __syncthreads(); \
    } while (false)

// The same for straight-line programs, in which each worker comes to it at a place of its own.
__device__ inline void wait_for_workers() { WAIT_FOR_WORKERS(); }
