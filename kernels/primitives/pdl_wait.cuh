// Programmatic dependent launch: a kernel that starts before the preceding one has ended waits for it here.
#pragma once

// Waits until all earlier work of the stream is done.
__device__ inline void wait_for_preceding()
{
#ifndef __CUDACC_RTC__
    emulator::wait_for_preceding();
#elif __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Blocks of the next kernel become resident as soon as all blocks of this one have come here, so that its launch takes no
// time of its own. Called after the wait, by kernels whose blocks leave room on every multiprocessor or are many more
// than the device holds: otherwise blocks of the next kernel crowd where the first of this one end.
__device__ inline void admit_next()
{
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ inline void wait_and_admit_next()
{
    wait_for_preceding();
    admit_next();
}

// Start of a kernel of a step: the wait for the preceding kernel, and the mark of this one, its number, which the host
// reads after a failure of the device; no mark if `marks` is null. Blocks of the next kernel become resident as blocks of
// this one exit. With an earlier trigger they would crowd onto some multiprocessors, which makes the transport slower:
// benches/results/2026-11-22-h200.
__device__ inline void begin(unsigned long long* marks, int kernel)
{
    wait_for_preceding();
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    if (is_first && marks != nullptr) *static_cast<volatile unsigned long long*>(marks) = kernel;
}
