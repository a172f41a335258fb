// Products of a link, a matrix of SU(3), or of its adjoint with a color vector, and the third row of a link. Every
// product that is a summand is fused with the addition, in the order of src/lattice/link.rs, so that all compilers give
// the same bits.
#pragma once
#include "complex.cuh"

// a b
__device__ inline Complex times(Complex a, Complex b)
{
    return Complex{fma(-a.im, b.im, a.re * b.re), fma(a.im, b.re, a.re * b.im)};
}

// a b + c
__device__ inline Complex times_plus(Complex a, Complex b, Complex c)
{
    return Complex{fma(-a.im, b.im, fma(a.re, b.re, c.re)), fma(a.im, b.re, fma(a.re, b.im, c.im))};
}

// conj(a) b
__device__ inline Complex conj_times(Complex a, Complex b)
{
    return Complex{fma(a.im, b.im, a.re * b.re), fma(-a.im, b.re, a.re * b.im)};
}

// conj(a) b + c
__device__ inline Complex conj_times_plus(Complex a, Complex b, Complex c)
{
    return Complex{fma(a.im, b.im, fma(a.re, b.re, c.re)), fma(-a.im, b.re, fma(a.re, b.im, c.im))};
}

// conj(a b - c d), a component of the third row.
__device__ inline Complex cross(Complex a, Complex b, Complex c, Complex d)
{
    const Complex ab = times(a, b);
    const Complex difference = times_plus(Complex{-c.re, -c.im}, d, ab);
    return Complex{difference.re, -difference.im};
}

// Computes the third row of a link from the other two: c = conj(a x b).
__device__ inline void third_row(Complex (&u)[3][3])
{
    u[2][0] = cross(u[0][1], u[1][2], u[0][2], u[1][1]);
    u[2][1] = cross(u[0][2], u[1][0], u[0][0], u[1][2]);
    u[2][2] = cross(u[0][0], u[1][1], u[0][1], u[1][0]);
}

// Component `row` of U v.
__device__ inline Complex row_times(const Complex (&u)[3][3], int row, const Complex (&v)[3])
{
    return times_plus(u[row][2], v[2], times_plus(u[row][1], v[1], times(u[row][0], v[0])));
}

// Component `column` of U^dagger v.
__device__ inline Complex column_times(const Complex (&u)[3][3], int column, const Complex (&v)[3])
{
    const Complex two = conj_times_plus(u[1][column], v[1], conj_times(u[0][column], v[0]));
    return conj_times_plus(u[2][column], v[2], two);
}
