// Start of a kernel of a step: the wait for its predecessor, and its mark.
#pragma once

// Waits until all work queued before is done (programmatic dependent launch), and writes the number of the kernel,
// which the host reads when the device has failed; null for no such mark. The blocks of a kernel that begins so take
// the places of those of the kernel before as these leave. Earlier, if there is room, they would fill some
// multiprocessors and leave others to the rest: 50 us for the transport of 71x58x27 cells on an
// H200 instead of 46 (benches/results/2026-11-22-h200).
__device__ inline void begin(unsigned long long* marks, int kernel)
{
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    if (is_first && marks != nullptr) *static_cast<volatile unsigned long long*>(marks) = kernel;
}
