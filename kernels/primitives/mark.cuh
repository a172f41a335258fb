// What the host is told of a kernel that has begun, and reads when the device has failed.
#pragma once

// Notes the number of the kernel; nothing where nobody asks.
__device__ inline void mark(unsigned long long* marks, int kernel)
{
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    if (is_first && marks != nullptr) *static_cast<volatile unsigned long long*>(marks) = kernel;
}
