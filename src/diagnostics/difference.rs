//! Differences of two fields, value by value.

/// A type of values that can be compared.
pub trait Value: Copy {
    /// The value in double precision; an integer beyond 2⁵³ is rounded.
    fn wide(self) -> f64;

    /// Returns `true` if the two are bitwise equal; all NaN count as equal.
    fn is_same(self, other: Self) -> bool;

    /// Distance in representable values (ULP); 0 for integers.
    fn steps(self, other: Self) -> u64;
}

/// Distance of two floating-point numbers of one format in representable values.
///
/// Numbers of one sign are ordered as their bits without the sign; numbers of opposite signs are as far apart as their
/// distances from zero together.
fn steps_between([a, b]: [u64; 2], sign: u64) -> u64 {
    let magnitude = |bits: u64| bits & (sign - 1);
    if (a ^ b) & sign == 0 {
        magnitude(a).abs_diff(magnitude(b))
    } else {
        magnitude(a) + magnitude(b)
    }
}

/// Floating-point numbers.
macro_rules! floating {
    ($($number:ty, $sign:literal;)*) => {$(
        impl Value for $number {
            fn wide(self) -> f64 {
                self.into()
            }

            fn is_same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }

            fn steps(self, other: Self) -> u64 {
                steps_between([self.to_bits().into(), other.to_bits().into()], 1 << $sign)
            }
        }
    )*};
}

floating!(f32, 31; f64, 63;);

/// Integers.
macro_rules! whole {
    ($($number:ty)*) => {$(
        impl Value for $number {
            fn wide(self) -> f64 {
                self as f64
            }

            fn is_same(self, other: Self) -> bool {
                self == other
            }

            fn steps(self, _other: Self) -> u64 {
                0
            }
        }
    )*};
}

whole!(i64 u64);

/// Root of a sum of squares without overflow or underflow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct RootSum {
    /// The largest value so far.
    scale: f64,
    /// The sum of the squares, in units of the square of the scale.
    squares: f64,
}

impl RootSum {
    fn add(&mut self, x: f64) {
        let x = x.abs();
        if x == 0.0 {
            return;
        }
        if x > self.scale {
            let ratio = self.scale / x;
            self.squares = 1.0 + self.squares * ratio * ratio;
            self.scale = x;
        } else {
            let ratio = x / self.scale;
            self.squares += ratio * ratio;
        }
    }

    fn mean(&self, count: u64) -> f64 {
        if count == 0 { 0.0 } else { self.scale * (self.squares / count as f64).sqrt() }
    }
}

/// The largest difference and its position, in the units of the fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// Position: the linear index in the whole field.
    pub index: u64,
    /// The two values.
    pub values: [f64; 2],
}

/// Tolerances of a difference; see [`Difference::add`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Band {
    /// Absolute part.
    pub atol: f64,
    /// Part relative to the first of the two values.
    pub rtol: f64,
}

/// The difference of two fields, accumulated part by part, in their units.
///
/// Errors are of pairs of finite values. NaN equals NaN, and an infinity equals the same infinity; any other pair with
/// a value that is not finite is unmatched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// Number of pairs.
    pub values: u64,
    /// Pairs that differ in any bit, including unmatched ones.
    pub differing: u64,
    /// Index of the first pair that differs.
    pub first_differing: Option<u64>,
    /// Pairs with a value that is not finite and that the other value does not match.
    pub unmatched: u64,
    /// Index of the first unmatched pair.
    pub first_unmatched: Option<u64>,
    /// Finite pairs beyond the tolerated band.
    pub beyond: u64,
    /// Smallest and largest finite value of each field.
    pub range: [Option<[f64; 2]>; 2],
    /// NaNs in each field.
    pub nan: [u64; 2],
    /// Infinite values in each field.
    pub infinite: [u64; 2],
    /// The largest error.
    pub max_abs: f64,
    /// Position of the largest difference; `None` if that is zero.
    pub worst: Option<Worst>,
    /// The largest error in ULP.
    pub max_ulp: u64,
    finite: u64,
    sum_abs: f64,
    errors: RootSum,
    references: RootSum,
}

impl Difference {
    /// Adds the next part of the two fields.
    ///
    /// A pair of finite values is beyond the tolerance if |a - b| > atol + rtol |a|.
    pub fn add<T: Value>(&mut self, band: Band, a: &[T], b: &[T]) {
        debug_assert_eq!(a.len(), b.len());
        for (&a, &b) in a.iter().zip(b) {
            self.add_pair(band, a, b);
        }
    }

    /// Adds the next part of two fields that are compared for equality only.
    pub(crate) fn add_equality<T: PartialEq>(&mut self, a: &[T], b: &[T]) {
        debug_assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            if a != b {
                self.note_differing();
            }
            self.values += 1;
        }
    }

    fn note_differing(&mut self) {
        self.differing += 1;
        self.first_differing.get_or_insert(self.values);
    }

    fn add_pair<T: Value>(&mut self, band: Band, a: T, b: T) {
        let is_same = a.is_same(b);
        if !is_same {
            self.note_differing();
        }
        let wide = [a.wide(), b.wide()];
        for (side, x) in wide.into_iter().enumerate() {
            self.nan[side] += u64::from(x.is_nan());
            self.infinite[side] += u64::from(x.is_infinite());
            if x.is_finite() {
                let [low, high] = self.range[side].get_or_insert([x, x]);
                (*low, *high) = (low.min(x), high.max(x));
            }
        }
        if wide.iter().all(|x| x.is_finite()) {
            self.add_finite(band, wide);
            if !is_same {
                self.max_ulp = self.max_ulp.max(a.steps(b));
            }
        } else if !is_same {
            self.unmatched += 1;
            self.first_unmatched.get_or_insert(self.values);
        }
        self.values += 1;
    }

    fn add_finite(&mut self, band: Band, [a, b]: [f64; 2]) {
        let error = (a - b).abs();
        self.finite += 1;
        self.references.add(a);
        if error == 0.0 {
            return;
        }
        self.sum_abs += error;
        self.errors.add(error);
        self.beyond += u64::from(error > band.atol + band.rtol * a.abs());
        if error > self.max_abs {
            self.max_abs = error;
            self.worst = Some(Worst { index: self.values, values: [a, b] });
        }
    }

    /// Mean of the errors.
    pub(crate) fn mean_abs(&self) -> f64 {
        if self.finite == 0 { 0.0 } else { self.sum_abs / self.finite as f64 }
    }

    /// Root of the mean square of the errors.
    pub fn rms(&self) -> f64 {
        self.errors.mean(self.finite)
    }

    /// Root mean square of the first field over the pairs of finite values.
    pub(crate) fn rms_of_first(&self) -> f64 {
        self.references.mean(self.finite)
    }

    /// Root mean square of the errors in per cent of that of the first field; `None` if the first field is zero and the
    /// second is not.
    pub(crate) fn relative_percent(&self) -> Option<f64> {
        match (self.rms(), self.rms_of_first()) {
            (0.0, _) => Some(0.0),
            (_, 0.0) => None,
            (rms, reference) => Some(100.0 * rms / reference),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lead_through_zero_and_the_denormals() {
        let tiny = f32::from_bits(1);
        assert_eq!(1.0_f32.steps(1.0 + f32::EPSILON), 1);
        assert_eq!(0.0_f32.steps(-0.0), 0);
        assert_eq!(tiny.steps(-tiny), 2);
        assert_eq!(f32::MIN_POSITIVE.steps(0.0), 1 << 23);
        assert_eq!((-f64::MAX).steps(f64::MAX), 2 * f64::MAX.to_bits());
        assert_eq!(f64::from_bits(3).steps(-f64::from_bits(2)), 5);
    }

    #[test]
    fn roots_of_squares_neither_overflow_nor_vanish() {
        for scale in [1.0, 1e-320, 1e300] {
            let mut sum = RootSum::default();
            for x in [3.0, 0.0, 4.0, 12.0] {
                sum.add(x * scale);
            }
            let expected = 6.5 * scale;
            assert!((sum.mean(4) - expected).abs() <= 0.01 * expected, "{scale:e}");
        }
    }

    #[test]
    fn values_that_are_no_numbers() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        let mut difference = Difference::default();
        let band = Band { atol: f64::INFINITY, rtol: 0.0 };
        difference.add(band, &[nan, 1.0, inf, inf, 2.0], &[-nan, nan, inf, -inf, 5.0]);
        assert_eq!(difference.values, 5);
        assert_eq!((difference.differing, difference.first_differing), (3, Some(1)));
        assert_eq!((difference.unmatched, difference.first_unmatched), (2, Some(1)));
        assert_eq!((difference.nan, difference.infinite), ([1, 2], [2, 2]));
        assert_eq!(difference.range, [Some([1.0, 2.0]), Some([5.0, 5.0])]);
        assert_eq!((difference.max_abs, difference.beyond), (3.0, 0));
        assert_eq!(difference.worst, Some(Worst { index: 4, values: [2.0, 5.0] }));
    }

    #[test]
    fn parts_make_a_whole() {
        let (a, b) = ([1.0, 2.0, 3.0, 4.0], [1.0, 2.5, 3.0, 5.0]);
        let band = Band { atol: 0.1, rtol: 0.21 };
        let [mut whole, mut parts] = [Difference::default(), Difference::default()];
        whole.add(band, &a, &b);
        parts.add(band, &a[..1], &b[..1]);
        parts.add(band, &a[1..], &b[1..]);
        assert_eq!(whole, parts);
        assert_eq!((whole.beyond, whole.mean_abs()), (1, 0.375));
        assert!(
            (whole.relative_percent().unwrap() - 100.0 * (1.25_f64 / 30.0).sqrt()).abs() < 1e-12
        );
    }
}
