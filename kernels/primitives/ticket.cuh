// Detection of the last block of a launch.
#pragma once

// Counts a block that is done, and tells how many are, this one included. A thread that sees that a block
// is counted sees earlier stores of its calling thread.
__device__ inline int counted(unsigned long long* ticket)
{
#ifdef __CUDACC_RTC__
    // An atomic operation that releases and acquires costs less than one between two fences, which
    // would order everything for everyone.
    unsigned long long before;
    asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before) : "l"(ticket), "l"(1ull) : "memory");
#else
    const unsigned long long before = atomicAdd(ticket, 1ull);
#endif
    return static_cast<int>(before) + 1;
}
