// Exponential, logarithm and power with the operations of src/simd/double.rs, one by one, so that rate constants and
// step lengths have the bits of the CPU version. Products that are summands use __dmul_rn, lest the compiler contract
// them.
#pragma once

__device__ inline double bits_to_double(long long bits) { return __longlong_as_double(bits); }
__device__ inline long long double_to_bits(double x) { return __double_as_longlong(x); }

__device__ inline double power_of_two(long long n)
{
    return bits_to_double((n + EXPONENT_BIAS) << MANTISSA_BITS);
}

template <int COUNT>
__device__ inline double polynomial(const double (&coefficients)[COUNT], double x)
{
    double sum = coefficients[COUNT - 1];
#pragma unroll
    for (int i = COUNT - 2; i >= 0; --i) sum = fma(sum, x, coefficients[i]);
    return sum;
}

// e^(x + rest), with |rest| much smaller than |x|.
__device__ inline double exp_of_sum(double x, double rest)
{
    double bounded = x > EXP_RANGE ? EXP_RANGE : x;
    bounded = bounded < -EXP_RANGE ? -EXP_RANGE : bounded;
    rest = bounded == x ? rest : 0.0;
    const double shifted = fma(bounded, LOG2_E, ROUNDING);
    const long long n = double_to_bits(shifted) - double_to_bits(ROUNDING);
    const double whole = shifted - ROUNDING;
    const double r = fma(whole, -LN_2_LOW, fma(whole, -LN_2_HIGH, bounded) + rest);
    const double sum = fma(__dmul_rn(r, r), polynomial(EXP_SERIES, r), r) + 1.0;
    // Two factors, so that neither power of two overflows or underflows.
    const long long half = static_cast<long long>(static_cast<unsigned long long>(n + 2048) >> 1) - 1024;
    return sum * power_of_two(half) * power_of_two(n - half);
}

// ln x as a sum of two numbers, for finite x > 0.
__device__ inline double ln_parts(double x, double& low)
{
    const bool is_small = x < SMALLEST_NORMAL;
    const double lifted = is_small ? x * LIFT : x;
    const double lift = is_small ? LIFT_EXPONENT : 0.0;
    const long long bits = double_to_bits(lifted);
    double mantissa = bits_to_double((bits & ((1ll << MANTISSA_BITS) - 1)) | double_to_bits(0.5));
    const bool is_low = mantissa < FRAC_1_SQRT_2;
    mantissa = is_low ? mantissa + mantissa : mantissa;
    const long long stored_bits = static_cast<long long>(static_cast<unsigned long long>(bits) >> MANTISSA_BITS);
    const double stored = bits_to_double(stored_bits | double_to_bits(WHOLE)) - WHOLE;
    const double exponent = stored - static_cast<double>(EXPONENT_BIAS - 1) - lift - (is_low ? 1.0 : 0.0);

    // ln(1 + f) = 2 artanh(s) with s = f / (2 + f); s_rest is the rounding error of s.
    const double f = mantissa - 1.0;
    const double sum = 2.0 + f, sum_rest = (2.0 - sum) + f;
    const double s = f / sum;
    const double s_rest = fma(-s, sum_rest, fma(-s, sum, f)) / sum;
    const double square = __dmul_rn(s, s);
    const double series = __dmul_rn(__dmul_rn(s, square), polynomial(ARTANH_SERIES, square));
    const double first = s + s, first_rest = __dmul_rn(2.0, s_rest + series);

    // The summand of the exponent is the larger one unless it is 0.
    const double whole = __dmul_rn(exponent, LN_2_HIGH);
    const double high = whole + first;
    const double rest = ((whole - high) + first) + fma(exponent, LN_2_LOW, first_rest);
    const double total = high + rest;
    low = (high - total) + rest;
    return total;
}

// `result` for finite x > 0, the limits at 0 and at infinity, else NaN.
__device__ inline double at_limits(double x, double result, double at_zero, double at_infinity)
{
    double outside = x == INFINITE ? at_infinity : INFINITE - INFINITE;
    outside = x == 0.0 ? at_zero : outside;
    return x > 0.0 && x < INFINITE ? result : outside;
}

// Not inlined: a mechanism would contain a copy for each of its rates.
__device__ __noinline__ double exp_of(double x) { return exp_of_sum(x, 0.0); }

__device__ __noinline__ double ln_of(double x)
{
    double low;
    const double high = ln_parts(x, low);
    return at_limits(x, high + low, -INFINITE, INFINITE);
}

__device__ __noinline__ double log10_of(double x)
{
    double low;
    const double high = ln_parts(x, low);
    return at_limits(x, (high + low) * LOG10_E, -INFINITE, INFINITE);
}

// x^y for x >= 0.
__device__ __noinline__ double power_of(double x, double y)
{
    double low;
    const double high = ln_parts(x, low);
    const double product = __dmul_rn(y, high);
    const double rest = fma(y, low, fma(y, high, -product));
    const double power = at_limits(x, exp_of_sum(product, rest), y > 0.0 ? 0.0 : INFINITE, y > 0.0 ? INFINITE : 0.0);
    return y == 0.0 ? 1.0 : power;
}
