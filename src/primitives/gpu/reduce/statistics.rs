//! Statistics of segments of an array, of all of them or of some that the device has.

use super::{Operation, PACK, Reducer, Reducible, statistics_of};
use crate::device::Buffer;
use crate::error::Result;
use crate::primitives::reduce::{Segments, Statistics};

impl<T: Reducible> Reducer<T> {
    /// The statistics of each segment. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Reducer::new`].
    ///
    /// # Panics
    ///
    /// When the segments reach beyond the array.
    pub fn statistics(&self, values: &Buffer<T>, segments: Segments) -> Result<Vec<Statistics<T>>> {
        let operation = Operation::Statistics;
        let results = self.gpu.zeros(segments.count * operation.words())?;
        self.reduce(operation, values, segments, &results)?;
        let words = results.to_vec()?;
        Ok(words.chunks_exact(operation.words()).map(statistics_of).collect())
    }

    /// Statistics of some of `count` adjacent segments of the same length, each with its number and its values. The bits are
    /// those of [`Reducer::reduce`] for all segments. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Reducer::new`].
    ///
    /// # Panics
    ///
    /// When the lengths differ, or a number is not one of `count`.
    pub fn statistics_apart(
        &self,
        some: &[(usize, Vec<T>)],
        count: usize,
    ) -> Result<Vec<Statistics<T>>> {
        let Some(&first) = some.first().and_then(|(_, values)| values.first()) else {
            return Ok(Vec::new());
        };
        let (length, lanes) = (some[0].1.len(), PACK / size_of::<T>());
        let stride = length.next_multiple_of(lanes) + lanes;
        // As far behind a boundary of loads as in the array of all segments: sums depend on it.
        let begins = |n: usize| n * stride + some[n].0 * length % lanes;
        let mut values = vec![first; some.len() * stride];
        for (n, (number, segment)) in some.iter().enumerate() {
            assert!(*number < count, "segment {number} of {count}");
            values[begins(n)..][..length].copy_from_slice(segment);
        }
        let values = self.gpu.upload(&values)?;
        let (operation, words) = (Operation::Statistics, Operation::Statistics.words());
        let results = self.gpu.zeros(some.len() * words)?;
        for n in 0..some.len() {
            let segment = Segments { first: begins(n), ..Segments::whole(length) };
            let pair = [&values, &values];
            self.launch(operation, pair, (segment, count), (&results, n * words))?;
        }
        Ok(results.to_vec()?.chunks_exact(words).map(statistics_of).collect())
    }
}
