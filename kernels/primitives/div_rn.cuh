// Operations that are correctly rounded even with fast-math.
#pragma once

// The quotient, correctly rounded. Potential temperature is such a quotient, about 300 K, in which errors of a few ULP
// would add up over the steps to more than any other error.
//
// Neither the operands nor their quotient may be near the limits of the range of numbers: CUDA's own function checks
// for that first, and this one has no such branch. Otherwise the algorithm is the same: a reciprocal with an error of
// one or two ULP, and two corrections of the quotient by its remainder (Markstein 1990).
__device__ inline float exact_quotient(float a, float b)
{
#ifdef __CUDACC_RTC__
    float reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(b));
#else
    float reciprocal = 1 / b;
#endif
    reciprocal = fmaf(reciprocal, fmaf(-b, reciprocal, 1), reciprocal);
    float quotient = a * reciprocal;
    for (int n = 0; n < 2; ++n) quotient = fmaf(reciprocal, fmaf(-b, quotient, a), quotient);
    return quotient;
}
__device__ inline double exact_quotient(double a, double b) { return a / b; }
