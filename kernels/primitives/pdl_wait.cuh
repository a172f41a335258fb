// Start of a kernel of a step: the wait for the preceding kernel, and the mark of this one.
#pragma once

// Waits until all earlier work of the stream is done (programmatic dependent launch), and writes the number of the
// kernel, which the host reads after a failure of the device; no mark if `marks` is null. Blocks of the next kernel
// become resident as blocks of this one exit. With an earlier trigger they would crowd onto some multiprocessors, which
// makes the transport slower: benches/results/2026-11-22-h200.
__device__ inline void begin(unsigned long long* marks, int kernel)
{
#ifndef __CUDACC_RTC__
    emulator::wait_for_preceding();
#elif __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    if (is_first && marks != nullptr) *static_cast<volatile unsigned long long*>(marks) = kernel;
}
