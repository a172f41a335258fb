// Detection of the last block of a launch.
#pragma once

// Counts a block that is done, and returns the number of blocks counted so far, including this one. A thread that sees
// a block counted also sees earlier stores of the thread that counted it.
__device__ inline int take_ticket(unsigned long long* ticket)
{
#ifdef __CUDACC_RTC__
    // One atomic operation with acquire-release semantics costs less than a relaxed one between two fences, which would
    // order all memory accesses.
    unsigned long long before;
    asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before) : "l"(ticket), "l"(1ull) : "memory");
#else
    const unsigned long long before = atomicAdd(ticket, 1ull);
#endif
    return static_cast<int>(before) + 1;
}
