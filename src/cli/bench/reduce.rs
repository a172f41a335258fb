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
use crate::primitives::gpu::reduce::ladder::{Ladder as Lesson, RUNGS, Rung as LessonRung};
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
                self.reduction(size, |x| x, site, record)
            } else {
                self.reduction(size, |x| R::of(f64::from(x)), site, record)
            }
        })
    }

    fn reduction<T: Reducible>(
        &self,
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
            title: format!("sum of {size} values of {}", T::NAME),
            size: size.to_string(),
            elements: size.0,
            bytes,
            precision: T::NAME,
        };
        let setting = LadderDevice::of(site.device, bytes, self.runs)?;
        let mut ladder = Ladder::new(subject, setting, record)?;
        ladder.cpu(&site.pools, self.runs, record, || reduce::sum(&values), fault)?;
        let Some(LadderDevice { gpu, slots, .. }) = setting else {
            if site.device.is_some() {
                writeln!(
                    record.out,
                    "{size} values do not fit into the memory of the GPU: left out there"
                )?;
            }
            return Ok(());
        };
        let data = Data::new(gpu, &values, slots)?;
        drop(values);
        let lesson = Lesson::new(gpu, size.0)?;
        for rung in RUNGS {
            let rung = LowerRung { lesson: &lesson, rung, data: &data, expected: expected.sum };
            ladder.rung(&rung, record)?;
        }
        let reducer = Reducer::new(gpu)?;
        let best = ("wide loads, one launch", Operation::Sum);
        for (name, operation) in [best].into_iter().chain(ASIDES) {
            let results = gpu.zeros(operation.words())?;
            let rung =
                BestRung { name, operation, reducer: &reducer, data: &data, results, expected };
            if operation == Operation::Sum {
                ladder.rung(&rung, record)?;
            } else {
                ladder.outside_ladder(&rung, record)?;
            }
        }
        Ok(())
    }
}

fn wrong<A: Copy + PartialEq + Debug>(what: &str, found: A, expected: A) -> Option<String> {
    (found != expected).then(|| format!("the {what} is {found:?}, expected {expected:?}"))
}

/// Contiguous copies of the values.
struct Data<T> {
    copies: Buffer<T>,
    length: usize,
    stride: usize,
}

impl<T: Reducible> Data<T> {
    fn new(gpu: &Gpu, values: &[T], slots: usize) -> Result<Self> {
        let length = values.len();
        let stride = length.next_multiple_of(BOUNDARY);
        let copies = gpu.zeros((slots - 1) * stride + length)?;
        copies.upload_to(0, values)?;
        for slot in 1..slots {
            copies.copy_range(slot * stride, &copies, 0..length)?;
        }
        Ok(Self { copies, length, stride })
    }
}

/// A rung below the best.
struct LowerRung<'a, T> {
    lesson: &'a Lesson<T>,
    rung: LessonRung,
    data: &'a Data<T>,
    expected: f64,
}

impl<T: Reducible> Rung for LowerRung<'_, T> {
    fn name(&self) -> &str {
        self.rung.name
    }

    fn launch(&self, slot: usize) -> Result<()> {
        let Data { copies, length, stride } = self.data;
        self.lesson.launch(self.rung, copies, slot * stride, *length)
    }

    fn invalidate(&self, _slot: usize) -> Result<()> {
        self.lesson.invalidate()
    }

    fn fault(&self, _slot: usize) -> Result<Option<String>> {
        Ok(wrong("sum", self.lesson.result()?.wide(), self.expected))
    }
}

/// The best rung.
struct BestRung<'a, T> {
    name: &'static str,
    operation: Operation,
    reducer: &'a Reducer<T>,
    data: &'a Data<T>,
    results: Buffer<u64>,
    expected: Statistics<T>,
}

impl<T: Reducible> Rung for BestRung<'_, T> {
    fn name(&self) -> &str {
        self.name
    }

    fn launch(&self, slot: usize) -> Result<()> {
        let Data { copies, length, stride } = self.data;
        let segments = Segments { first: slot * stride, ..Segments::whole(*length) };
        self.reducer.reduce(self.operation, copies, segments, &self.results)
    }

    fn invalidate(&self, _slot: usize) -> Result<()> {
        self.results.poison()
    }

    fn fault(&self, _slot: usize) -> Result<Option<String>> {
        let words = self.results.to_vec()?;
        let Statistics { extrema, sum, squares, nans } = self.expected;
        Ok(match self.operation {
            Operation::Sum => wrong("sum", T::of_word(words[0]).wide(), sum),
            Operation::SumWide => wrong("sum", T::wide_of_word(words[0]), sum),
            Operation::Max => {
                wrong("largest value", Some(T::of_word(words[0])), extrema.map(|e| e.max))
            }
            Operation::MaxAt => {
                let expected = extrema.map(|e| (e.max, e.max_at));
                wrong("largest value with its place", located::<T>(&words), expected)
            }
            Operation::SquaresWide => wrong("sum of squares", T::wide_of_word(words[0]), squares),
            Operation::NanCount => wrong("count", words[0] as usize, nans),
            Operation::Statistics => {
                wrong("set of results", statistics_of::<T>(&words), self.expected)
            }
            other => Some(format!("{other:?} is not looked at")),
        })
    }
}
