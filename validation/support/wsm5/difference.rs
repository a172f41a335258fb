//! Differences of two results.

use ndarray::{ArrayBase, ArrayD, Data, Dimension};

use nwp_mini::real::Real;

use super::weather::{NAMES, Precision, Weather};

/// The fields and the planes of a result, by name.
pub fn named<R: Precision>(weather: &Weather<R>) -> Vec<(&'static str, ArrayD<R>)> {
    let fields = NAMES.into_iter().zip(weather.state.fields());
    fields
        .map(|(name, field)| (name, field.clone().into_dyn()))
        .chain(weather.planes().into_iter().map(|(name, plane)| (name, plane.clone().into_dyn())))
        .collect()
}

/// Descriptions of the values that differ; two NaN count as equal.
pub fn differing<R: Real>(
    found: impl IntoIterator<Item = (&'static str, ArrayD<R>)>,
    expected: impl IntoIterator<Item = (&'static str, ArrayD<R>)>,
) -> Vec<String> {
    let mut different = Vec::new();
    for ((name, found), (_, expected)) in found.into_iter().zip(expected) {
        let differ = |at: &_, x: R| x != expected[at] && !(x.is_nan() && expected[at].is_nan());
        different.extend(
            found.indexed_iter().filter(|(at, x)| differ(at, **x)).map(|(at, x)| {
                format!("{name} at {:?}: {x:e}, not {:e}", at.slice(), expected[&at])
            }),
        );
    }
    different
}

/// Asserts that all values are equal; two NaN count as equal.
pub fn expect_same_bits<R: Real>(
    about: &str,
    found: impl IntoIterator<Item = (&'static str, ArrayD<R>)>,
    expected: impl IntoIterator<Item = (&'static str, ArrayD<R>)>,
) {
    let different = differing(found, expected);
    let first = different.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
    assert!(different.is_empty(), "{about}: {} values differ\n{first}", different.len());
}

/// Statistics of the differences between the values of a field and the expected ones.
pub struct Spread {
    /// Largest distance.
    pub largest: f64,
    /// Largest expected value.
    pub range: f64,
    /// True if all values are finite.
    pub is_finite: bool,
    errors: Vec<f64>,
    worst: String,
}

impl std::fmt::Debug for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2e} of {:.2e}, {}", self.largest, self.range, self.worst)
    }
}

impl Spread {
    pub fn of<R: Real, S: Data<Elem = R>, D: Dimension>(
        found: &ArrayBase<S, D>,
        expected: &ArrayBase<S, D>,
    ) -> Self {
        let mut spread = Self {
            largest: 0.0,
            range: 0.0,
            is_finite: found.iter().all(|x| x.is_finite()),
            errors: Vec::new(),
            worst: String::new(),
        };
        for (number, (x, y)) in found.iter().zip(expected).enumerate() {
            let (x, y) = (x.f64(), y.f64());
            let error = (x - y).abs();
            if error > spread.largest {
                spread.largest = error;
                spread.worst = format!("{x:e}, not {y:e}, in element {number}");
            }
            spread.range = spread.range.max(y.abs());
            spread.errors.push(error);
        }
        spread.errors.sort_by(f64::total_cmp);
        spread
    }

    /// Part of the values that are further off than `limit`.
    pub fn share_above(&self, limit: f64) -> f64 {
        let within = self.errors.partition_point(|error| *error <= limit);
        (self.errors.len() - within) as f64 / self.errors.len() as f64
    }

    /// The distance that a part of the values does not exceed.
    pub fn percentile(&self, percent: f64) -> f64 {
        let position = percent / 100.0 * (self.errors.len() - 1) as f64;
        self.errors[position.ceil() as usize]
    }
}
