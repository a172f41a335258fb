// Products that are added to something, rounded alike wherever they stand.
#pragma once

// a * b + c, rounded once on a device. Left to itself, the compiler chooses which of two products that are
// added it rounds first by other uses of them: the same formula would have other bits in another place. On
// the host, where kernels are proved, it is rounded as the CPU version does.
__device__ inline real fused(real a, real b, real c)
{
#ifdef __CUDACC_RTC__
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}
