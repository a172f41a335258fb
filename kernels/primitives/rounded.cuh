// Sums and products that are never contracted to a fused multiply-add, so that they have the same bits in all contexts,
// or those of the CPU version.
#pragma once

__device__ inline float sum(float a, float b) { return __fadd_rn(a, b); }
__device__ inline double sum(double a, double b) { return __dadd_rn(a, b); }
__device__ inline float product(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double product(double a, double b) { return __dmul_rn(a, b); }
