// Memory of a block. A block has CELLS cells and WORKERS threads for each of them; the values of
// all its cells lie side by side, so that the threads of a warp, which have one cell each, reach them together.
// Element i of an array of a cell stands at [i * CELLS] where tables are followed, and in pairs in straight-line code
// (straight.cuh).
//
// Threads come in rows of LANES, a power of two; those beyond the last cell are idle: they have a number of a worker
// that has nothing to do, and wait with the others.
#pragma once

// As large as the launch says.
extern __shared__ __align__(16) double shared_room[];

// The block's part of the scratch in global memory.
__device__ inline double* scratch_of_block(double* scratch)
{
    return scratch + static_cast<long long>(blockIdx.x) * SCRATCH_DOUBLES;
}

// The same address, which the compiler may take for one of global memory.
__device__ inline double* in_global(double* address)
{
#ifdef __CUDACC_RTC__
    __builtin_assume(__isGlobal(address));
#endif
    return address;
}

// Forgets what was read from memory: numbers that are not needed soon would take registers until they are.
__device__ inline void forget_memory() { asm volatile("" ::: "memory"); }

// The beginning of an array for a cell: in shared memory, or in the block's part of the scratch in global memory.
template <class T, bool IS_SHARED>
__device__ inline T* array_of(double* scratch, int place, int cell)
{
    if constexpr (IS_SHARED) return reinterpret_cast<T*>(shared_room + place) + cell;
    else return reinterpret_cast<T*>(scratch + place) + cell;
}

// Waits until the other workers of all cells have come here; a single worker has nobody to wait for.
__device__ inline void wait_for_workers()
{
    if constexpr (WORKERS > 1) __syncthreads();
}
