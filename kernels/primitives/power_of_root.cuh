// Powers of x^(-1/4).
#pragma once

// root^y with root = x^(-1/4). A device computes it from x, and need not wait for the root, or compute it at all; the
// host, where tests run the kernels, uses the root as the CPU version does.
__device__ inline real power_of_root(real root, real x, real y)
{
#ifdef __CUDACC_RTC__
    return pow(x, -y / 4);
#else
    static_cast<void>(x);
    return pow(root, y);
#endif
}
