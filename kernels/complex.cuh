// Complex numbers, with the operations that the radar reflectivity needs. The Rust twin uses the crate num_complex.
#pragma once

struct Complex {
    real re, im;
};

__device__ inline Complex operator+(Complex a, Complex b)
{
    return Complex{a.re + b.re, a.im + b.im};
}

__device__ inline Complex operator+(Complex a, real b)
{
    return Complex{a.re + b, a.im};
}

__device__ inline Complex operator-(Complex a, Complex b)
{
    return Complex{a.re - b.re, a.im - b.im};
}

__device__ inline Complex operator-(Complex a, real b)
{
    return Complex{a.re - b, a.im};
}

__device__ inline Complex operator*(Complex a, Complex b)
{
    return Complex{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

__device__ inline Complex operator*(Complex a, real b)
{
    return Complex{a.re * b, a.im * b};
}

// Square of the absolute value.
__device__ inline real norm_sqr(Complex a)
{
    return a.re * a.re + a.im * a.im;
}

__device__ inline Complex operator/(Complex a, Complex b)
{
    const real norm_sqr = ::norm_sqr(b);
    const real re = a.re * b.re + a.im * b.im;
    const real im = a.im * b.re - a.re * b.im;
    return Complex{re / norm_sqr, im / norm_sqr};
}

// Principal value of the natural logarithm.
__device__ inline Complex ln(Complex a)
{
    return Complex{log(hypot(a.re, a.im)), atan2(a.im, a.re)};
}
