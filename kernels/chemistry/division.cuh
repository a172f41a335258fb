// Quotients without a branch, rounded like division itself as long as divisor and quotient are well within the range of
// normal numbers: a divisor of 2^1021 or more gives NaN, which ends the integration of the cell. A division has a
// branch for such numbers, which keeps the compiler from interleaving several divisions.
#pragma once

// 1 / x by Newton's method from the device's approximation.
__device__ inline double inverse_of(double x)
{
#ifdef __CUDACC_RTC__
    double inverse;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(x));
    const double error = fma(-x, inverse, 1.0);
    inverse = fma(inverse, fma(error, error, error), inverse);
    return fma(inverse, fma(-x, inverse, 1.0), inverse);
#else
    return 1.0 / x;
#endif
}

// a / b.
__device__ inline double quotient_of(double a, double b)
{
#ifdef __CUDACC_RTC__
    const double inverse = inverse_of(b), quotient = a * inverse;
    return fma(inverse, fma(-b, quotient, a), quotient);
#else
    return a / b;
#endif
}
