//! Peak performance of the device: the bandwidth of a copy and the rate of arithmetic.

use crate::device::structs;
use crate::device::{Buffer, Element, Gpu, Kernel, KernelSource, Launch, Prelude};
use crate::error::Result;
use crate::primitives::gpu::arguments::ArithmeticArgs;
use crate::real::{Precision, Real};

/// Summand of a link of a chain, and 1 minus its factor: values stay near 1.
const SUMMAND: f64 = 1.0e-3;
/// Most values of a copy: far more than any cache holds.
const MOST_COPIED: usize = 1 << 30;
/// Values that are generated on the host and repeated.
const MADE: usize = 1 << 20;

/// Threads of a block.
const THREADS: u32 = 256;
/// Blocks of a multiprocessor: full occupancy.
const BLOCKS: u32 = 8;
/// Independent chains of a thread, enough to hide the latency of an operation.
const CHAINS: usize = 8;
/// Links of a chain between two tests of the number of rounds.
const LINKS: usize = 16;
/// Rounds of a launch, which takes some milliseconds.
const ROUNDS: usize = 4096;

/// Source of the kernel; independent of the number of levels.
pub fn source(precision: Precision) -> KernelSource {
    let settings = [
        ("ARITHMETIC_THREADS", THREADS as i32),
        ("CHAINS", CHAINS as i32),
        ("CHAIN_LINKS", LINKS as i32),
    ];
    let arguments = structs!(precision; ArithmeticArgs);
    KernelSource::new(
        "primitives/arithmetic.cu",
        Prelude::new(precision).with(&arguments).with_settings(&settings),
    )
}

/// Source and target of a copy.
#[derive(Debug)]
pub struct Copying {
    gpu: Gpu,
    from: Buffer<f32>,
    to: Buffer<f32>,
}

impl Copying {
    /// Allocates two arrays: a quarter of the free memory, and at most 8 GiB.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let [free, _] = gpu.memory()?;
        let len = (free / 8 / size_of::<f32>()).clamp(MADE, MOST_COPIED);
        // Varied values: equal ones may be copied faster.
        let made: Vec<f32> =
            (0..MADE as u32).map(|n| n.wrapping_mul(2_654_435_761) as f32).collect();
        let from = gpu.zeros(len)?;
        from.upload_to(0, &made)?;
        let mut done = MADE;
        while done < len {
            let more = done.min(len - done);
            from.copy_range(done, &from, 0..more)?;
            done += more;
        }
        Ok(Self { gpu: gpu.clone(), from, to: gpu.zeros(len)? })
    }

    /// Bytes read and written by a copy.
    pub fn bytes(&self) -> usize {
        2 * size_of::<f32>() * self.from.len()
    }

    /// Time of a copy, s.
    ///
    /// # Errors
    ///
    /// As [`Copying::new`].
    pub fn seconds(&self) -> Result<f64> {
        self.gpu.elapsed(|| self.to.copy_from(&self.from))
    }
}

/// Chains of fused multiply-adds in registers.
#[derive(Debug)]
pub struct Arithmetic<R> {
    gpu: Gpu,
    chains: Kernel,
    out: Buffer<R>,
    blocks: u32,
}

impl<R: Real + Element> Arithmetic<R> {
    /// Compiles the kernel.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let chains = gpu.module(&source(R::PRECISION))?.kernel("arithmetic_chains")?;
        let blocks = BLOCKS * gpu.device().multiprocessors;
        let out = gpu.zeros((blocks * THREADS) as usize)?;
        Ok(Self { gpu: gpu.clone(), chains, out, blocks })
    }

    /// Operations of a launch: one multiplication and one addition for each link.
    pub fn operations(&self) -> f64 {
        2.0 * (self.out.len() * CHAINS * LINKS * ROUNDS) as f64
    }

    /// Time of a launch, s.
    ///
    /// # Errors
    ///
    /// As [`Arithmetic::new`].
    pub fn seconds(&self) -> Result<f64> {
        let summand = R::of(SUMMAND);
        let args = ArithmeticArgs {
            out: self.out.pointer(),
            factor: R::ONE - summand,
            summand,
            rounds: ROUNDS as i32,
            filler: 0,
        };
        let launch = Launch::new([self.blocks, 1], THREADS);
        // SAFETY: the kernel takes this struct, and writes one value for each thread.
        self.gpu.elapsed(|| unsafe { self.chains.launch(launch, &args) })
    }

    /// Results, the sum of the chains of each thread: near the number of chains.
    ///
    /// # Errors
    ///
    /// As [`Arithmetic::new`].
    pub fn ends(&self) -> Result<Vec<R>> {
        self.out.to_vec()
    }
}
