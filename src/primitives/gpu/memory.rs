//! Experiments with the memory of the device and with transfers: launchers and expected results.

use std::ops::Range;
use std::time::Instant;

use crate::cuda_abi::{DevicePointer, ReadPointer};
use crate::device::{Branch, Buffer, Gpu, Kernel, KernelSource, Launch, Pinned, Prelude, Stream};
use crate::error::Result;
use crate::primitives::gpu::arguments::MemoryArgs;
use crate::real::Precision;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Blocks of a multiprocessor, if an array is divided among all blocks that the device holds.
const RESIDENT: u32 = 8;
/// Banks of shared memory, and lanes of a warp.
pub const BANKS: usize = 32;
/// Largest stride of lanes in shared memory: a row of 32 words and one of padding.
pub const LONGEST_STEP: usize = BANKS + 1;
/// Words of shared memory within reach of the lanes.
const WORDS: usize = (BANKS - 1) * LONGEST_STEP + BANKS;
/// Words of shared memory hold the numbers below this one, cyclically.
const PATTERN: usize = 3;

/// The kernels.
pub fn source() -> KernelSource {
    let settings = [
        ("MEMORY_THREADS", THREADS as i32),
        ("MEMORY_WORDS", WORDS as i32),
        ("MEMORY_PATTERN", PATTERN as i32),
    ];
    let arguments = MemoryArgs::<f32>::cuda_text();
    let prelude = Prelude::new(Precision::F32).with(&arguments).with_settings(&settings);
    KernelSource::new("primitives/memory.cu", prelude)
}

/// Copies: the kernels, with the order in which elements are distributed among threads (all side by side in a grid-stride
/// loop, or a contiguous part for each block or thread), and the bytes of a load and a store.
pub const COPIES: [(&str, &str, usize); 9] = [
    ("memory_grid_1", "all side by side", 4),
    ("memory_grid_2", "all side by side", 8),
    ("memory_grid_4", "all side by side", 16),
    ("memory_block_1", "a piece a block", 4),
    ("memory_block_2", "a piece a block", 8),
    ("memory_block_4", "a piece a block", 16),
    ("memory_thread_1", "a piece a thread", 4),
    ("memory_thread_2", "a piece a thread", 8),
    ("memory_thread_4", "a piece a thread", 16),
];

/// An experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Experiment {
    /// A copy that reads from this element on (misalignment).
    Offset(usize),
    /// A strided copy: one in so many elements.
    Stride(usize),
    /// A copy of all elements by the kernel with this index in [`COPIES`].
    Copy(usize),
    /// Sums of words of shared memory that lanes read with a stride (bank conflicts).
    Banks {
        /// Stride of the lanes in words, up to [`LONGEST_STEP`].
        step: usize,
        /// Number of reads of the 32 words.
        rounds: usize,
    },
    /// A gather: a copy of the elements of an index list.
    Gather {
        /// `true` for loads through the read-only data path.
        read_only: bool,
    },
    /// Arithmetic: multiply-adds with constant factor and summand on each element.
    Work {
        /// Number of rounds.
        rounds: usize,
        /// Factor of a round.
        factor: f32,
        /// Summand of a round.
        summand: f32,
    },
}

impl Experiment {
    /// The name of its kernel.
    pub fn kernel(self) -> &'static str {
        match self {
            Self::Offset(_) => "memory_offset",
            Self::Stride(_) => "memory_stride",
            Self::Copy(number) => COPIES[number].0,
            Self::Banks { .. } => "memory_banks",
            Self::Gather { read_only: false } => "memory_gather",
            Self::Gather { read_only: true } => "memory_gather_read_only",
            Self::Work { .. } => "memory_work",
        }
    }

    /// Numbers of elements to read, elements to write, and indices that `count` elements need.
    pub fn needs(self, count: usize) -> [usize; 3] {
        match self {
            Self::Offset(offset) => [count + offset, count, 0],
            Self::Stride(stride) => [count * stride, count * stride, 0],
            Self::Gather { .. } => [count, count, count],
            Self::Banks { .. } => [0, count, 0],
            Self::Copy(..) | Self::Work { .. } => [count, count, 0],
        }
    }

    /// The arguments, and the number of blocks of [`THREADS`] threads, of the launch for `count` elements.
    ///
    /// # Panics
    ///
    /// If the number of elements is not a multiple of a wide load or of a block of the sums of shared memory, or the
    /// stride exceeds shared memory.
    pub fn launch(
        self,
        from: ReadPointer<f32>,
        to: DevicePointer<f32>,
        indices: ReadPointer<i32>,
        count: usize,
        multiprocessors: u32,
    ) -> (MemoryArgs<f32>, usize) {
        let mut args = MemoryArgs { from, to, indices, count: count as i64, ..Default::default() };
        let mut blocks = count.div_ceil(THREADS as usize).max(1);
        match self {
            Self::Offset(step) | Self::Stride(step) => args.step = step as i64,
            Self::Copy(..) => {
                assert!(count.is_multiple_of(4), "{count} elements are no multiple of a wide load");
                blocks = blocks.min((RESIDENT * multiprocessors) as usize);
            }
            Self::Banks { step, rounds } => {
                let is_whole = count > 0 && count.is_multiple_of(THREADS as usize);
                assert!(is_whole, "{count} sums fill no whole blocks");
                assert!(step <= LONGEST_STEP, "{step} words from lane to lane");
                (args.step, args.rounds) = (step as i64, rounds as i32);
            }
            Self::Gather { .. } => {}
            Self::Work { rounds, factor, summand } => {
                (args.rounds, args.factor, args.summand) = (rounds as i32, factor, summand);
            }
        }
        (args, blocks)
    }

    /// Expected value of element `at` of the result; `None` if the experiment does not write it.
    pub fn expected(self, from: &[f32], indices: &[i32], at: usize) -> Option<f32> {
        match self {
            Self::Offset(offset) => Some(from[at + offset]),
            Self::Stride(stride) => at.is_multiple_of(stride).then(|| from[at]),
            Self::Copy(..) => Some(from[at]),
            Self::Banks { step, rounds } => {
                let first = at % BANKS * step;
                let sum: usize = (first..first + BANKS).map(|word| word % PATTERN).sum();
                Some((sum * rounds) as f32)
            }
            Self::Gather { .. } => Some(from[indices[at] as usize]),
            Self::Work { rounds, factor, summand } => {
                Some((0..rounds).fold(from[at], |x, _| x.mul_add(factor, summand)))
            }
        }
    }
}

/// The kernels on the device.
#[derive(Debug)]
pub struct Lab {
    gpu: Gpu,
    kernels: Vec<Kernel>,
}

impl Lab {
    /// Compiles the kernels.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let module = gpu.module(&source())?;
        let others = [
            Experiment::Offset(0),
            Experiment::Stride(1),
            Experiment::Banks { step: 0, rounds: 0 },
            Experiment::Gather { read_only: false },
            Experiment::Gather { read_only: true },
            Experiment::Work { rounds: 0, factor: 0.0, summand: 0.0 },
        ];
        let copies = COPIES.into_iter().map(|(kernel, ..)| kernel);
        let names = copies.chain(others.map(Experiment::kernel));
        let kernels = names.map(|name| module.kernel(name)).collect::<Result<_>>()?;
        Ok(Self { gpu: gpu.clone(), kernels })
    }

    fn kernel(&self, experiment: Experiment) -> &Kernel {
        let is_its_own = |kernel: &&Kernel| kernel.name() == experiment.kernel();
        self.kernels.iter().find(is_its_own).expect("all kernels are there")
    }

    /// Queues an experiment on `count` elements.
    ///
    /// # Errors
    ///
    /// As [`Lab::new`].
    ///
    /// # Panics
    ///
    /// When an array is shorter than [`Experiment::needs`], when an index is beyond the array, and as
    /// [`Experiment::launch`].
    pub fn run(
        &self,
        experiment: Experiment,
        from: &Buffer<f32>,
        to: &Buffer<f32>,
        indices: &Indices,
        count: usize,
    ) -> Result<()> {
        let needs = experiment.needs(count);
        let have = [from.len(), to.len(), indices.places.len()];
        assert!(needs.iter().zip(&have).all(|(n, h)| n <= h), "{needs:?} needed, {have:?} there");
        assert!(needs[2] == 0 || indices.below <= from.len(), "indices beyond the elements");
        let (args, blocks) = experiment.launch(
            from.pointer().read(),
            to.pointer(),
            indices.places.pointer().read(),
            count,
            self.gpu.device().multiprocessors,
        );
        let launch = Launch::flat(blocks * THREADS as usize, THREADS);
        // SAFETY: the kernel takes this struct; the arrays were checked here, the indices when they were created.
        unsafe { self.kernel(experiment).launch(launch, &args) }
    }
}

/// Indices of elements, on the device.
#[derive(Debug)]
pub struct Indices {
    places: Buffer<i32>,
    /// Bound of all indices.
    below: usize,
}

impl Indices {
    /// Uploads indices.
    ///
    /// # Errors
    ///
    /// As [`Lab::new`].
    ///
    /// # Panics
    ///
    /// When an index is negative.
    pub fn new(gpu: &Gpu, places: &[i32]) -> Result<Self> {
        assert!(places.iter().all(|&place| place >= 0), "a place before the first");
        let below = places.iter().max().map_or(0, |&most| most as usize + 1);
        Ok(Self { places: gpu.upload(places)?, below })
    }
}

/// Copies to the device, work there and copies back, in parts that are distributed over several streams.
#[derive(Debug)]
pub struct Overlap<'a> {
    lab: &'a Lab,
    streams: Vec<Stream>,
    given: Pinned<f32>,
    made: Pinned<f32>,
    from: Buffer<f32>,
    to: Buffer<f32>,
}

/// Operations that a measurement includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leg {
    /// The copies to the device alone.
    There,
    /// The work alone.
    Work,
    /// The copies back alone.
    Back,
    /// All three, in order for each part.
    All,
}

impl<'a> Overlap<'a> {
    /// Allocates arrays on host and device, and creates `streams` streams.
    ///
    /// # Errors
    ///
    /// As [`Lab::new`].
    pub fn new(lab: &'a Lab, values: &[f32], streams: usize) -> Result<Self> {
        let gpu = &lab.gpu;
        let from = gpu.upload(values)?;
        let to = gpu.zeros(values.len())?;
        let mut given = Pinned::zeros(gpu, values.len())?;
        let made = Pinned::zeros(gpu, values.len())?;
        // SAFETY: the device is done with the copy before the arrays are moved.
        unsafe { given.fetch(&from, 0..from.len(), gpu.compute())? };
        gpu.synchronize()?;
        let streams = (0..streams).map(|_| Stream::new(gpu)).collect::<Result<_>>()?;
        Ok(Self { lab, streams, given, made, from, to })
    }

    /// Runs `parts` parts on `streams` streams in turn; returns the time on the host's clock until all are done, s.
    ///
    /// # Errors
    ///
    /// As [`Lab::new`].
    ///
    /// # Panics
    ///
    /// When `streams` is 0 or more than there are.
    pub fn seconds(
        &mut self,
        leg: Leg,
        work: Experiment,
        streams: usize,
        parts: usize,
    ) -> Result<f64> {
        assert!((1..=self.streams.len()).contains(&streams), "{streams} streams");
        let len = self.from.len();
        let part = len.div_ceil(parts);
        let start = Instant::now();
        let mut outcome = Ok(());
        for number in 0..parts {
            let range = (number * part).min(len)..((number + 1) * part).min(len);
            let stream = self.streams[number % streams].clone();
            outcome = self.do_part(leg, work, range, &stream);
            if outcome.is_err() {
                break;
            }
        }
        // Also after a failure: copies under way use the memory.
        for stream in &self.streams {
            stream.synchronize()?;
        }
        outcome?;
        Ok(start.elapsed().as_secs_f64())
    }

    fn do_part(
        &mut self,
        leg: Leg,
        work: Experiment,
        range: Range<usize>,
        stream: &Stream,
    ) -> Result<()> {
        if matches!(leg, Leg::There | Leg::All) {
            // SAFETY: this value owns all arrays, and all streams are waited for before the host reads or changes one.
            unsafe { self.given.send(&self.from, range.clone(), stream)? };
        }
        if matches!(leg, Leg::Work | Leg::All) {
            let (args, blocks) = work.launch(
                self.from.pointer_to(range.start).read(),
                self.to.pointer_to(range.start),
                ReadPointer::default(),
                range.len(),
                self.lab.gpu.device().multiprocessors,
            );
            let needs = work.needs(range.len());
            assert!(needs.iter().all(|&needed| needed <= range.len()) && needs[2] == 0, "{work:?}");
            let launch = Launch::flat(blocks * THREADS as usize, THREADS);
            // SAFETY: the kernel takes this struct, and reads and writes only elements of the part, whose range was
            // checked.
            unsafe { self.lab.kernel(work).launch_on(Branch::of(stream), launch, &args)? };
        }
        if matches!(leg, Leg::Back | Leg::All) {
            // SAFETY: as above.
            unsafe { self.made.fetch(&self.to, range, stream)? };
        }
        Ok(())
    }

    /// Values copied back to the host.
    pub fn made(&self) -> &[f32] {
        // SAFETY: no copy is under way outside of `seconds`.
        unsafe { self.made.values() }
    }
}
