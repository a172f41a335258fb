//! Sums, extrema and counts over slices, independent of the number of threads.
//!
//! A slice is cut into chunks of [`CHUNK`] values for any number of threads, and the results of chunks are combined
//! along a fixed binary tree. So the bits of a result depend on the values and their order alone.
//!
//! Sums are accumulated in double precision. With `u = 2⁻⁵³` and n values their error is at most `(CHUNK / LANES +
//! LANES + log2(n / CHUNK)) u Σ|x|`; products of single-precision values are exact, those of double-precision ones add
//! another `u Σ|x y|`. Sums of integers are exact as long as no partial sum exceeds 2⁵³.

use std::fmt::Debug;
use std::ops::Range;

use rayon::prelude::*;

use crate::real::Real;

/// Values of a chunk, which one thread reduces.
pub const CHUNK: usize = 2048;

/// Running sums within a chunk, which fit into one or two vector registers.
const LANES: usize = 8;

/// Chunks from which on several threads are faster.
pub(super) const PARALLEL_CHUNKS: usize = 16;

/// A number that can be reduced: of one of the two precisions, or a 32-bit integer.
pub trait Number: Copy + PartialEq + PartialOrd + Debug + Send + Sync + 'static {
    /// The same number in double precision.
    fn wide(self) -> f64;

    /// Returns `true` unless it is NaN.
    fn is_a_number(self) -> bool;
}

impl Number for i32 {
    fn wide(self) -> f64 {
        self.into()
    }

    fn is_a_number(self) -> bool {
        true
    }
}

impl<R: Real> Number for R {
    #[inline(always)]
    fn wide(self) -> f64 {
        self.f64()
    }

    #[inline(always)]
    fn is_a_number(self) -> bool {
        !self.is_nan()
    }
}

/// The sum of all values, `Σ x`; 0 for an empty slice.
pub fn sum<R: Number>(values: &[R]) -> f64 {
    sum_pairs(values, values, |x, _| x)
}

/// The scalar product of two vectors, `Σ x y`; 0 for empty ones.
///
/// # Panics
///
/// When the lengths differ.
pub fn dot<R: Number>(x: &[R], y: &[R]) -> f64 {
    assert_eq!(x.len(), y.len(), "a scalar product needs two vectors of the same length");
    sum_pairs(x, y, |x, y| x * y)
}

/// The sum of the squares of all values, `Σ x²`; 0 for an empty slice.
pub fn sum_of_squares<R: Number>(values: &[R]) -> f64 {
    dot(values, values)
}

/// The smallest and the largest value, and the index of the first occurrence of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extrema<R> {
    /// The smallest value.
    pub min: R,
    /// Index of its first occurrence.
    pub min_at: usize,
    /// The largest value.
    pub max: R,
    /// Index of its first occurrence.
    pub max_at: usize,
}

impl<R: Real> Extrema<R> {
    /// The largest magnitude.
    pub fn magnitude(&self) -> R {
        self.max.larger(-self.min)
    }
}

impl<R: Number> Extrema<R> {
    fn join(self, later: Self) -> Self {
        let (min, min_at) =
            if later.min < self.min { (later.min, later.min_at) } else { (self.min, self.min_at) };
        let (max, max_at) =
            if later.max > self.max { (later.max, later.max_at) } else { (self.max, self.max_at) };
        Self { min, min_at, max, max_at }
    }
}

/// The smallest and the largest value without NaN; `None` if there is no other value.
pub fn extrema<R: Number>(values: &[R]) -> Option<Extrema<R>> {
    let of_chunk = |chunk: Range<usize>| extrema_of_chunk(values, chunk);
    reduce(values.len(), &of_chunk, &join_extrema).flatten()
}

fn extrema_of_chunk<R: Number>(values: &[R], chunk: Range<usize>) -> Option<Extrema<R>> {
    let mut found: Option<Extrema<R>> = None;
    for at in chunk {
        let x = values[at];
        if x.is_a_number() {
            let one = Extrema { min: x, min_at: at, max: x, max_at: at };
            found = Some(found.map_or(one, |known| known.join(one)));
        }
    }
    found
}

fn join_extrema<R: Number>(
    earlier: Option<Extrema<R>>,
    later: Option<Extrema<R>>,
) -> Option<Extrema<R>> {
    match (earlier, later) {
        (Some(a), Some(b)) => Some(a.join(b)),
        (a, b) => a.or(b),
    }
}

/// Number of NaN values; infinite ones do not count.
pub fn nan_count<R: Number>(values: &[R]) -> usize {
    let of_chunk = |chunk: Range<usize>| values[chunk].iter().filter(|x| !x.is_a_number()).count();
    reduce(values.len(), &of_chunk, &|a, b| a + b).unwrap_or(0)
}

/// Statistics of a field, computed in one pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics<R> {
    /// The smallest and the largest value; `None` if all are NaN.
    pub extrema: Option<Extrema<R>>,
    /// The sum of all values; NaN if one of them is.
    pub sum: f64,
    /// The sum of the squares of all values; NaN if one of them is.
    pub squares: f64,
    /// Number of NaN.
    pub nans: usize,
}

impl<R: Number> Statistics<R> {
    fn join(self, later: Self) -> Self {
        Self {
            extrema: join_extrema(self.extrema, later.extrema),
            sum: self.sum + later.sum,
            squares: self.squares + later.squares,
            nans: self.nans + later.nans,
        }
    }
}

/// Extrema with their indices, sums, and the count of NaN.
pub fn statistics<R: Number>(values: &[R]) -> Statistics<R> {
    let of_chunk = |chunk: Range<usize>| {
        let part = &values[chunk.clone()];
        Statistics {
            extrema: extrema_of_chunk(values, chunk),
            sum: sum_chunk(part, part, |x, _| x),
            squares: sum_chunk(part, part, |x, y| x * y),
            nans: part.iter().filter(|x| !x.is_a_number()).count(),
        }
    };
    let nothing = Statistics { extrema: None, sum: 0.0, squares: 0.0, nans: 0 };
    reduce(values.len(), &of_chunk, &Statistics::join).unwrap_or(nothing)
}

/// Segments of equal length in an array, at equal distances, such as the levels of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// First element of the first segment.
    pub first: usize,
    /// Elements of each.
    pub length: usize,
    /// Number of segments.
    pub count: usize,
    /// Distance between the beginnings of two segments, elements.
    pub stride: usize,
}

impl Segments {
    /// A single segment: all elements of an array.
    pub fn whole(length: usize) -> Self {
        Self { first: 0, length, count: 1, stride: length }
    }

    /// Contiguous segments of the same length.
    pub fn adjacent(count: usize, length: usize) -> Self {
        Self { first: 0, length, count, stride: length }
    }

    /// The elements of segment `n`.
    pub fn range(&self, number: usize) -> Range<usize> {
        let start = self.first + number * self.stride;
        start..start + self.length
    }

    /// End of the last segment.
    pub fn end(&self) -> usize {
        self.count.checked_sub(1).map_or(self.first, |last| self.range(last).end)
    }
}

/// The [`statistics`] of each segment.
///
/// # Panics
///
/// When the segments reach beyond the values.
pub fn statistics_of_segments<R: Number>(values: &[R], segments: Segments) -> Vec<Statistics<R>> {
    assert!(segments.end() <= values.len(), "{segments:?} of {} values", values.len());
    let of_one = |number| statistics(&values[segments.range(number)]);
    (0..segments.count).into_par_iter().map(of_one).collect()
}

/// Count of values that are infinite or NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NonFinite {
    /// Number of them.
    pub count: usize,
    /// Index of the first one.
    pub first: Option<usize>,
}

/// Counts the values that are infinite or NaN, and finds the first; `None` if there are none.
pub fn non_finite<R: Real>(values: &[R]) -> NonFinite {
    let of_chunk = |chunk: Range<usize>| {
        let first = chunk.start;
        let values = &values[chunk];
        let count = values.iter().filter(|x| !x.is_finite()).count();
        // The index is searched only if there is such a value, so that sound data cost one pass.
        let at = if count == 0 { None } else { values.iter().position(|x| !x.is_finite()) };
        NonFinite { count, first: at.map(|at| first + at) }
    };
    let join = |a: NonFinite, b: NonFinite| NonFinite {
        count: a.count + b.count,
        first: a.first.or(b.first),
    };
    reduce(values.len(), &of_chunk, &join).unwrap_or_default()
}

/// The sum of `term(x, y)` over all pairs.
fn sum_pairs<R: Number>(x: &[R], y: &[R], term: impl Fn(f64, f64) -> f64 + Sync) -> f64 {
    let of_chunk = |chunk: Range<usize>| sum_chunk(&x[chunk.clone()], &y[chunk], &term);
    reduce(x.len(), &of_chunk, &|a, b| a + b).unwrap_or(0.0)
}

/// The sum of `term(x, y)` over one chunk: pair n goes to lane n mod [`LANES`], lanes add in order.
fn sum_chunk<R: Number>(x: &[R], y: &[R], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let mut add = |x: &[R], y: &[R]| {
        for ((lane, x), y) in lanes.iter_mut().zip(x).zip(y) {
            *lane += term(x.wide(), y.wide());
        }
    };
    let (whole_x, whole_y) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let (rest_x, rest_y) = (whole_x.remainder(), whole_y.remainder());
    for (x, y) in whole_x.zip(whole_y) {
        add(x, y);
    }
    add(rest_x, rest_y);
    lanes.iter().sum()
}

/// Reduction of the chunks of `0..length`, joined along a fixed tree; `None` for length 0.
fn reduce<T: Send>(
    length: usize,
    of_chunk: &(impl Fn(Range<usize>) -> T + Sync),
    join: &(impl Fn(T, T) -> T + Sync),
) -> Option<T> {
    (length > 0).then(|| tree(0..length.div_ceil(CHUNK), length, of_chunk, join))
}

fn tree<T: Send>(
    chunks: Range<usize>,
    length: usize,
    of_chunk: &(impl Fn(Range<usize>) -> T + Sync),
    join: &(impl Fn(T, T) -> T + Sync),
) -> T {
    if chunks.len() == 1 {
        return of_chunk(chunks.start * CHUNK..length.min(chunks.end * CHUNK));
    }
    let middle = chunks.start + chunks.len().next_power_of_two() / 2;
    let left = || tree(chunks.start..middle, length, of_chunk, join);
    let right = || tree(middle..chunks.end, length, of_chunk, join);
    let (left, right) =
        if chunks.len() >= PARALLEL_CHUNKS { rayon::join(left, right) } else { (left(), right()) };
    join(left, right)
}
