//! Exponential, logarithm and power in double precision as short sequences of instructions without branch, call or
//! table, so that loops over many values are vectorised.
//!
//! Every function is total: it has the limits of the exact one at 0 and at infinity, and returns NaN for NaN. The
//! polynomials are truncated Taylor series with an error below 2⁻⁵⁵ of the result in the reduced range. The bits are
//! the same on every processor, and those of a value do not depend on adjacent values.

use std::f64::consts::{FRAC_1_SQRT_2, LOG2_E, LOG10_E};

/// The upper 32 bits of ln 2: its products with exponents are exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
/// Remainder of ln 2 beyond [`LN_2_HIGH`].
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Magic number for rounding: added to a number below 2⁵¹, it leaves the nearest integer in the last bits.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// 2⁵², whose last bits hold an integer unchanged.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// 2⁵⁴, a factor that makes subnormal numbers normal.
const LIFT: f64 = 18_014_398_509_481_984.0;
/// Its exponent.
const LIFT_EXPONENT: f64 = 54.0;

/// Bits of a number's mantissa.
const MANTISSA_BITS: u32 = 52;
/// Mask of the mantissa.
const MANTISSA: u64 = (1 << MANTISSA_BITS) - 1;
/// Offset of a stored exponent.
const EXPONENT_BIAS: i64 = 1023;

/// Exponents beyond which e^x is infinite or 0.
const EXP_RANGE: f64 = 750.0;

/// The constants of these functions by name, for kernels.
pub fn constants() -> [(&'static str, f64); 9] {
    [
        ("FRAC_1_SQRT_2", FRAC_1_SQRT_2),
        ("LOG2_E", LOG2_E),
        ("LOG10_E", LOG10_E),
        ("LN_2_HIGH", LN_2_HIGH),
        ("LN_2_LOW", LN_2_LOW),
        ("ROUNDING", ROUNDING),
        ("WHOLE", WHOLE),
        ("LIFT", LIFT),
        ("LIFT_EXPONENT", LIFT_EXPONENT),
    ]
}

/// The series of these functions by name, for kernels.
pub fn series() -> [(&'static str, &'static [f64]); 2] {
    [("EXP_SERIES", &EXP_SERIES), ("ARTANH_SERIES", &ARTANH_SERIES)]
}

/// Integer constants: the range of exponents, bits of a mantissa, offset of a stored exponent.
pub const LAYOUT: (f64, u32, i64) = (EXP_RANGE, MANTISSA_BITS, EXPONENT_BIAS);

/// e^x.
///
/// The error is at most 1 ULP.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    exp_of_sum(x, 0.0)
}

/// ln x: -∞ at 0, NaN below.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let (high, low) = ln_parts(x);
    at_limits(x, high + low, f64::NEG_INFINITY, f64::INFINITY)
}

/// log₁₀x: -∞ at 0, NaN below.
#[inline(always)]
pub fn log10(x: f64) -> f64 {
    let (high, low) = ln_parts(x);
    at_limits(x, (high + low) * LOG10_E, f64::NEG_INFINITY, f64::INFINITY)
}

/// x^y for x ≥ 0; NaN for x below 0.
///
/// e^(y ln x), with logarithm and product as sums of two numbers each (double-double), so that large exponents lose no
/// digits.
#[inline(always)]
pub fn powf(x: f64, y: f64) -> f64 {
    let (high, low) = ln_parts(x);
    let product = y * high;
    let rest = y.mul_add(low, y.mul_add(high, -product));
    let power = exp_of_sum(product, rest);
    let (at_zero, at_infinity) = if y > 0.0 { (0.0, f64::INFINITY) } else { (f64::INFINITY, 0.0) };
    let power = at_limits(x, power, at_zero, at_infinity);
    if y == 0.0 { 1.0 } else { power }
}

/// The result for x between 0 and infinity, and the limits there; NaN otherwise.
#[inline(always)]
fn at_limits(x: f64, result: f64, at_zero: f64, at_infinity: f64) -> f64 {
    let outside = if x == f64::INFINITY { at_infinity } else { f64::NAN };
    let outside = if x == 0.0 { at_zero } else { outside };
    if x > 0.0 && x < f64::INFINITY { result } else { outside }
}

/// e^(x + rest) with a small rest.
#[inline(always)]
fn exp_of_sum(x: f64, rest: f64) -> f64 {
    let bounded = if x > EXP_RANGE { EXP_RANGE } else { x };
    let bounded = if bounded < -EXP_RANGE { -EXP_RANGE } else { bounded };
    let rest = if bounded == x { rest } else { 0.0 };
    let shifted = bounded.mul_add(LOG2_E, ROUNDING);
    let n = shifted.to_bits().cast_signed().wrapping_sub(ROUNDING.to_bits().cast_signed());
    let whole = shifted - ROUNDING;
    let r = whole.mul_add(-LN_2_LOW, whole.mul_add(-LN_2_HIGH, bounded) + rest);
    let sum = (r * r).mul_add(polynomial(&EXP_SERIES, r), r) + 1.0;
    // Two factors, so that neither power of two overflows. Halved without an arithmetic 64-bit shift, which AVX2 does
    // not have: n + 2048 is positive.
    let half = (n.wrapping_add(2048).cast_unsigned() >> 1).cast_signed().wrapping_sub(1024);
    sum * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

/// (e^r - 1 - r) / r² = Σ r^k / (k + 2)! for |r| ≤ ln 2 / 2.
const EXP_SERIES: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// (artanh(s) / s - 1) / s² = Σ s^2k / (2k + 3) for |s| ≤ 3 - √8.
const ARTANH_SERIES: [f64; 11] = [
    1.0 / 3.0,
    1.0 / 5.0,
    1.0 / 7.0,
    1.0 / 9.0,
    1.0 / 11.0,
    1.0 / 13.0,
    1.0 / 15.0,
    1.0 / 17.0,
    1.0 / 19.0,
    1.0 / 21.0,
    1.0 / 23.0,
];

/// ln x as a sum of two numbers, for x between 0 and infinity.
#[inline(always)]
fn ln_parts(x: f64) -> (f64, f64) {
    let is_small = x < f64::MIN_POSITIVE;
    let lifted = if is_small { x * LIFT } else { x };
    let lift = if is_small { LIFT_EXPONENT } else { 0.0 };
    let bits = lifted.to_bits();
    // A mantissa from ½ to 1, doubled if it is below √½, so that it is near 1 for all numbers near 1.
    let mantissa = f64::from_bits((bits & MANTISSA) | 0.5_f64.to_bits());
    let is_low = mantissa < FRAC_1_SQRT_2;
    let mantissa = if is_low { mantissa + mantissa } else { mantissa };
    let stored = f64::from_bits((bits >> MANTISSA_BITS) | WHOLE.to_bits()) - WHOLE;
    let exponent = stored - (EXPONENT_BIAS - 1) as f64 - lift - if is_low { 1.0 } else { 0.0 };

    // ln(1 + f) = 2 artanh(s) with s = f / (2 + f), corrected for the rounding of s.
    let f = mantissa - 1.0;
    let sum = 2.0 + f;
    let sum_rest = (2.0 - sum) + f;
    let s = f / sum;
    let s_rest = (-s).mul_add(sum_rest, (-s).mul_add(sum, f)) / sum;
    let square = s * s;
    let series = s * square * polynomial(&ARTANH_SERIES, square);
    let (first, first_rest) = (s + s, 2.0 * (s_rest + series));

    // The exponent's summand is the larger one unless it is 0.
    let whole = exponent * LN_2_HIGH;
    let high = whole + first;
    let low = ((whole - high) + first) + exponent.mul_add(LN_2_LOW, first_rest);
    // Normalised, so that the second part holds the rounding error of the first.
    let total = high + low;
    (total, (high - total) + low)
}

#[inline(always)]
fn power_of_two(n: i64) -> f64 {
    f64::from_bits((n.wrapping_add(EXPONENT_BIAS) << MANTISSA_BITS).cast_unsigned())
}

#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    let mut sum = coefficients[N - 1];
    for i in (0..N - 1).rev() {
        sum = sum.mul_add(x, coefficients[i]);
    }
    sum
}
