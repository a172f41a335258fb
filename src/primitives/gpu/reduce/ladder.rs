//! Lower rungs of the ladder of reductions, step by step from the simplest, for comparison. The best rung is
//! [`Reducer`](super::Reducer).

use super::super::arguments::LadderArgs;
use super::Reducible;
use crate::cuda_abi::{DevicePointer, ReadPointer};
use crate::device::structs;
use crate::device::{Buffer, Gpu, Kernel, KernelSource, Launch, Prelude};
use crate::error::Result;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Blocks of a multiprocessor, for rungs that fill the device once.
const RESIDENT: u32 = 8;

/// Distribution of the work of a rung among blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    /// A fixed number of elements for each thread; launches are repeated until one sum is left.
    Tree(usize),
    /// As many blocks as the device holds, then one block that adds their sums.
    Two,
    /// As many blocks as the device holds, which add atomically to a result that must be zero before.
    Atomic,
}

/// A rung of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    /// Name in tables.
    pub name: &'static str,
    /// Kernel name.
    pub kernel: &'static str,
    sharing: Sharing,
}

const fn rung(name: &'static str, kernel: &'static str, sharing: Sharing) -> Rung {
    Rung { name, kernel, sharing }
}

/// The rungs, the slowest first.
pub const RUNGS: [Rung; 10] = [
    rung("interleaved, divergent", "ladder_interleaved_divergent", Sharing::Tree(1)),
    rung("interleaved, bank conflicts", "ladder_interleaved_conflicts", Sharing::Tree(1)),
    rung("sequential addressing", "ladder_sequential", Sharing::Tree(1)),
    rung("first addition during load", "ladder_first_add", Sharing::Tree(2)),
    rung("last warp unrolled", "ladder_last_warp", Sharing::Tree(2)),
    rung("fully unrolled", "ladder_unrolled", Sharing::Tree(2)),
    rung("many elements a thread", "ladder_many", Sharing::Two),
    rung("warp shuffle", "ladder_shuffle", Sharing::Two),
    rung("warp atomics", "ladder_warp_atomics", Sharing::Atomic),
    rung("block atomics", "ladder_block_atomics", Sharing::Atomic),
];

/// Arrays of a rung.
#[derive(Clone, Copy, Debug)]
pub struct LadderArrays<T> {
    /// Values to add up.
    pub values: ReadPointer<T>,
    /// Number of values.
    pub length: usize,
    /// Two arrays for partial sums, of [`scratch`] elements each.
    pub scratch: [DevicePointer<T>; 2],
    /// The sum.
    pub result: DevicePointer<T>,
}

/// Most partial sums of any rung for so many values.
pub fn scratch(length: usize, multiprocessors: u32) -> usize {
    length.div_ceil(THREADS as usize).max((multiprocessors * RESIDENT) as usize)
}

impl Rung {
    /// Returns `true` if the result must be zero before the launches.
    pub fn adds_to_result(self) -> bool {
        self.sharing == Sharing::Atomic
    }

    /// Arguments and numbers of blocks, of [`THREADS`] threads each, of the launches of the sum, in order.
    pub fn launches<T: Reducible>(
        self,
        places: LadderArrays<T>,
        multiprocessors: u32,
    ) -> Vec<(LadderArgs<T>, u32)> {
        let LadderArrays { mut values, mut length, scratch, result } = places;
        let mut launches = Vec::new();
        // Partial sums of a launch are the values of the next.
        for sums in scratch.into_iter().cycle() {
            let elements = if let Sharing::Tree(each) = self.sharing { each } else { 2 };
            let worthwhile = length.div_ceil(elements * THREADS as usize).max(1);
            let blocks = match self.sharing {
                Sharing::Tree(_) => worthwhile,
                Sharing::Two if !launches.is_empty() => 1,
                Sharing::Two | Sharing::Atomic => {
                    worthwhile.min((multiprocessors * RESIDENT) as usize)
                }
            };
            let is_last = blocks == 1 || self.adds_to_result();
            let sums = if is_last { result } else { sums };
            let args = LadderArgs { values, sums, length: length as i64 };
            launches.push((args, blocks as u32));
            if is_last {
                break;
            }
            (values, length) = (sums.read(), blocks);
        }
        launches
    }
}

/// The kernels for a type of elements.
pub fn source<T: Reducible>() -> KernelSource {
    let settings = [("REDUCE_WHOLE", i32::from(T::IS_WHOLE)), ("LADDER_THREADS", THREADS as i32)];
    let arguments = structs!(T::KERNEL_PRECISION; LadderArgs);
    let prelude = Prelude::new(T::KERNEL_PRECISION).with(&arguments).with_settings(&settings);
    KernelSource::new("primitives/reduce/ladder.cu", prelude)
}

/// The rungs on the device.
#[derive(Debug)]
pub struct Ladder<T> {
    multiprocessors: u32,
    kernels: Vec<Kernel>,
    scratch: [Buffer<T>; 2],
    result: Buffer<T>,
}

impl<T: Reducible> Ladder<T> {
    /// Compiles the kernels, and allocates partial sums for up to `length` values.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    pub fn new(gpu: &Gpu, length: usize) -> Result<Self> {
        let module = gpu.module(&source::<T>())?;
        let multiprocessors = gpu.device().multiprocessors;
        let room = scratch(length, multiprocessors);
        Ok(Self {
            multiprocessors,
            kernels: RUNGS.iter().map(|rung| module.kernel(rung.kernel)).collect::<Result<_>>()?,
            scratch: [gpu.zeros(room)?, gpu.zeros(room)?],
            result: gpu.zeros(1)?,
        })
    }

    /// Queues the sum of `length` values from element `first` on by a rung.
    ///
    /// # Errors
    ///
    /// As [`Ladder::new`].
    ///
    /// # Panics
    ///
    /// When the array is shorter, or `length` exceeds that of construction.
    pub fn launch(
        &self,
        rung: Rung,
        values: &Buffer<T>,
        first: usize,
        length: usize,
    ) -> Result<()> {
        assert!(first + length <= values.len(), "{first} + {length} of {}", values.len());
        let needed = scratch(length, self.multiprocessors);
        assert!(needed <= self.scratch[0].len(), "more values than the ladder was made for");
        if rung.adds_to_result() {
            self.result.clear()?;
        }
        let places = LadderArrays {
            values: values.pointer_to(first).read(),
            length,
            scratch: [self.scratch[0].pointer(), self.scratch[1].pointer()],
            result: self.result.pointer(),
        };
        let kernel = self.kernels.iter().find(|known| known.name() == rung.kernel);
        let kernel = kernel.expect("a kernel for each rung");
        for (args, blocks) in rung.launches(places, self.multiprocessors) {
            let launch = Launch::new([blocks, 1], THREADS);
            // SAFETY: the kernel takes this struct; the numbers of values and of partial sums were checked.
            unsafe { kernel.launch(launch, &args)? };
        }
        Ok(())
    }

    /// Sets result and partial sums to a value that is no sum, so that a missing one is detected.
    ///
    /// # Errors
    ///
    /// As [`Ladder::new`].
    pub fn invalidate(&self) -> Result<()> {
        self.scratch.iter().chain([&self.result]).try_for_each(Buffer::poison)
    }

    /// The sum. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Ladder::new`].
    pub fn result(&self) -> Result<T> {
        Ok(self.result.to_vec()?[0])
    }
}
