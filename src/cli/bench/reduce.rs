//! The ladder of the sum over an array, and the other operations of its best rung.

use std::fmt::Debug;

use rayon::prelude::*;

use super::ladder::{Ladder, LadderDevice, Rung, Subject};
use super::memory::mixed;
use super::record::Record;
use super::size::Elements;
use super::{Bench, Site};
use crate::device::{Buffer, Gpu};
use crate::error::Result;
use crate::primitives::gpu::reduce::ladder::{Ladder as LowerRungs, RUNGS};
use crate::primitives::gpu::reduce::{Operation, Reducer, Reducible, located, statistics_of};
use crate::primitives::reduce::{self, Segments, Statistics};
use crate::real::Real;

/// Sizes from a few multiprocessors' worth to far beyond any cache: powers of two.
const POWERS: [u32; 7] = [16, 20, 22, 24, 26, 28, 30];
/// Sizes without a GPU: up to beyond the CPU's caches.
const POWERS_ON_CPU: [u32; 4] = [16, 20, 22, 24];
/// Largest magnitude of the values: integers, about as many positive as negative, so that single precision holds
/// partial sums of many values exactly in any order.
const MOST: i64 = 8;
/// Alignment of the copies of the data, elements, as for arrays.
const BOUNDARY: usize = 64;

/// Other operations of the best rung besides the sum, as the table names them.
const ASIDES: [(&str, Operation); 6] = [
    ("  sum, gathered in 64 bits", Operation::SumWide),
    ("  largest", Operation::Max),
    ("  largest, and where", Operation::MaxAt),
    ("  sum of squares, in 64 bits", Operation::SquaresWide),
    ("  not a number", Operation::NanCount),
    ("  all of these and the smallest", Operation::Statistics),
];

/// A pseudorandom integer from -[`MOST`] to [`MOST`] that depends on its position only.
fn whole(at: u64) -> i32 {
    ((mixed(at) >> 1) as i64 % (2 * MOST + 1) - MOST) as i32
}

impl Bench {
    /// Measures the ladder on all requested sizes.
    pub(super) fn reductions<R: Real + Reducible>(
        &self,
        site: &Site,
        record: &mut Record,
    ) -> Result<()> {
        let powers: &[u32] = if site.device.is_some() { &POWERS } else { &POWERS_ON_CPU };
        let usual = powers.iter().map(|power| Elements(1 << power)).collect();
        let sizes = if self.elements.is_empty() { usual } else { self.elements.clone() };
        sizes.into_iter().try_for_each(|size| {
            if self.integers {
                Self::reduction(size, |x| x, site, record)
            } else {
                Self::reduction(size, |x| R::of(f64::from(x)), site, record)
            }
        })
    }

    fn reduction<T: Reducible>(
        size: Elements,
        of: impl Fn(i32) -> T + Sync,
        site: &Site,
        record: &mut Record,
    ) -> Result<()> {
        let bytes = size.0 * size_of::<T>();
        let values: Vec<T> = (0..size.0 as u64).into_par_iter().map(|at| of(whole(at))).collect();
        // Integers, so that any order of addition gives the same result.
        let expected = reduce::statistics(&values);
        let fault = |sum: &f64| wrong("sum", *sum, expected.sum);
        let subject = Subject {
            bench: "reduce",
            title: format!("sum of {size} values of {}", T::TYPE_NAME),
            size: size.to_string(),
            elements: size.0,
            bytes,
            precision: T::TYPE_NAME,
        };
        let mut ladder = Ladder::new(subject, site, record)?;
        ladder.cpu(record, || reduce::sum(&values), fault)?;
        let Some(LadderDevice { gpu, slots, .. }) = ladder.device else {
            if site.device.is_some() {
                writeln!(
                    record.out,
                    "{size} values do not fit into the memory of the GPU: left out there"
                )?;
            }
            return Ok(());
        };
        let (length, stride) = (size.0, size.0.next_multiple_of(BOUNDARY));
        let copies = copies_of(gpu, &values, slots)?;
        drop(values);
        let lower = LowerRungs::new(gpu, length)?;
        for rung in RUNGS {
            let rung = Rung {
                name: rung.name,
                is_step: true,
                launch: &|slot| lower.launch(rung, &copies, slot * stride, length),
                invalidate: &|_| lower.invalidate(),
                fault: &|_| Ok(wrong("sum", lower.result()?.wide(), expected.sum)),
            };
            ladder.rung(&rung, record)?;
        }
        let reducer = Reducer::new(gpu)?;
        let best = ("wide loads, one launch", Operation::Sum);
        for (name, operation) in [best].into_iter().chain(ASIDES) {
            let results = gpu.zeros(operation.words())?;
            let segments = |slot| Segments { first: slot * stride, ..Segments::whole(length) };
            let rung = Rung {
                name,
                is_step: operation == Operation::Sum,
                launch: &|slot| reducer.reduce(operation, &copies, segments(slot), &results),
                invalidate: &|_| results.poison(),
                fault: &|_| Ok(fault_of(operation, &results.to_vec()?, expected)),
            };
            ladder.rung(&rung, record)?;
        }
        Ok(())
    }
}

fn wrong<A: Copy + PartialEq + Debug>(what: &str, found: A, expected: A) -> Option<String> {
    (found != expected).then(|| format!("the {what} is {found:?}, expected {expected:?}"))
}

/// Contiguous copies of the values, at multiples of [`BOUNDARY`].
fn copies_of<T: Reducible>(gpu: &Gpu, values: &[T], slots: usize) -> Result<Buffer<T>> {
    let length = values.len();
    let stride = length.next_multiple_of(BOUNDARY);
    let copies = gpu.zeros((slots - 1) * stride + length)?;
    copies.upload_to(0, values)?;
    for slot in 1..slots {
        copies.copy_range(slot * stride, &copies, 0..length)?;
    }
    Ok(copies)
}

/// Fault of the words of a result of the best rung.
fn fault_of<T: Reducible>(
    operation: Operation,
    words: &[u64],
    expected: Statistics<T>,
) -> Option<String> {
    let Statistics { extrema, sum, squares, nans } = expected;
    match operation {
        Operation::Sum => wrong("sum", T::of_word(words[0]).wide(), sum),
        Operation::SumWide => wrong("sum", T::wide_of_word(words[0]), sum),
        Operation::Max => {
            wrong("largest value", Some(T::of_word(words[0])), extrema.map(|e| e.max))
        }
        Operation::MaxAt => {
            let largest = extrema.map(|e| (e.max, e.max_at));
            wrong("largest value with its place", located::<T>(words), largest)
        }
        Operation::SquaresWide => wrong("sum of squares", T::wide_of_word(words[0]), squares),
        Operation::NanCount => wrong("count", words[0] as usize, nans),
        Operation::Statistics => wrong("set of results", statistics_of::<T>(words), expected),
        other => Some(format!("{other:?} is not looked at")),
    }
}
