//! Exponential, logarithm and power in single precision as short sequences of instructions without branch, call or
//! table, so that loops over many values are vectorised.
//!
//! Every function is total: it has the limits of the exact one at 0 and at infinity, and returns NaN for NaN. The
//! coefficients are those of minimax polynomials (Remez), rounded to single precision. `validation/host/lanes.rs`
//! measures the errors stated here.

use std::f32::consts::{LN_2, LOG2_E, LOG10_E};

/// log₂e minus its nearest value in single precision.
const LOG2_E_REST: f32 = 1.925_963e-8;

/// The upper 10 bits of ln 2: its products with exponents are exact.
const LN_2_HIGH: f32 = 0.693_359_4;
/// Remainder of ln 2.
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// log₁₀e minus its nearest value in single precision.
const LOG10_E_REST: f32 = -1.010_305e-8;

/// The upper 11 bits of log₁₀2: its products with exponents are exact.
const LOG10_2_HIGH: f32 = 0.301_025_4;
/// Remainder of log₁₀2.
const LOG10_2_LOW: f32 = 4.605_039e-6;

/// (ln(1 + f) - f + f²/2) / f³ for √½ ≤ 1 + f ≤ √2, from the constant term up; truncation error below 2⁻²⁷ of the
/// logarithm.
const LN_1P: [f32; 8] = [
    0.333_333_3,
    -0.250_008_2,
    0.200_012_25,
    -0.166_233_58,
    0.142_017_87,
    -0.131_602_05,
    0.127_613_87,
    -0.076_341_98,
];

/// (exp(r) - 1 - r) / r² for |r| ≤ ln 2 / 2, from the constant term up; truncation error below 2⁻²⁸ of the exponential.
const EXP: [f32; 5] = [0.499_999_94, 0.166_665_21, 0.041_668_39, 0.008_368_71, 0.001_381_461];

/// (2^r - 1 - r ln 2) / r² for |r| ≤ 1/2, from the constant term up; truncation error below 2⁻²⁸ of the power.
const EXP_2: [f32; 5] =
    [0.240_226_48, 0.055_503_323, 0.009_618_437, 0.001_339_887_5, 0.000_153_533_63];

/// Magic number for rounding: added to a number below 2²², it leaves the nearest integer in the last bits.
const ROUNDING: f32 = 12_582_912.0;

/// 2²⁴, a factor that makes subnormal numbers normal.
const LIFT: f32 = 16_777_216.0;
/// Its exponent.
const LIFT_EXPONENT: i32 = 24;

/// Bits of a number's mantissa.
const MANTISSA_BITS: u32 = 23;
/// Bias of a stored exponent.
const EXPONENT_BIAS: i32 = 127;

/// Exponents beyond which e^x is infinite or 0.
const EXP_RANGE: f32 = 110.0;
/// Exponents beyond which 2^x is infinite or 0.
const EXP_2_RANGE: f32 = 200.0;

/// e^x, within 1 ULP.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let x = within(x, EXP_RANGE);
    let (n, whole) = nearest(x * LOG2_E);
    let r = whole.mul_add(-LN_2_LOW, whole.mul_add(-LN_2_HIGH, x));
    scale((r * r).mul_add(polynomial(&EXP, r), r) + 1.0, n)
}

/// ln x, within 1 ULP: -∞ at 0, NaN below.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    let (exponent, high, low) = ln_parts(x);
    // Rounding error of the sum; the exponent's summand is the larger one unless it is 0.
    let whole = exponent * LN_2_HIGH;
    let sum = whole + high;
    let rest = (whole - sum) + high;
    at_limits(x, sum + (rest + exponent.mul_add(LN_2_LOW, low)), f32::NEG_INFINITY, f32::INFINITY)
}

/// log₁₀x, within 1 ULP: -∞ at 0, NaN below.
#[inline(always)]
pub fn log10(x: f32) -> f32 {
    let (exponent, high, low) = ln_parts(x);
    let part = high * LOG10_E;
    let part_rest = low.mul_add(LOG10_E, high.mul_add(LOG10_E_REST, high.mul_add(LOG10_E, -part)));
    // Rounding error of the sum, as above.
    let whole = exponent * LOG10_2_HIGH;
    let sum = whole + part;
    let rest = (whole - sum) + part;
    let log = sum + (rest + exponent.mul_add(LOG10_2_LOW, part_rest));
    at_limits(x, log, f32::NEG_INFINITY, f32::INFINITY)
}

/// The cube root, within 1 ULP.
#[inline(always)]
pub fn cbrt(x: f32) -> f32 {
    let size = x.abs();
    let root = powf(size, 1.0 / 3.0);
    // One third is not exact in single precision: a Newton step removes that error.
    let better = root - (root - size / (root * root)) / 3.0;
    let root = if root > 0.0 && root < f32::INFINITY { better } else { root };
    root.copysign(x)
}

/// x^y for x ≥ 0, within 1 ULP if |y| ≤ 3; NaN for x below 0.
///
/// 2^(y log₂x), with logarithm and product as sums of two numbers each. With one number each, a result of 1e-9 would be
/// off by dozens of ULP.
#[inline(always)]
pub fn powf(x: f32, y: f32) -> f32 {
    let (exponent, first, second) = ln_parts(x);
    let high = first + second;
    let low = (first - high) + second;
    let part = high * LOG2_E;
    let part_rest = low.mul_add(LOG2_E, high.mul_add(LOG2_E_REST, high.mul_add(LOG2_E, -part)));
    let log = exponent + part;
    let log_rest = ((exponent - log) + part) + part_rest;

    let product = y * log;
    let product_rest = y.mul_add(log_rest, y.mul_add(log, -product));
    let bounded = within(product, EXP_2_RANGE);
    let (n, whole) = nearest(bounded);
    let r = (bounded - whole) + product_rest;
    // The two largest terms are added as a sum of two numbers: near 1/√2 their rounding error is half a ULP.
    let linear = r * LN_2;
    let linear_rest = r.mul_add(LN_2, -linear);
    let sum = 1.0 + linear;
    let sum_rest = (1.0 - sum) + linear;
    let rest = (r * r).mul_add(polynomial(&EXP_2, r), linear_rest);
    let power = scale(sum + (sum_rest + rest), n);
    let (at_zero, at_infinity) = if y > 0.0 { (0.0, f32::INFINITY) } else { (f32::INFINITY, 0.0) };
    let power = at_limits(x, power, at_zero, at_infinity);
    if y == 0.0 { 1.0 } else { power }
}

/// The result for x between 0 and infinity, and the limits there; NaN otherwise.
#[inline(always)]
fn at_limits(x: f32, result: f32, at_zero: f32, at_infinity: f32) -> f32 {
    let outside = if x == f32::INFINITY { at_infinity } else { f32::NAN };
    let outside = if x == 0.0 { at_zero } else { outside };
    if x > 0.0 && x < f32::INFINITY { result } else { outside }
}

/// ln x = e ln 2 + high + low with an integer e and |high| < 0.35.
#[inline(always)]
fn ln_parts(x: f32) -> (f32, f32, f32) {
    let is_small = x < f32::MIN_POSITIVE;
    let lifted = if is_small { x * LIFT } else { x };
    let lift = if is_small { LIFT_EXPONENT } else { 0 };
    let bits = lifted.to_bits().cast_signed();
    // The mantissa starts at √½, so that it is near 1 for all numbers near 1.
    let above = bits.wrapping_sub(std::f32::consts::FRAC_1_SQRT_2.to_bits().cast_signed());
    let exponent = above >> MANTISSA_BITS;
    let mantissa = bits.wrapping_sub(exponent << MANTISSA_BITS);
    let f = f32::from_bits(mantissa.cast_unsigned()) - 1.0;

    let square = f * f;
    let half = 0.5 * square;
    let half_rest = 0.5 * f.mul_add(f, -square);
    let high = f - half;
    let low = (f - high) - half;
    let low = (f * square).mul_add(polynomial(&LN_1P, f), low - half_rest);
    ((exponent - lift) as f32, high, low)
}

/// The number clamped to the bounds.
#[inline(always)]
fn within(x: f32, bound: f32) -> f32 {
    let x = if x > bound { bound } else { x };
    if x < -bound { -bound } else { x }
}

/// The nearest integer.
#[inline(always)]
fn nearest(x: f32) -> (i32, f32) {
    let shifted = x + ROUNDING;
    let n = shifted.to_bits().cast_signed().wrapping_sub(ROUNDING.to_bits().cast_signed());
    (n, shifted - ROUNDING)
}

/// x 2ⁿ, in two steps, so that neither power overflows.
#[inline(always)]
fn scale(x: f32, n: i32) -> f32 {
    let half = n >> 1;
    x * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(EXPONENT_BIAS) << MANTISSA_BITS).cast_unsigned())
}

#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f32; N], x: f32) -> f32 {
    let mut sum = coefficients[N - 1];
    for i in (0..N - 1).rev() {
        sum = sum.mul_add(x, coefficients[i]);
    }
    sum
}
