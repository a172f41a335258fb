// Operations that stay exact where fast-math makes the others less so.
#pragma once

// The quotient, correctly rounded. Potential temperature is such a quotient, of some 300 K, in which an error of a few
// ULP would add up from step to step to more than any other error.
//
// Neither operand may be near the smallest or the largest numbers, nor their quotient: CUDA's own function looks for
// such first, and the code for them would stand in the way. For others it does the same: a reciprocal with an error of
// a unit in the last place or two, and two corrections of the quotient by its remainder (Markstein 1990).
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
