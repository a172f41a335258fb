// Powers of roots that are known.
#pragma once

// root^y, where root is x^(-1/4). On a device it comes from x, and the root is not waited for, or not needed at
// all; on the host, where kernels are proved, from the root as in the CPU version.
__device__ inline real power_of_root(real root, real x, real y)
{
#ifdef __CUDACC_RTC__
    return pow(x, -y / 4);
#else
    static_cast<void>(x);
    return pow(root, y);
#endif
}
