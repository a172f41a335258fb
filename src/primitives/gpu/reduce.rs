//! Reductions on the device: sums, extrema with their positions, scalar products and counts, of an array or of many
//! segments in one launch, with the same bits in every run.
//!
//! Extrema ignore NaN, the count counts NaN, and sums with NaN are NaN. Subnormal numbers keep their values, with
//! fast-math too. Infinite numbers add up as in any sum; the sum of zeros is a positive zero, and of two zeros of different
//! signs either is the largest. Sums of single-precision values are accumulated in single or in double precision. The error of a sum
//! of n values is at most `(n/t + 64) u Σ|x|`, with `u` the unit roundoff and t the number of threads, some ten
//! thousand for a long array.

pub mod ladder;
mod statistics;

use crate::device::structs;
use crate::device::{
    Buffer, Element, ForeignKernel, ForeignLibrary, ForeignTask, Gpu, Kernel, KernelSource, Launch,
    Prelude,
};
use crate::error::Result;
use crate::primitives::gpu::arguments::ReduceArgs;
use crate::primitives::reduce::{Extrema, Number, Segments, Statistics};
use crate::real::{Precision, Real};

/// Operations on the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The sum, accumulated in the type of the elements.
    Sum,
    /// The sum, accumulated in double precision, or in 64 bits for integers.
    SumWide,
    /// The smallest number.
    Min,
    /// The largest number.
    Max,
    /// The smallest number and its first position.
    MinAt,
    /// The largest number and its first position.
    MaxAt,
    /// The scalar product of two arrays, accumulated in the type of the elements.
    Dot,
    /// The scalar product, accumulated as [`Operation::SumWide`].
    DotWide,
    /// The sum of the squares, accumulated in the type of the elements.
    Squares,
    /// The sum of the squares, accumulated as [`Operation::SumWide`].
    SquaresWide,
    /// Number of elements that are NaN.
    NanCount,
    /// Both extrema with their positions, sum and sum of squares as [`Operation::SumWide`], and the count of NaN, in
    /// one pass.
    Statistics,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 12] = [
        Self::Sum,
        Self::SumWide,
        Self::Min,
        Self::Max,
        Self::MinAt,
        Self::MaxAt,
        Self::Dot,
        Self::DotWide,
        Self::Squares,
        Self::SquaresWide,
        Self::NanCount,
        Self::Statistics,
    ];

    /// Kernel name.
    pub fn kernel(self) -> &'static str {
        match self {
            Self::Sum => "reduce_sum",
            Self::SumWide => "reduce_sum_acc64",
            Self::Min => "reduce_min",
            Self::Max => "reduce_max",
            Self::MinAt => "reduce_min_at",
            Self::MaxAt => "reduce_max_at",
            Self::Dot => "reduce_dot",
            Self::DotWide => "reduce_dot_acc64",
            Self::Squares => "reduce_squares",
            Self::SquaresWide => "reduce_squares_acc64",
            Self::NanCount => "reduce_nan_count",
            Self::Statistics => "reduce_statistics_acc64",
        }
    }

    /// Words of 64 bits of a result.
    pub fn words(self) -> usize {
        match self {
            Self::MinAt | Self::MaxAt => 2,
            Self::Statistics => 7,
            _ => 1,
        }
    }

    /// Returns `true` for operations on two arrays.
    pub fn takes_two(self) -> bool {
        matches!(self, Self::Dot | Self::DotWide)
    }
}

/// A type of elements with kernels, and the decoding of its results from words.
pub trait Reducible: Number + Element {
    /// Precision that its kernels are compiled with.
    const KERNEL_PRECISION: Precision;
    /// `true` for integers.
    const IS_WHOLE: bool;
    /// Name in messages and tables.
    const TYPE_NAME: &'static str;

    /// Element in the first bytes of a word.
    fn of_word(word: u64) -> Self;

    /// Wide accumulator in a word, see [`Operation::SumWide`].
    fn wide_of_word(word: u64) -> f64;
}

impl<R: Real + Element> Reducible for R {
    const KERNEL_PRECISION: Precision = R::PRECISION;
    const IS_WHOLE: bool = false;
    const TYPE_NAME: &'static str = R::NAME;

    fn of_word(word: u64) -> Self {
        match R::PRECISION {
            Precision::F32 => R::of(f32::from_bits(word as u32).into()),
            Precision::F64 => R::of(f64::from_bits(word)),
        }
    }

    fn wide_of_word(word: u64) -> f64 {
        f64::from_bits(word)
    }
}

impl Reducible for i32 {
    /// Integer kernels use no real number; any precision will do.
    const KERNEL_PRECISION: Precision = Precision::F32;
    const IS_WHOLE: bool = true;
    const TYPE_NAME: &'static str = "i32";

    fn of_word(word: u64) -> Self {
        word as Self
    }

    fn wide_of_word(word: u64) -> f64 {
        word.cast_signed() as f64
    }
}

/// An extremum and its position from two words; `None` if there was no number.
pub fn located<T: Reducible>(words: &[u64]) -> Option<(T, usize)> {
    let at = usize::try_from(words[1].cast_signed()).ok()?;
    Some((T::of_word(words[0]), at))
}

/// Statistics from the words of [`Operation::Statistics`].
///
/// # Panics
///
/// With fewer words than the operation has.
pub fn statistics_of<T: Reducible>(words: &[u64]) -> Statistics<T> {
    let extrema = located(&words[..2]).zip(located(&words[2..4]));
    let extrema =
        extrema.map(|((min, min_at), (max, max_at))| Extrema { min, min_at, max, max_at });
    let [sum, squares] = [words[4], words[5]].map(T::wide_of_word);
    Statistics { extrema, sum, squares, nans: words[6] as usize }
}

/// Launch configuration: threads, blocks and rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReduceConfig {
    /// Threads of a block.
    pub threads: u32,
    /// Loads of 16 bytes that a thread has in flight.
    pub packs: u32,
    /// Most blocks of a multiprocessor; fewer if it cannot hold as many.
    pub blocks: u32,
    /// Fewest loads of a thread before another block is added.
    pub least: u32,
    /// `true` if a block reads a contiguous tile in a round; `false` for a grid-stride loop of all blocks.
    pub tiled: bool,
}

/// Bytes of a load.
const PACK: usize = 16;
/// Bytes of an array up to which latency counts for more than the speed of the memory.
const SHORT: usize = 2 << 20;
/// Factor of the fewest loads of a thread if there are several segments: they share the device anyway.
const FOR_SEGMENTS: u32 = 2;

impl ReduceConfig {
    /// For short arrays: more blocks with fewer loads each. The fastest on an H200 up to 2 MB, or nearly so.
    pub const SHORT: Self = Self { threads: 256, packs: 2, blocks: 3, least: 2, tiled: true };

    /// For all other arrays, and for segments: the fastest on an H200, or nearly so.
    pub fn long<T: Reducible>() -> Self {
        let [packs, blocks] = if size_of::<T>() > size_of::<f32>() { [2, 3] } else { [4, 4] };
        Self { threads: 512, packs, blocks, least: 4, tiled: true }
    }

    /// Configurations of a reducer: for short arrays, and for all else.
    pub fn both<T: Reducible>() -> [Self; 2] {
        [Self::SHORT, Self::long::<T>()]
    }

    /// Blocks for each segment of elements of `bytes` bytes, if the device holds `resident` blocks at a time.
    fn blocks_for(self, segments: Segments, bytes: usize, resident: u32) -> u32 {
        let loads = (segments.length * bytes).div_ceil(PACK);
        let least = self.least * if segments.count > 1 { FOR_SEGMENTS } else { 1 };
        let worthwhile = loads.div_ceil((self.threads * least) as usize);
        let possible = resident as usize / segments.count.max(1);
        worthwhile.min(possible).max(1) as u32
    }

    /// The arguments, and the number of blocks, of the launch that reduces segments of the arrays in `arrays`, if the
    /// device holds `resident` blocks at a time.
    ///
    /// If segments have several blocks each, the launch has at most `resident` blocks: it needs as many partial results
    /// and tickets.
    pub fn launch<T: Reducible>(
        self,
        arrays: ReduceArgs<T>,
        segments: Segments,
        resident: u32,
    ) -> (ReduceArgs<T>, usize) {
        let blocks = self.blocks_for(segments, size_of::<T>(), resident);
        let Segments { first, length, count, stride } = segments;
        let args = ReduceArgs {
            values: arrays.values.offset(first),
            others: arrays.others.offset(first),
            length: length as i64,
            stride: stride as i64,
            blocks: blocks as i32,
            ..arrays
        };
        (args, count * blocks as usize)
    }

    /// Compile-time constants of the kernels.
    pub fn constants<T: Reducible>(self) -> [(&'static str, i32); 4] {
        [
            ("REDUCE_WHOLE", i32::from(T::IS_WHOLE)),
            ("REDUCE_THREADS", self.threads as i32),
            ("REDUCE_PACKS", self.packs as i32),
            ("REDUCE_TILED", i32::from(self.tiled)),
        ]
    }
}

/// The kernels for a type of elements.
pub fn source<T: Reducible>(shape: ReduceConfig) -> KernelSource {
    let arguments = structs!(T::KERNEL_PRECISION; ReduceArgs);
    let prelude =
        Prelude::new(T::KERNEL_PRECISION).with(&arguments).with_settings(&shape.constants::<T>());
    KernelSource::new("primitives/reduce.cu", prelude).exactly()
}

/// The kernels of one launch configuration.
#[derive(Clone, Debug)]
struct Compiled {
    config: ReduceConfig,
    /// A kernel for each operation, and how many of its blocks the device holds.
    kernels: Vec<(Kernel, u32)>,
}

impl Compiled {
    fn new<T: Reducible>(gpu: &Gpu, config: ReduceConfig) -> Result<Self> {
        let module = gpu.module(&source::<T>(config))?;
        let kernels = Operation::ALL
            .into_iter()
            .map(|operation| {
                let kernel = module.kernel(operation.kernel())?.waiting_by_itself();
                let held = kernel.blocks_at_a_time(config.threads, 0)?.min(config.blocks);
                Ok((kernel, held.max(1) * gpu.device().multiprocessors))
            })
            .collect::<Result<_>>()?;
        Ok(Self { config, kernels })
    }
}

/// The kernels that reduce arrays of one type, and their work memory.
///
/// Launches share the memory, so they run in order in the stream of the kernels.
#[derive(Debug)]
pub struct Reducer<T> {
    gpu: Gpu,
    /// For short arrays, and for all else.
    compiled: [Compiled; 2],
    partials: Buffer<u64>,
    tickets: Buffer<u64>,
    element: std::marker::PhantomData<T>,
}

impl<T: Reducible> Reducer<T> {
    /// Compiles the kernels with the configurations for short and for long arrays.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let [short, long] = ReduceConfig::both::<T>();
        Self::of(gpu, [Compiled::new::<T>(gpu, short)?, Compiled::new::<T>(gpu, long)?])
    }

    /// Compiles the kernels with another configuration for arrays of any length.
    ///
    /// # Errors
    ///
    /// As [`Reducer::new`].
    pub fn with_shape(gpu: &Gpu, shape: ReduceConfig) -> Result<Self> {
        let compiled = Compiled::new::<T>(gpu, shape)?;
        Self::of(gpu, [compiled.clone(), compiled])
    }

    fn of(gpu: &Gpu, compiled: [Compiled; 2]) -> Result<Self> {
        let resident = compiled.iter().flat_map(|c| &c.kernels).map(|(_, blocks)| *blocks as usize);
        let most = resident.max().unwrap_or(1);
        let words = Operation::ALL.map(Operation::words).into_iter().max().unwrap_or(1);
        Ok(Self {
            gpu: gpu.clone(),
            compiled,
            partials: gpu.zeros(most * words)?,
            tickets: gpu.zeros(most)?,
            element: std::marker::PhantomData,
        })
    }

    /// The kernels for these segments.
    fn compiled(&self, segments: Segments) -> &Compiled {
        let is_short = segments.count == 1 && segments.length * size_of::<T>() <= SHORT;
        &self.compiled[usize::from(!is_short)]
    }

    /// Queues the reduction of each segment of an array; results are contiguous, [`Operation::words`] words each.
    ///
    /// # Errors
    ///
    /// As [`Reducer::new`].
    ///
    /// # Panics
    ///
    /// When the segments reach beyond the array or the results beyond their buffer, and for an
    /// operation that takes two arrays.
    pub fn reduce(
        &self,
        operation: Operation,
        values: &Buffer<T>,
        segments: Segments,
        results: &Buffer<u64>,
    ) -> Result<()> {
        assert!(!operation.takes_two(), "{operation:?} takes two arrays");
        self.launch(operation, [values, values], (segments, segments.count), (results, 0))
    }

    /// Queues the reduction of each segment of two arrays with the same segments.
    ///
    /// # Errors
    ///
    /// As [`Reducer::new`].
    ///
    /// # Panics
    ///
    /// As [`Reducer::reduce`], and for an operation that takes one array.
    pub fn reduce_pair(
        &self,
        operation: Operation,
        pair: [&Buffer<T>; 2],
        segments: Segments,
        results: &Buffer<u64>,
    ) -> Result<()> {
        assert!(operation.takes_two(), "{operation:?} takes one array");
        self.launch(operation, pair, (segments, segments.count), (results, 0))
    }

    /// Queues a reduction of segments that are some of `all`, with results from a word on.
    fn launch(
        &self,
        operation: Operation,
        [x, y]: [&Buffer<T>; 2],
        (segments, all): (Segments, usize),
        (results, first): (&Buffer<u64>, usize),
    ) -> Result<()> {
        let shortest = x.len().min(y.len());
        assert!(segments.end() <= shortest, "{segments:?} of {shortest} elements");
        assert!(segments.count <= all, "{} segments of {all}", segments.count);
        let words = first + segments.count * operation.words();
        assert!(words <= results.len(), "{words} words of results, room for {}", results.len());
        if segments.count == 0 {
            return Ok(());
        }
        let of_all = Segments { count: all, ..segments };
        let Compiled { config, kernels } = self.compiled(of_all);
        let (kernel, resident) = &kernels[operation as usize];
        let arrays = ReduceArgs {
            values: x.pointer().read(),
            others: y.pointer().read(),
            results: results.pointer_to(first),
            partials: self.partials.pointer(),
            tickets: self.tickets.pointer(),
            length: 0,
            stride: 0,
            blocks: 0,
            filler: 0,
        };
        let (args, _) = config.launch(arrays, of_all, *resident);
        let blocks = segments.count * args.blocks as usize;
        let launch = Launch::flat(blocks * config.threads as usize, config.threads);
        // SAFETY: the kernel takes this struct; segments and results were checked against their buffers. If a segment
        // has several blocks, all blocks together are no more than the device holds, and the two buffers of this value
        // have room for as many. A caller that records the launch in a graph keeps the buffers and this value as long
        // as the graph.
        unsafe { kernel.launch(launch, &args) }
    }

    /// What another library has for a reduction, with its results in the places of ours; nothing for operations that it
    /// does not know.
    ///
    /// # Errors
    ///
    /// As [`Reducer::new`].
    ///
    /// # Panics
    ///
    /// As [`Reducer::reduce`].
    pub fn peers<'a>(
        &self,
        library: &'a ForeignLibrary,
        operation: Operation,
        [x, y]: [&'a Buffer<T>; 2],
        segments: Segments,
        results: &'a Buffer<u64>,
    ) -> Result<Vec<ForeignKernel<'a>>> {
        let Segments { first, length, count, stride } = segments;
        assert!(segments.end() <= x.len().min(y.len()) && count <= results.len(), "{segments:?}");
        let operation = match (operation, count) {
            (Operation::Sum, 1) => "sum",
            (Operation::Sum, _) => "segmented sum",
            (Operation::Max, 1) => "max",
            (Operation::Dot, 1) => "dot",
            _ => return Ok(Vec::new()),
        };
        let arrays = [x.pointer_to(first).address(), y.pointer_to(first).address(), 0, 0];
        let task = ForeignTask {
            operation,
            precision: T::TYPE_NAME,
            arrays,
            result: results.pointer().address(),
            sizes: [length, count, stride, 0],
        };
        // SAFETY: the sizes were checked, and the arrays are lent as long as the kernels.
        unsafe { library.kernels(&self.gpu, &task) }
    }

    /// The sum of all values, accumulated as [`Operation::SumWide`]. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Reducer::new`].
    pub fn sum(&self, values: &Buffer<T>) -> Result<f64> {
        self.wide(Operation::SumWide, [values, values])
    }

    /// The sum of the squares, accumulated as [`Operation::SumWide`]. Waits for the device.
    pub(crate) fn sum_of_squares(&self, values: &Buffer<T>) -> Result<f64> {
        self.wide(Operation::SquaresWide, [values, values])
    }

    /// The scalar product, accumulated as [`Operation::SumWide`]. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Reducer::new`].
    ///
    /// # Panics
    ///
    /// When the lengths differ.
    pub fn dot(&self, x: &Buffer<T>, y: &Buffer<T>) -> Result<f64> {
        assert_eq!(x.len(), y.len(), "a scalar product needs two vectors of the same length");
        self.wide(Operation::DotWide, [x, y])
    }

    fn wide(&self, operation: Operation, [x, y]: [&Buffer<T>; 2]) -> Result<f64> {
        let results = self.gpu.zeros(1)?;
        self.launch(operation, [x, y], (Segments::whole(x.len()), 1), (&results, 0))?;
        Ok(T::wide_of_word(results.to_vec()?[0]))
    }
}
