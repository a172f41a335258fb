//! Number of significant bits of values, by the information that neighbouring cells share.
//!
//! The information of a bit is the mutual information of that bit in adjacent cells along x. Information that random
//! bits would show too, in 99 of 100 cases, counts as none. The number of kept bits of the significand preserves 99 %
//! of the information, and is at least [`FEWEST`].
//!
//! The sum differs from that of the source, which takes all bits of all cells, by two exclusions of spurious
//! information. Without cloud all bits are the same, and the edges of clouds would make every bit seem informative:
//! cells with the commonest value of a field do not count. Values that were rounded before, in another unit or format,
//! have a pattern in their last bits: bits below a bit of the significand without information do not count.
//!
//! Of a large field evenly spaced rows are sampled: with [`PAIRS`] pairs of cells random bits seem to have 2e-5 bits of
//! information, and taking all cells would take longer than compressing them.
//!
//! Source: Klöwer, Razinger, Dominguez, Düben and Palmer, 2021, Compressing atmospheric data into its real
//! information content, Nature Computational Science 1, 713-724.

use rayon::prelude::*;

use crate::io::store::storage::Bits;

/// Share of the information that is kept.
const KEPT: f64 = 0.99;

/// Fewest bits of the significand that are kept.
const FEWEST: u32 = 7;

/// Half width, in standard deviations, of the information that random bits show in 99 of 100 cases.
const CONFIDENCE: f64 = 2.575_829_303_548_901;

/// Approximate number of sampled pairs of cells; larger fields are sampled in every second row, or every third.
const PAIRS: usize = 1 << 18;

/// Number of values that are searched for the commonest.
const SAMPLE: usize = 1 << 14;

/// Most bits of a value.
const MOST_BITS: usize = 64;

/// Counts of pairs of bits: all pairs, first bit set, second bit set, and both set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pairs {
    all: u64,
    first: u64,
    second: u64,
    both: u64,
}

impl Pairs {
    fn plus(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            first: self.first + other.first,
            second: self.second + other.second,
            both: self.both + other.both,
        }
    }

    /// Mutual information of the two bits, in bits; 0 if not significant.
    fn information(self) -> f64 {
        if self.all == 0 {
            return 0.0;
        }
        let all = self.all as f64;
        let [first, second, both] = [self.first, self.second, self.both].map(|n| n as f64 / all);
        let joint = [1.0 - first - second + both, first - both, second - both, both];
        let alone = [1.0 - first, first].map(|p| [1.0 - second, second].map(|q| p * q));
        let alone = [alone[0][0], alone[1][0], alone[0][1], alone[1][1]];
        let terms = joint.into_iter().zip(alone).filter(|(p, _)| *p > 0.0);
        let information: f64 = terms.map(|(p, q)| p * (p / q).log2()).sum();
        if information > Self::chance(all) { information } else { 0.0 }
    }

    /// Information that so many pairs of random bits may seem to have.
    fn chance(pairs: f64) -> f64 {
        let p = (0.5 + 0.5 * CONFIDENCE / pairs.sqrt()).min(1.0);
        let part = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
        1.0 - part(p) - part(1.0 - p)
    }
}

/// Rows and single values of a field, evenly spaced, from pieces of it.
#[derive(Debug)]
pub(in crate::io) struct Sample<T> {
    /// Cells of a row.
    nx: usize,
    /// One row of so many is sampled, and one value of so many.
    every: [usize; 2],
    rows: Vec<T>,
    values: Vec<T>,
    /// Number of values in the pieces so far.
    passed: usize,
}

impl<T: Bits> Sample<T> {
    /// A sample of a field of so many values in rows of `nx` cells.
    pub(in crate::io) fn new(count: usize, nx: usize) -> Self {
        let every = [PAIRS, SAMPLE].map(|wanted| (count / wanted).max(1));
        Self { nx, every, rows: Vec::new(), values: Vec::new(), passed: 0 }
    }

    /// Takes the next piece, of whole rows.
    pub(in crate::io) fn take(&mut self, piece: &[T]) {
        // Values up to the next one that is sampled.
        let missing = |passed: usize, every: usize| passed.next_multiple_of(every) - passed;
        let [rows, values] = self.every;
        let first = missing(self.passed / self.nx.max(1), rows);
        let sampled = piece.chunks_exact(self.nx.max(1)).skip(first).step_by(rows);
        self.rows.extend(sampled.flatten());
        self.values.extend(piece.iter().skip(missing(self.passed, values)).step_by(values));
        self.passed += piece.len();
    }

    /// Bits of the significand to keep, at least [`FEWEST`].
    pub(in crate::io) fn kept_bits(self) -> u32 {
        // Cells without neighbours give no information.
        if self.nx < 2 { T::STORED } else { self.informative_bits().clamp(FEWEST, T::STORED) }
    }
}

/// The same of a whole field in rows of `nx` cells.
pub(in crate::io) fn kept_bits<T: Bits>(values: &[T], nx: usize) -> u32 {
    let mut sample = Sample::new(values.len(), nx);
    sample.take(values);
    sample.kept_bits()
}

impl<T: Bits> Sample<T> {
    /// Fewest bits of the significand that preserve [`KEPT`] of the information.
    fn informative_bits(self) -> u32 {
        let Self { nx, rows, values, .. } = self;
        let nothing = commonest(values);
        let pairs = rows
            .par_chunks_exact(nx)
            .with_min_len((1 << 14) / nx + 1)
            .fold(none, |counts, row| sum(counts, &count(row, nothing)))
            .reduce(none, |a, b| sum(a, &b));
        let bits = 8 * size_of::<T>();
        let mut information: Vec<f64> =
            pairs[..bits].iter().rev().map(|pairs| pairs.information()).collect();
        // Sign and exponent come first, and are always kept.
        let leading = bits - T::STORED as usize;
        if let Some(empty) = information[leading..].iter().position(|part| *part == 0.0) {
            information.truncate(leading + empty);
        }
        let wanted = KEPT * information.iter().sum::<f64>();
        let mut kept = 0.0;
        let needed = information.iter().position(|part| {
            kept += part;
            kept >= wanted
        });
        let needed = needed.filter(|_| wanted > 0.0).map_or(0, |last| last as u32 + 1);
        needed.saturating_sub(leading as u32)
    }
}

/// Counts of pairs for every bit, the lowest bit first.
type Counts = [Pairs; MOST_BITS];

fn none() -> Counts {
    [Pairs::default(); MOST_BITS]
}

fn sum(mut a: Counts, b: &Counts) -> Counts {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = a.plus(*b));
    a
}

/// The commonest of some values, if any value occurs twice among them.
fn commonest<T: Bits>(mut sample: Vec<T>) -> Option<T> {
    sample.sort_unstable_by_key(|x| x.word());
    let most = sample.chunk_by(|a, b| a.word() == b.word()).max_by_key(|same| same.len());
    most.filter(|same| same.len() > 1).map(|same| same[0])
}

/// Counts the bits of neighbours in a row, the lowest bit first; pairs with `nothing` do not count.
fn count<T: Bits>(row: &[T], nothing: Option<T>) -> Counts {
    let mut counts = none();
    let there = |x: &T| Some(*x) != nothing;
    let pairs = row.windows(2).filter(|pair| pair.iter().all(there)).map(|pair| (pair[0], pair[1]));
    let (from, to): (Vec<T>, Vec<T>) = pairs.unzip();
    for (bit, counts) in counts.iter_mut().enumerate().take(8 * size_of::<T>()) {
        *counts = Pairs {
            all: from.len() as u64,
            first: T::ones(&from, &from, bit),
            second: T::ones(&to, &to, bit),
            both: T::ones(&from, &to, bit),
        };
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter_rng::Random;

    const NX: usize = 256;

    fn informative_bits(values: &[f32], nx: usize) -> u32 {
        let mut sample = Sample::new(values.len(), nx);
        // In pieces of three rows, the last one shorter.
        values.chunks(3 * nx).for_each(|piece| sample.take(piece));
        let bits = sample.informative_bits();
        let mut whole = Sample::new(values.len(), nx);
        whole.take(values);
        assert_eq!(bits, whole.informative_bits());
        bits
    }

    /// Values whose first bits of the significand are those of a smooth field; the other bits are random.
    fn field(smooth: u32) -> Vec<f32> {
        let random = |n: usize| Random::new(7).at(n as u64).bits() as u32;
        let wave =
            |n: usize| 1.5 + 0.4 * ((n % NX) as f32 / 40.0).sin() * ((n / NX) as f32 / 30.0).cos();
        let noise = (1 << (f32::STORED - smooth)) - 1;
        let of = |n| f32::from_bits((wave(n).to_bits() & !noise) | (random(n) & noise));
        (0..NX * 300).map(of).collect()
    }

    #[test]
    fn noise_is_not_kept_and_what_is_smooth_is() {
        let [few, more] = [2, 23].map(|smooth| informative_bits(&field(smooth), NX));
        assert!(few <= 2, "{few}");
        assert!(more > few && more < 16, "{more}");
        assert_eq!(kept_bits(&field(2), NX), FEWEST);
    }

    /// A cloud of noise in clear air: its edges carry no information in the last bits.
    #[test]
    fn edges_of_clouds_are_left_out() {
        let cloud = |n: usize| [n % NX, n / NX].iter().all(|at| (at / 16).is_multiple_of(3));
        let of = |(n, x)| if cloud(n) { x } else { 0.0 };
        let field: Vec<f32> = field(3).into_iter().enumerate().map(of).collect();
        assert!(informative_bits(&field, NX) <= 3);
    }

    /// The last bits of values that have been rounded in another unit have a pattern.
    #[test]
    fn patterns_below_noise_are_no_information() {
        let field: Vec<f32> =
            field(4).iter().map(|x| f32::from_bits(x.to_bits() & !0xff | 0x55)).collect();
        let striped =
            |(n, x): (usize, &f32)| f32::from_bits(x.to_bits() ^ ((n / 16 % 2) as u32 * 0xff));
        let field: Vec<f32> = field.iter().enumerate().map(striped).collect();
        assert!(informative_bits(&field, NX) <= 4);
    }

    #[test]
    fn nothing_to_tell_keeps_the_fewest() {
        assert_eq!(kept_bits(&[0.0_f32; 1000], 100), FEWEST);
        assert_eq!(kept_bits(&[3.3_f64; 1000], 100), FEWEST);
        let random = |n: u64| Random::new(3).at(n).bits() as u32;
        let noise: Vec<f32> =
            (0..100_000).map(|n| f32::from_bits(1.0_f32.to_bits() | (random(n) >> 9))).collect();
        assert_eq!(kept_bits(&noise, 100), FEWEST);
    }

    #[test]
    fn equal_bits_have_the_information_of_one() {
        let equal = Pairs { all: 1000, first: 500, second: 500, both: 500 };
        assert!((equal.information() - 1.0).abs() < 1e-12);
        let independent = Pairs { all: 1000, first: 500, second: 500, both: 250 };
        assert_eq!(independent.information(), 0.0);
        let chance = Pairs { all: 1000, first: 500, second: 500, both: 255 };
        assert_eq!(chance.information(), 0.0);
    }

    #[test]
    fn bits_are_counted_in_pairs() {
        let row = [0b11, 0b01, 0b11, 0b10].map(f32::from_bits);
        let counts = count(&row, None);
        assert_eq!(counts[0], Pairs { all: 3, first: 3, second: 2, both: 2 });
        assert_eq!(counts[1], Pairs { all: 3, first: 2, second: 2, both: 1 });
        assert_eq!(counts[2], Pairs { all: 3, ..Pairs::default() });
        assert_eq!(count(&row, Some(row[1]))[0], Pairs { all: 1, first: 1, second: 0, both: 0 });
    }
}
