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

/// Lengths for comparisons with other libraries, powers of two, and of fields in one launch: the levels of six fields of
/// a storm and of a large grid.
const POWERS_OF_PAIRS: [u32; 8] = [16, 18, 20, 22, 24, 26, 28, 30];
const FIELDS: [Segments; 2] = [
    Segments { first: 0, length: 71 * 58, count: 6 * 27, stride: 71 * 58 },
    Segments { first: 0, length: 1 << 20, count: 27, stride: 1 << 20 },
];
/// Operations for comparisons, as the table names them.
const OF_PAIRS: [(&str, Operation); 3] =
    [("sum", Operation::Sum), ("largest", Operation::Max), ("scalar product", Operation::Dot)];

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
        if site.peers.is_some() {
            return self.reduction_pairs::<R>(site, record);
        }
        sizes.into_iter().try_for_each(|size| {
            if self.integers {
                Self::reduction(size, |x| x, site, record)
            } else {
                Self::reduction(size, |x| R::of(f64::from(x)), site, record)
            }
        })
    }

    /// Times reductions by turns with those of another library, on all requested lengths.
    fn reduction_pairs<R: Real + Reducible>(&self, site: &Site, record: &mut Record) -> Result<()> {
        let usual = POWERS_OF_PAIRS.iter().map(|power| 1 << power).collect();
        let lengths: Vec<usize> = match &self.elements[..] {
            [] => usual,
            given => given.iter().map(|elements| elements.0).collect(),
        };
        let arrays = lengths.into_iter().map(Segments::whole);
        for segments in arrays.chain(FIELDS) {
            for (name, operation) in OF_PAIRS {
                if self.integers {
                    Self::reduction_pair::<i32>((name, operation), segments, |x| x, site, record)?;
                } else {
                    let of = |x| R::of(f64::from(x));
                    Self::reduction_pair((name, operation), segments, of, site, record)?;
                }
            }
        }
        Ok(())
    }

    fn reduction_pair<T: Reducible>(
        (name, operation): (&str, Operation),
        segments: Segments,
        of: impl Fn(i32) -> T + Sync,
        site: &Site,
        record: &mut Record,
    ) -> Result<()> {
        let Segments { length, count, .. } = segments;
        let sums_only = T::IS_WHOLE || count > 1;
        if operation == Operation::Dot && sums_only || operation == Operation::Max && count > 1 {
            return Ok(());
        }
        let all = segments.end();
        let arrays = 1 + usize::from(operation.takes_two());
        let size =
            if count > 1 { format!("{count}x{length}") } else { Elements(length).to_string() };
        let subject = Subject {
            bench: "reduce",
            title: format!("{name} of {size} values of {}", T::TYPE_NAME),
            size,
            elements: all,
            bytes: arrays * all * size_of::<T>(),
            precision: T::TYPE_NAME,
        };
        let mut ladder = Ladder::new(subject, site, record)?;
        let (Some(LadderDevice { gpu, slots, .. }), Some(library)) = (ladder.device, site.peers)
        else {
            return Ok(());
        };
        let whole_at = |at: u64| (whole(at), whole(!at));
        let values = |second: bool| -> Vec<T> {
            let one = |at| if second { of(whole_at(at).1) } else { of(whole_at(at).0) };
            (0..all as u64).into_par_iter().map(one).collect()
        };
        let expected: Vec<f64> = (0..count)
            .map(|segment| {
                let range = segments.range(segment);
                let range = (range.start as u64..range.end as u64).into_par_iter().map(whole_at);
                match operation {
                    Operation::Dot => range.map(|(x, y)| i64::from(x * y)).sum::<i64>() as f64,
                    Operation::Max => range.map(|(x, _)| i64::from(x)).max().unwrap_or(0) as f64,
                    _ => range.map(|(x, _)| i64::from(x)).sum::<i64>() as f64,
                }
            })
            .collect();
        let x = copies_of(gpu, &values(false), slots)?;
        let y =
            if operation.takes_two() { Some(copies_of(gpu, &values(true), slots)?) } else { None };
        let pair = [&x, y.as_ref().unwrap_or(&x)];
        let results = gpu.zeros(count)?;
        let stride = all.next_multiple_of(BOUNDARY);
        let at = |slot: usize| Segments { first: slot * stride, ..segments };
        let reducer = Reducer::new(gpu)?;
        let rung = Rung {
            name: "wide loads, one launch",
            is_step: true,
            launch: &|slot| {
                if operation.takes_two() {
                    reducer.reduce_pair(operation, pair, at(slot), &results)
                } else {
                    reducer.reduce(operation, &x, at(slot), &results)
                }
            },
            invalidate: &|_| results.poison(),
            fault: &|_| {
                let found = results.to_vec()?.into_iter().map(|word| T::of_word(word).wide());
                Ok(found.zip(&expected).find_map(|(found, &expected)| wrong(name, found, expected)))
            },
        };
        let peers = (0..slots)
            .map(|slot| reducer.peers(library, operation, pair, at(slot), &results))
            .collect::<Result<Vec<_>>>()?;
        ladder.pairs(&rung, &peers, record)
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
