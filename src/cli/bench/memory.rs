//! Experiments with the memory of the GPU and with transfers. Each is a curve, with the result of the classical lesson
//! on a GTX 280 of 2008 and its conclusion.

mod transfers;

use rayon::prelude::*;

use super::ladder::{Row, Subject, repeated_times, verdict};
use super::measurement::{Processor, Timing};
use super::record::Record;
use super::table::digits;
use super::{Bench, Site};
use crate::device::{Buffer, Gpu};
use crate::error::Result;
use crate::primitives::gpu::memory::{BANKS, COPIES, Experiment, Indices, Lab, THREADS};

/// Elements of an array: four times the cache of a large device.
const ELEMENTS: usize = 1 << 26;
/// Share of the free memory that the arrays may take.
const MEMORY_SHARE: usize = 4;
/// Rounds of reads of 32 words by each lane: some tenths of a millisecond.
const ROUNDS: usize = 200;
/// Stride of the elements that are checked, not a power of two.
const CHECKED: usize = 1009;

/// Published result of a lesson, if any, and its conclusion.
struct Lesson {
    title: &'static str,
    published: Option<&'static str>,
    teaches: &'static str,
}

const OFFSET: Lesson = Lesson {
    title: "offset: a copy that starts n elements after an aligned address",
    published: None,
    teaches: "a warp's 128 bytes are fetched in sectors of 32 bytes, and the next warp finds the \
              excess in the cache: misalignment costs almost nothing",
};
const STRIDE: Lesson = Lesson {
    title: "stride: a copy of every n-th element; GB/s of the elements that are used",
    published: Some(
        "transpose of 4000x4000: copy 112.4 GB/s, strided writes 5.3, strided both \
                     ways 2.7",
    ),
    teaches: "memory is fetched in sectors of 32 bytes: from stride 8 on seven eighths of the \
              traffic are unused, so adjacent threads should read adjacent elements (coalesced \
              access)",
};
const COPYING: Lesson = Lesson {
    title: "width and pattern: a copy by loads of 4, 8 or 16 bytes, distributed among threads in \
            three ways",
    published: Some("copy in the transpose of 4000x4000: 112.4 GB/s"),
    teaches: "coalesced loads of any width come near the limit, wide ones with fewer \
              instructions; a contiguous piece for each thread, natural on a CPU, makes the loads \
              of a warp strided",
};
const SHARED: Lesson = Lesson {
    title: "banks: loads from shared memory with n words between the lanes of a warp",
    published: Some("transpose of 4000x4000 by tiles: 75.1 GB/s with conflicts, 93.4 with padding"),
    teaches: "loads of different words of one bank are serialised; one word for all lanes is \
              broadcast, and rows padded to 33 words have no bank conflicts in their columns",
};
const GATHER: Lesson = Lesson {
    title: "gather: elements at random indices within a window; GB/s of indices and values",
    published: None,
    teaches: "random reads are cheap if their window fits into a cache; otherwise each fetches a \
              sector of 32 bytes for 4, so sort the indices",
};
const READ_ONLY: Lesson = Lesson {
    title: "read-only path: the same gathers by loads for read-only data",
    published: None,
    teaches: "early devices cached textures and constants only; today all loads use the same \
              cache, and the read-only path gains little",
};

impl Bench {
    /// Runs all experiments.
    pub(super) fn memory(&self, device: Option<&Gpu>, record: &mut Record) -> Result<()> {
        let Some(device) = device else {
            writeln!(record.out, "\nmemory: without a GPU there is nothing to measure")?;
            return Ok(());
        };
        writeln!(record.out)?;
        let copy = Site::copy_speed(device, self.runs, record)?;
        let [free, _] = device.memory()?;
        // Two arrays and the indices, and another half for everything else.
        let possible = free / MEMORY_SHARE / (4 * size_of::<f32>());
        let elements = ELEMENTS.min(1 << possible.max(1).ilog2());
        let lab = Lab::new(device)?;
        let mut curves = Curves { gpu: device, copy, runs: self.runs, lab: &lab, record };
        curves.on_device(elements)?;
        curves.transfers()?;
        curves.overlap()
    }
}

/// The experiments being run.
struct Curves<'a, 'o> {
    gpu: &'a Gpu,
    copy: f64,
    runs: u32,
    lab: &'a Lab,
    record: &'a mut Record<'o>,
}

/// Arrays of the experiments on the device.
struct Arrays {
    values: Vec<f32>,
    from: Buffer<f32>,
    to: Buffer<f32>,
}

/// One point of a curve.
struct Point {
    label: String,
    experiment: Experiment,
    elements: usize,
}

impl Point {
    fn new(label: String, experiment: Experiment, elements: usize) -> Self {
        Self { label, experiment, elements }
    }
}

/// Words that an experiment moves for each element.
fn words(experiment: Experiment) -> usize {
    match experiment {
        Experiment::Banks { rounds, .. } => rounds * BANKS,
        Experiment::Gather { .. } => 3,
        _ => 2,
    }
}

impl Lesson {
    fn name(&self) -> &str {
        self.title.split(':').next().unwrap_or_default()
    }

    fn head(&self, record: &mut Record) -> Result<()> {
        writeln!(record.out, "\n{}", self.title)?;
        writeln!(record.out, "  {:<26} {:>11} {:>9} {:>7}", "", "us", "GB/s", "% copy")?;
        Ok(())
    }

    fn tail(&self, record: &mut Record) -> Result<()> {
        writeln!(record.out, "  GTX 280: {}", self.published.unwrap_or("not published there"))?;
        writeln!(record.out, "  It teaches: {}.", self.teaches)?;
        Ok(())
    }
}

impl Curves<'_, '_> {
    fn on_device(&mut self, elements: usize) -> Result<()> {
        let values: Vec<f32> =
            (0..elements as u64).into_par_iter().map(|at| (mixed(at) % 4096) as f32).collect();
        // The longest offset reads beyond the elements that are copied.
        let arrays =
            Arrays { from: self.gpu.upload(&values)?, to: self.gpu.zeros(elements)?, values };
        let none = (Indices::new(self.gpu, &[])?, Vec::new());
        let count = elements - 4 * THREADS as usize;
        let offsets = [0, 1, 2, 4, 8, 16, 31, 32].map(|offset| {
            Point::new(format!("{offset} elements"), Experiment::Offset(offset), count)
        });
        self.curve(&OFFSET, &arrays, &none, offsets)?;
        let strides = [1, 2, 3, 4, 8, 16, 32].map(|stride| {
            Point::new(format!("one in {stride}"), Experiment::Stride(stride), elements / stride)
        });
        self.curve(&STRIDE, &arrays, &none, strides)?;
        let copies = COPIES.into_iter().enumerate().map(|(number, (_, pieces, bytes))| {
            Point::new(format!("{pieces}, {bytes} bytes"), Experiment::Copy(number), elements)
        });
        self.curve(&COPYING, &arrays, &none, copies)?;
        self.banks(&arrays, &none)?;
        self.gathers(&arrays)
    }

    /// Measures the points of a lesson, all with one list of places.
    fn curve(
        &mut self,
        lesson: &Lesson,
        arrays: &Arrays,
        list: &(Indices, Vec<i32>),
        points: impl IntoIterator<Item = Point>,
    ) -> Result<()> {
        lesson.head(self.record)?;
        points.into_iter().try_for_each(|point| self.point(lesson, arrays, list, point))?;
        lesson.tail(self.record)
    }

    fn banks(&mut self, arrays: &Arrays, none: &(Indices, Vec<i32>)) -> Result<()> {
        /// Blocks of a multiprocessor.
        const BLOCKS: u32 = 8;
        let count = (BLOCKS * THREADS * self.gpu.device().multiprocessors) as usize;
        let count = count.min(arrays.values.len() / THREADS as usize * THREADS as usize);
        let steps = [
            (1, "no conflict"),
            (2, "2 ways"),
            (4, "4 ways"),
            (8, "8 ways"),
            (16, "16 ways"),
            (32, "32 ways"),
            (33, "32 and 1 of padding"),
            (0, "the same for all"),
        ];
        let points = steps.map(|(step, what)| {
            let experiment = Experiment::Banks { step, rounds: ROUNDS };
            Point::new(format!("{step} words, {what}"), experiment, count)
        });
        self.curve(&SHARED, arrays, none, points)
    }

    fn gathers(&mut self, arrays: &Arrays) -> Result<()> {
        let elements = arrays.values.len();
        let windows = [0, 5, 10, 15, 20, 26].map(|power| (1 << power).min(elements));
        for (lesson, read_only) in [(&GATHER, false), (&READ_ONLY, true)] {
            lesson.head(self.record)?;
            for window in windows {
                // The windows are powers of two, and so is the length of the array.
                let places: Vec<i32> = (0..elements)
                    .into_par_iter()
                    .map(|at| (at - at % window + mixed(at as u64) as usize % window) as i32)
                    .collect();
                let list = (Indices::new(self.gpu, &places)?, places);
                let label = match window {
                    1 => "in order".to_owned(),
                    _ if window == elements => "anywhere".to_owned(),
                    _ => format!("within {} KiB", 4 * window / 1024),
                };
                let point = Point::new(label, Experiment::Gather { read_only }, elements);
                self.point(lesson, arrays, &list, point)?;
            }
            lesson.tail(self.record)?;
        }
        Ok(())
    }

    /// Times an experiment and checks its result.
    fn point(
        &mut self,
        lesson: &Lesson,
        arrays: &Arrays,
        (indices, places): &(Indices, Vec<i32>),
        Point { label, experiment, elements: count }: Point,
    ) -> Result<()> {
        let Arrays { values, from, to } = arrays;
        to.poison()?;
        let run = || self.lab.run(experiment, from, to, indices, count);
        run()?;
        let made = to.to_vec()?;
        let [_, written, _] = experiment.needs(count);
        let wrong = (0..written).into_par_iter().step_by(CHECKED).find_map_first(|at| {
            let expected = experiment.expected(values, places, at)?;
            let (name, found) = (lesson.name(), made[at]);
            (found != expected).then(|| {
                format!("memory, {name}, {label}: element {at} is {found}, not {expected}")
            })
        });
        let times = repeated_times(self.runs, || self.gpu.elapsed(run))?;
        let size = [count, count * words(experiment) * size_of::<f32>()];
        let is_like_copy = !matches!(experiment, Experiment::Banks { .. });
        self.add(lesson, &label, size, (Timing::Events, times), is_like_copy, wrong)
    }

    /// Shows and records the times of one point.
    fn add(
        &mut self,
        lesson: &Lesson,
        label: &str,
        [elements, bytes]: [usize; 2],
        (timing, times): (Timing, Vec<f64>),
        is_like_copy: bool,
        wrong: Option<String>,
    ) -> Result<()> {
        let subject = Subject {
            bench: "memory",
            title: lesson.title.to_owned(),
            size: elements.to_string(),
            elements,
            bytes,
            precision: "f32",
        };
        let variant = format!("{}: {label}", lesson.name());
        let place = (&Processor::gpu(self.gpu, self.copy), timing);
        let mut row = Row::new(&subject, variant, place, times, wrong.is_none());
        row.percent_of_copy = row.percent_of_copy.filter(|_| is_like_copy);
        let line = format!(
            "  {label:<26} {:>11.2} {:>9.2} {:>7}{}",
            row.measured.median_s * 1e6,
            row.gb_per_s,
            digits(row.percent_of_copy, 1),
            verdict(wrong.is_none())
        );
        self.record.show(&line, &row)?;
        self.record.faults.extend(wrong);
        Ok(())
    }
}

/// Pseudorandom bits that depend on the number only.
///
/// Source: the output function of splitmix64, Steele, Lea, Flood 2014, Proc. OOPSLA, 453-472.
pub(super) fn mixed(at: u64) -> u64 {
    let z = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
