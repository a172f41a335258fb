//! Exact sums of numbers in double precision, which depend neither on the order of their terms nor on their division.
//!
//! A sum is one integer in fixed point, wide enough for every finite number: words of 32 bits, the first one of 2⁻¹⁰⁷⁴.
//! A term is added as an integer to the three words that its significand reaches, so that sums of parts may be made
//! anywhere and added in any order. [`ExactSum::value`] rounds the sum once.
//!
//! Source: Neal 2015, arXiv:1505.05571 (small superaccumulator).
//!
//! # Decisions
//!
//! **Budgets of the CPU are summed in the whole range of numbers,** not in units of a few words as those of
//! [`sums`](super::sums): a passive tracer may have any units, and its amounts any size.

use std::iter::Sum;
use std::ops::AddAssign;

/// Bits of a word.
const BITS: u32 = 32;

/// Bits of the significand of a number that are stored.
const FRACTION_BITS: u32 = 52;

/// The exponent of numbers that are not finite, as it is stored.
const NOT_FINITE: u64 = 0x7ff;

/// Exponent of the last bit of the first word.
const LAST_BIT: i32 = -1074;

/// Words of a sum: those that the largest number reaches, and room for as many as can be added.
const WORDS: usize = 68;

/// Words that the significand of a term reaches.
const REACH: usize = 3;

/// Terms after which words are carried, while they are far from their ends.
const MOST_TERMS: u32 = 1 << 30;

/// The exact sum of numbers.
#[derive(Clone, Debug)]
pub struct ExactSum {
    words: [i64; WORDS],
    /// Terms since the words were carried.
    terms: u32,
    /// `true` if a term was not finite.
    is_lost: bool,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { words: [0; WORDS], terms: 0, is_lost: false }
    }
}

impl ExactSum {
    /// Numbers of [`ExactSum::integers`].
    pub const INTEGERS: usize = WORDS + 1;

    /// Adds a number.
    #[inline]
    pub fn add(&mut self, term: f64) {
        if term == 0.0 {
            return;
        }
        let bits = term.to_bits();
        let (exponent, fraction) =
            (bits >> FRACTION_BITS & NOT_FINITE, bits & ((1 << FRACTION_BITS) - 1));
        if exponent == NOT_FINITE {
            self.is_lost = true;
            return;
        }
        let (significand, place) = match exponent {
            0 => (fraction, 0),
            _ => (fraction | 1 << FRACTION_BITS, exponent as u32 - 1),
        };
        let shifted = u128::from(significand) << (place % BITS);
        let first = (place / BITS) as usize;
        for (n, word) in self.words[first..first + REACH].iter_mut().enumerate() {
            let piece = i64::from((shifted >> (BITS * n as u32)) as u32);
            *word += if term < 0.0 { -piece } else { piece };
        }
        self.count(1);
    }

    /// Counts terms, and carries words before they could overflow.
    fn count(&mut self, terms: u32) {
        self.terms += terms;
        if self.terms >= MOST_TERMS {
            self.carry();
        }
    }

    /// Leaves a number of [`BITS`] bits in every word but the last, which has the sign: a sum has one such form.
    fn carry(&mut self) {
        for n in 1..WORDS {
            let carried = self.words[n - 1] >> BITS;
            self.words[n - 1] -= carried << BITS;
            self.words[n] += carried;
        }
        self.terms = 1;
    }

    /// The sum, rounded to the nearest number; NaN after a term that was not finite.
    pub fn value(&self) -> f64 {
        if self.is_lost {
            return f64::NAN;
        }
        let mut sum = self.clone();
        sum.carry();
        let is_negative = sum.words[WORDS - 1] < 0;
        if is_negative {
            sum.words = sum.words.map(|word| -word);
            sum.carry();
        }
        let Some(top) = sum.words.iter().rposition(|word| *word != 0) else { return 0.0 };
        let first = (top + 1).saturating_sub(REACH);
        let (below, head) = sum.words[..=top].split_at(first);
        let head =
            head.iter().rev().fold(0, |head, word| head << BITS | u128::from(word.cast_unsigned()));
        // What lies below counts as a last bit, which decides between two neighbours of equal distance.
        let head = head | u128::from(below.iter().any(|word| *word != 0));
        let size = scaled(head as f64, LAST_BIT + (first as u32 * BITS).cast_signed());
        if is_negative { -size } else { size }
    }

    /// Numbers whose exact sum it is: the sum rounded, then what is left of it, and so on.
    pub fn numbers(&self) -> Vec<f64> {
        let (mut left, mut numbers) = (self.clone(), Vec::new());
        loop {
            let value = left.value();
            if value != 0.0 || numbers.is_empty() {
                numbers.push(value);
            }
            // A sum beyond all numbers is lost as one that is not finite.
            if value == 0.0 || !value.is_finite() {
                return numbers;
            }
            left.add(-value);
        }
    }

    /// The sum as integers, of which those of several sums may be added, a few thousand times.
    pub fn integers(&self) -> [i64; Self::INTEGERS] {
        let mut carried = self.clone();
        carried.carry();
        let mut integers = [0; Self::INTEGERS];
        integers[..WORDS].copy_from_slice(&carried.words);
        integers[WORDS] = i64::from(self.is_lost);
        integers
    }

    /// The sum that such integers stand for.
    pub fn of_integers(integers: &[i64; Self::INTEGERS]) -> Self {
        let mut sum = Self { is_lost: integers[WORDS] != 0, ..Self::default() };
        sum.words.copy_from_slice(&integers[..WORDS]);
        sum.carry();
        sum
    }
}

/// A number times a power of two, in two steps, as that of a subnormal result is not a number.
fn scaled(x: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    let power = |exponent: i32| 2.0_f64.powi(exponent);
    x * power(half) * power(exponent - half)
}

impl AddAssign<&ExactSum> for ExactSum {
    fn add_assign(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(other.words) {
            *word += other;
        }
        self.is_lost |= other.is_lost;
        self.count(other.terms);
    }
}

impl Extend<f64> for ExactSum {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, terms: I) {
        terms.into_iter().for_each(|term| self.add(term));
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::default();
        sum.extend(terms);
        sum
    }
}

impl Sum for ExactSum {
    fn sum<I: Iterator<Item = Self>>(sums: I) -> Self {
        sums.fold(Self::default(), |mut all, sum| {
            all += &sum;
            all
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter_rng::Random;

    fn sum(terms: &[f64]) -> f64 {
        terms.iter().copied().collect::<ExactSum>().value()
    }

    #[test]
    fn sums_are_rounded_once() {
        assert_eq!(sum(&[]), 0.0);
        assert_eq!(sum(&[1e300, 1.0, -1e300]), 1.0);
        assert_eq!(sum(&[-1.0, 2.0_f64.powi(-60)]), -1.0);
        let half = 0.5 * f64::EPSILON;
        // Half-way between two numbers, and a trace more.
        assert_eq!(sum(&[1.0, half]), 1.0);
        assert_eq!(sum(&[1.0, half, 1e-300]), 1.0 + f64::EPSILON);
        assert_eq!(sum(&[-1.0, -half, -1e-300]), -1.0 - f64::EPSILON);
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
        let least = f64::from_bits(1);
        assert_eq!(sum(&[least, least, f64::MIN_POSITIVE]), f64::MIN_POSITIVE + 2.0 * least);
        assert_eq!(sum(&[least, -1.0, 1.0]), least);
        assert!(sum(&[1.0, f64::INFINITY]).is_nan() && sum(&[f64::NAN]).is_nan());
    }

    #[test]
    fn the_order_and_the_division_of_terms_do_not_matter() {
        let term = |n: u64| {
            let [size, sign] = [0, 1].map(|part| Random::new(7).at(n).at(part).uniform());
            (600.0 * size - 300.0).exp2() * if sign < 0.5 { -1.0 } else { 1.0 }
        };
        let terms: Vec<f64> = (0..20_000).map(term).collect();
        let all: ExactSum = terms.iter().copied().collect();
        assert_eq!(all.value(), terms.iter().rev().copied().collect::<ExactSum>().value());
        let parts = terms.chunks(77).map(|part| part.iter().copied().collect::<ExactSum>());
        let integers = parts.clone().map(|part| part.integers()).fold(
            [0; ExactSum::INTEGERS],
            |mut sum, part| {
                sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
                sum
            },
        );
        let of_parts: ExactSum = parts.sum();
        for other in [&of_parts, &ExactSum::of_integers(&integers)] {
            assert_eq!(other.integers(), all.integers());
        }
        let again: ExactSum = all.numbers().into_iter().collect();
        assert_eq!(again.integers(), all.integers());
        assert_eq!(all.numbers()[0], all.value());
    }
}
