//! Distribution of errors over a field.

use rayon::prelude::*;

use crate::real::Real;

/// An error counts as off if it exceeds this fraction of the value...
const OFF_RELATIVE: f64 = 1e-5;
/// ...plus this fraction of the largest value, so that small values are allowed more.
const OFF_LARGEST: f64 = 1e-3;

/// Error measures of a field, in its units. Infinite if a value is not finite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spread {
    /// The largest.
    pub largest: f64,
    /// Root mean square.
    pub rms: f64,
    /// Root mean square of the errors up to the 99th percentile: where rounding decides between finite outcomes, a few
    /// cells outweigh all others.
    pub rms_inner: f64,
    /// 99th percentile of the absolute errors.
    pub p99: f64,
    /// 99.9th percentile of the absolute errors.
    pub p999: f64,
    /// Share of the values, 0 to 1, that are off: by more than 1e-5 of the sum of the value and a thousandth of the
    /// largest value.
    pub share: f64,
}

impl Spread {
    /// Two joined by a function, measure by measure.
    fn joined(&self, other: &Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            largest: of(self.largest, other.largest),
            rms: of(self.rms, other.rms),
            rms_inner: of(self.rms_inner, other.rms_inner),
            p99: of(self.p99, other.p99),
            p999: of(self.p999, other.p999),
            share: of(self.share, other.share),
        }
    }

    /// The larger of two, measure by measure.
    pub(crate) fn larger(&self, other: &Self) -> Self {
        self.joined(other, f64::max)
    }

    /// The same for errors `factor` times as large; the share of values that are off is kept.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self { share: self.share, ..self.joined(self, |x, _| factor * x) }
    }

    /// The errors of `found` against `truth`, of the same length; `errors` is work space.
    pub(crate) fn of<R: Real, T: Real>(found: &[R], truth: &[T], errors: &mut Vec<f64>) -> Self {
        debug_assert_eq!(found.len(), truth.len());
        if found.is_empty() {
            return Self::default();
        }
        found
            .par_iter()
            .zip(truth)
            .map(|(a, b)| (a.f64() - b.f64()).abs())
            .collect_into_vec(errors);
        if errors.iter().any(|error| !error.is_finite()) {
            let none = Self::default();
            return none.joined(&none, |_, _| f64::INFINITY);
        }
        let most = largest(truth);
        let count = errors.len() as f64;
        let is_off =
            |error: f64, truth: &T| error > OFF_RELATIVE * (truth.f64().abs() + OFF_LARGEST * most);
        let off = errors.iter().zip(truth).filter(|(error, truth)| is_off(**error, truth)).count();
        let (largest, rms) = (errors.iter().copied().fold(0.0, f64::max), root_mean_square(errors));
        let p999 = percentile(errors, 99.9);
        let p99 = percentile(errors, 99.0);
        // The percentile has moved larger values to the end.
        let inner = &errors[..=(0.99 * (errors.len() - 1) as f64) as usize];
        Self {
            largest,
            rms,
            rms_inner: root_mean_square(inner),
            p999,
            p99,
            share: off as f64 / count,
        }
    }
}

/// The largest absolute value.
fn largest<R: Real>(values: &[R]) -> f64 {
    values.iter().map(|x| x.f64().abs()).fold(0.0, f64::max)
}

/// Root mean square, √(Σ x² / n), in the units of the values; 0 without values. The squares of atmospheric values
/// neither underflow nor overflow in double precision.
pub(crate) fn root_mean_square<R: Real>(values: &[R]) -> f64 {
    let squares: f64 = values.iter().map(|x| x.f64() * x.f64()).sum();
    (squares / values.len().max(1) as f64).sqrt()
}

/// A percentile, from 0 to 100, with linear interpolation, in the units of the values. Needs at least one value;
/// changes their order.
pub(crate) fn percentile(values: &mut [f64], percent: f64) -> f64 {
    let position = percent / 100.0 * (values.len() - 1) as f64;
    let (_, low, above) = values.select_nth_unstable_by(position.floor() as usize, f64::total_cmp);
    let low = *low;
    let next = above.iter().copied().fold(f64::INFINITY, f64::min);
    if above.is_empty() { low } else { low + (next - low) * position.fract() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_the_values() {
        let mut values: Vec<f64> = (0..=1000).rev().map(f64::from).collect();
        assert!((percentile(&mut values, 99.9) - 999.0).abs() < 1e-9);
        assert!((percentile(&mut values, 99.0) - 990.0).abs() < 1e-9);
        assert!((percentile(&mut [1.0, 5.0], 25.0) - 2.0).abs() < 1e-12);
        assert!((percentile(&mut [3.0], 99.0) - 3.0).abs() < 1e-12);
        assert!((percentile(&mut [2.0, 1.0], 100.0) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_spread_tells_large_errors_from_many() {
        let truth = vec![1.0_f64; 2000];
        let mut found = truth.clone();
        found[7] = 3.0;
        let spread = Spread::of(&found, &truth, &mut Vec::new());
        assert_eq!((spread.largest, spread.p99, spread.p999), (2.0, 0.0, 0.0));
        assert!((spread.share - 1.0 / 2000.0).abs() < 1e-12);
        assert!((spread.rms - (4.0_f64 / 2000.0).sqrt()).abs() < 1e-12);
        assert_eq!(spread.rms_inner, 0.0);
        // A small relative error of a large value is not off.
        let found = vec![1.0 + 9e-6; 2000];
        let spread = Spread::of(&found, &truth, &mut Vec::new());
        assert_eq!(spread.share, 0.0);
        assert!((spread.p99 - 9e-6).abs() < 1e-12);
    }

    #[test]
    fn a_value_that_is_no_number_is_infinitely_off() {
        let spread = Spread::of(&[1.0, f32::NAN], &[1.0, 1.0], &mut Vec::new());
        assert!(spread.p99.is_infinite() && spread.share.is_infinite());
    }
}
