//! Sums in fixed point, which do not depend on the order of their terms.
//!
//! A term is rounded to a multiple of 2⁻⁶⁰ of a unit, a power of two, and split into three parts of 40 bits. The parts
//! of all terms are added as integers, so that the sum has the same bits for any order, number of threads, backend, and
//! division into parts:
//!
//! `Σ terms = unit Σₖ limbₖ 2^(40 k - 60)`, k = 0, 1, 2.
//!
//! Source: Hallberg, Adcroft 2014, Parallel Comput. 40, 140-143 (order-invariant sums of integers).
//!
//! # Decisions
//!
//! **Parts are split off by addition of a large number,** which rounds a term to a multiple of the part's last bit. That
//! is vectorised and needs no conversion, and the parts of up to [`AT_ONCE`] terms are added exactly in double
//! precision; so a block of threads adds them like any other numbers, and converts the sums alone.

use std::ops::AddAssign;

/// Parts of a sum.
pub(crate) const LIMBS: usize = 3;

/// Bits of a part of a term.
pub(crate) const BITS: i32 = 40;

/// Last bit of a part of a term, as powers of two of the unit: 2⁻⁶⁰, 2⁻²⁰, 2²⁰.
const LAST: [i32; LIMBS] = [-60, BITS - 60, 2 * BITS - 60];

/// Bound of the terms in units. Larger ones, as those that are not finite, make the sum NaN.
pub const BOUND: f64 = power_of_two(59);

/// Most terms whose parts double precision adds exactly.
pub const AT_ONCE: usize = 1 << 13;

/// Numbers that, added and subtracted, round terms to multiples of the last bit of a part: 1.5 times 2⁵² of these bits.
pub(crate) const SPLITTERS: [f64; LIMBS] =
    [1.5 * power_of_two(52 - 60), 1.5 * power_of_two(52 - 20), 1.5 * power_of_two(52 + 20)];

/// Last bits of the parts, in units, and their reciprocals.
pub(crate) const UNITS: [f64; LIMBS] =
    [power_of_two(LAST[0]), power_of_two(LAST[1]), power_of_two(LAST[2])];

/// 2 to the power of `exponent`.
///
/// # Panics
///
/// When that is not a normal number.
pub(crate) const fn power_of_two(exponent: i32) -> f64 {
    const BIAS: i32 = 1023;
    const SIGNIFICAND_BITS: u32 = 52;
    assert!(exponent > -BIAS && exponent <= BIAS, "exponent of a normal number");
    f64::from_bits(((exponent + BIAS) as u64) << SIGNIFICAND_BITS)
}

/// Sum of terms, in units of its caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    limbs: [i64; LIMBS],
    /// `true` if a term was beyond [`BOUND`] or not finite.
    is_lost: bool,
}

impl Sums {
    /// The sum of at most [`AT_ONCE`] terms.
    ///
    /// # Panics
    ///
    /// When there are more terms.
    pub fn of(terms: impl ExactSizeIterator<Item = f64>) -> Self {
        assert!(terms.len() <= AT_ONCE, "{} terms at once", terms.len());
        let mut parts = [0.0; LIMBS];
        let mut is_lost = false;
        for term in terms {
            is_lost |= term.is_nan() || term.abs() >= BOUND;
            let upper = (term + SPLITTERS[2]) - SPLITTERS[2];
            let rest = term - upper;
            let middle = (rest + SPLITTERS[1]) - SPLITTERS[1];
            let lower = ((rest - middle) + SPLITTERS[0]) - SPLITTERS[0];
            parts[0] += lower;
            parts[1] += middle;
            parts[2] += upper;
        }
        if is_lost {
            return Self { limbs: [0; LIMBS], is_lost };
        }
        // Exact: the parts are multiples of their units.
        Self { limbs: std::array::from_fn(|k| (parts[k] / UNITS[k]) as i64), is_lost }
    }

    /// The sum in units, with an error of at most 2 ULP; NaN after a term that was out of range.
    pub fn value(&self) -> f64 {
        if self.is_lost {
            return f64::NAN;
        }
        let carried = |[a, b, c]: [i64; LIMBS]| {
            let b = b + (a >> BITS);
            let c = c + (b >> BITS);
            let mask = (1 << BITS) - 1;
            [a & mask, b & mask, c]
        };
        // Parts of one sign, so that they do not cancel.
        let limbs = carried(self.limbs);
        let is_negative = limbs[2] < 0;
        let [a, b, c] = if is_negative { carried(limbs.map(|limb| -limb)) } else { limbs };
        let size = (a as f64 * UNITS[0] + b as f64 * UNITS[1]) + c as f64 * UNITS[2];
        if is_negative { -size } else { size }
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        for (limb, other) in self.limbs.iter_mut().zip(other.limbs) {
            *limb += other;
        }
        self.is_lost |= other.is_lost;
    }
}
