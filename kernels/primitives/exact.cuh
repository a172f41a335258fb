// Operations that stay exact where fast-math makes the others less so.
#pragma once

// The quotient, correctly rounded. Potential temperature is one of some 300 K, of which an error of
// a few units in the last place would add up from step to step to more than anything else does.
__device__ inline float exact_quotient(float a, float b) { return __fdiv_rn(a, b); }
__device__ inline double exact_quotient(double a, double b) { return a / b; }
