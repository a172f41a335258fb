// Products plus a summand, rounded identically in all contexts.
#pragma once

// a * b + c, rounded once on a device. In a sum of two products the compiler would choose the product to fuse by other
// uses of the products, so that the same formula would have other bits in other contexts. On the host, where tests run
// the kernels, it is rounded as in the CPU version.
__device__ inline real fused(real a, real b, real c)
{
#ifdef __CUDACC_RTC__
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}
