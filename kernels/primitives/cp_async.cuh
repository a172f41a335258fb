// Asynchronous copies from global to shared memory.
#pragma once

// Begins to copy BYTES bytes (4, 8 or 16), aligned to BYTES. On devices without asynchronous copies the copy is
// synchronous.
template <int BYTES>
__device__ inline void copy_ahead(void* to, const void* from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(to));
    // Whole groups are read once by their block, and bypass the L1 cache.
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(target), "l"(from), "n"(BYTES)
                     : "memory");
#else
    for (int b = 0; b < BYTES; ++b) static_cast<char*>(to)[b] = static_cast<const char*>(from)[b];
#endif
}

// Waits until the copies of this thread are complete; other threads of the block see them after a barrier.
__device__ inline void wait_for_copies()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
