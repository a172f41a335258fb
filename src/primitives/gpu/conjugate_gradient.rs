//! Conjugate gradients on the device, with the bits of the CPU version.

use crate::device::{Buffer, Event, Gpu, Kernel, KernelSource, Launch, Pinned, Prelude};
use crate::error::{Error, Result};
use crate::primitives::conjugate_gradient::{
    SUMMED, Solution, Solver, check_lengths, preconditioner,
};
use crate::primitives::csr::Csr;
use crate::primitives::gpu::arguments::DescentArgs;
use crate::real::Precision;

/// Iterations between two tests for convergence by the host; an even number, since two sets of arrays alternate.
pub const ITERATIONS: usize = 20;

/// Indices of the numbers that kernels pass on, and their count.
const ENERGY: usize = 0;
const LENGTH: usize = 1;
const KEEP: usize = 2;
const NUMBERS: usize = 3;

/// Indices of the words: verdict, products done, count of finished blocks, and a flag for a residual beyond its limit;
/// and their count.
const VERDICT: usize = 0;
const DONE: usize = 1;
const TICKETS: usize = 2;
const OUTSIDE: usize = 3;
const WORDS: usize = 4;

/// Verdicts.
const RUNNING: u64 = 0;
const CONVERGED: u64 = 1;
const FAILED: u64 = 2;

/// Initial numbers and words of a system.
pub fn untouched() -> ([f64; NUMBERS], [u64; WORDS]) {
    // The first update has step length 0 and keeps no old direction.
    ([f64::INFINITY, 0.0, 0.0], [RUNNING, 0, 0, 0])
}

/// Result of a system from its words: the number of products, and `true` if it has converged.
pub fn outcome(words: &[u64]) -> (usize, bool) {
    (words[DONE] as usize, words[VERDICT] == CONVERGED)
}

/// The kernels, in double precision.
pub fn source() -> KernelSource {
    let settings = [
        ("SUM_THREADS", SUMMED),
        ("DESCENT_ENERGY", ENERGY),
        ("DESCENT_LENGTH", LENGTH),
        ("DESCENT_KEEP", KEEP),
        ("DESCENT_VERDICT", VERDICT),
        ("DESCENT_DONE", DONE),
        ("DESCENT_TICKETS", TICKETS),
        ("DESCENT_OUTSIDE", OUTSIDE),
        ("DESCENT_RUNNING", RUNNING as usize),
        ("DESCENT_CONVERGED", CONVERGED as usize),
        ("DESCENT_FAILED", FAILED as usize),
    ];
    let settings = settings.map(|(name, value)| (name, value as i32));
    let arguments = DescentArgs::<f64>::cuda_text();
    let prelude = Prelude::new(Precision::F64).with(&arguments).with_settings(&settings);
    KernelSource::new("primitives/conjugate_gradient.cu", prelude)
}

/// The solver on a device.
#[derive(Clone, Debug)]
pub struct GpuSolver {
    gpu: Gpu,
    product: Kernel,
    update: Kernel,
}

impl GpuSolver {
    /// Compiles the kernels.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`], as all below, when the device has failed.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let module = gpu.module(&source())?;
        Ok(Self {
            gpu: gpu.clone(),
            product: module.kernel("descent_product_acc64")?,
            update: module.kernel("descent_update_acc64")?,
        })
    }

    /// Device memory for a system of so many rows and entries, bytes.
    pub fn bytes(rows: usize, entries: usize) -> usize {
        // Without the values, the sums and the words.
        const VECTORS: usize = 8;
        let values = VECTORS * rows + entries + rows.div_ceil(SUMMED) + NUMBERS + WORDS;
        size_of::<f64>() * values + size_of::<i32>() * (rows + 1 + entries)
    }

    /// Uploads a system.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the memory does not suffice.
    ///
    /// # Panics
    ///
    /// As [`Solver::solve`].
    pub fn begin(
        &self,
        matrix: &Csr<f64>,
        b: &[f64],
        limit: &[f64],
        most: usize,
    ) -> Result<Iteration<'_>> {
        check_lengths(matrix, b, limit);
        let whole = |n: usize| {
            i32::try_from(n).map_err(|_| {
                let most = i32::MAX;
                Error::Gpu(format!("a matrix with {n} entries; the device supports at most {most}"))
            })
        };
        let starts: Vec<i32> = matrix.starts().iter().map(|&n| whole(n)).collect::<Result<_>>()?;
        let column_of: Vec<i32> = matrix.column_of().iter().map(|&n| n as i32).collect();
        let gpu = &self.gpu;
        let n = b.len();
        let zeros = || gpu.zeros::<f64>(n);
        let (numbers, words) = untouched();
        let descent = Iteration {
            solver: self,
            rows: whole(n)?,
            most: i32::try_from(most).unwrap_or(i32::MAX),
            starts: gpu.upload(&starts)?,
            column_of: gpu.upload(&column_of)?,
            values: gpu.upload(matrix.values())?,
            inverse: gpu.upload(&preconditioner(matrix))?,
            limit: gpu.upload(limit)?,
            x: zeros()?,
            residual: gpu.upload(b)?,
            scaled: zeros()?,
            directions: [zeros()?, zeros()?],
            product: zeros()?,
            sums: gpu.zeros(n.div_ceil(SUMMED))?,
            numbers: gpu.upload(&numbers)?,
            words: gpu.upload(&words)?,
            shown: Pinned::zeros(gpu, 1)?,
        };
        descent.launch(&self.update, 0)?;
        Ok(descent)
    }
}

impl Solver for GpuSolver {
    fn solve(&self, matrix: &Csr<f64>, b: &[f64], limit: &[f64], most: usize) -> Result<Solution> {
        self.begin(matrix, b, limit, most)?.finish()
    }
}

/// A system on the device; the arrays are those of [`DescentArgs`].
#[derive(Debug)]
pub struct Iteration<'a> {
    solver: &'a GpuSolver,
    rows: i32,
    most: i32,
    starts: Buffer<i32>,
    column_of: Buffer<i32>,
    values: Buffer<f64>,
    inverse: Buffer<f64>,
    limit: Buffer<f64>,
    x: Buffer<f64>,
    residual: Buffer<f64>,
    scaled: Buffer<f64>,
    directions: [Buffer<f64>; 2],
    product: Buffer<f64>,
    sums: Buffer<f64>,
    numbers: Buffer<f64>,
    words: Buffer<u64>,
    shown: Pinned<u64>,
}

impl Iteration<'_> {
    /// Queues [`ITERATIONS`] iterations; a system that has converged does not change.
    pub(crate) fn iterate(&self) -> Result<()> {
        for number in 0..ITERATIONS {
            self.launch(&self.solver.product, number)?;
            self.launch(&self.solver.update, number)?;
        }
        Ok(())
    }

    fn launch(&self, kernel: &Kernel, number: usize) -> Result<()> {
        let args = DescentArgs {
            starts: self.starts.pointer().read(),
            column_of: self.column_of.pointer().read(),
            values: self.values.pointer().read(),
            inverse: self.inverse.pointer().read(),
            limit: self.limit.pointer().read(),
            x: self.x.pointer(),
            residual: self.residual.pointer(),
            scaled: self.scaled.pointer(),
            before: self.directions[0].pointer().read(),
            direction: self.directions[1].pointer(),
            product: self.product.pointer(),
            sums: self.sums.pointer(),
            numbers: self.numbers.pointer(),
            words: self.words.pointer(),
            shown: self.shown.pointer(),
            rows: self.rows,
            most: self.most,
        };
        let launch = Launch::flat(self.x.len(), SUMMED as u32);
        // SAFETY: this value owns all arrays, with the lengths of the system; the device is waited for before they are
        // freed.
        unsafe { kernel.launch(launch, &args.turn(number)) }
    }

    /// Iterates until convergence or failure.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the device has failed.
    pub fn finish(self) -> Result<Solution> {
        let gpu = &self.solver.gpu;
        let mut graph = gpu.capture(|| self.iterate())?;
        let passed = [Event::new(gpu)?, Event::new(gpu)?];
        // One graph ahead of the host's test, so that the device does not wait for it.
        graph.launch()?;
        passed[0].record(gpu)?;
        for round in 1.. {
            graph.launch()?;
            passed[round % 2].record(gpu)?;
            passed[(round + 1) % 2].wait()?;
            if self.shown.get(0) != RUNNING {
                break;
            }
        }
        let (iterations, converged) = outcome(&self.words.to_vec()?);
        Ok(Solution { x: self.x.to_vec()?, iterations, converged })
    }

    /// Time of [`ITERATIONS`] iterations on the device, s: the median of some rounds.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the device has failed, and when the system converges within the rounds.
    pub fn time(&self, rounds: usize) -> Result<f64> {
        let gpu = &self.solver.gpu;
        let mut graph = gpu.capture(|| self.iterate())?;
        let mut times = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            times.push(gpu.elapsed(|| graph.launch())?);
        }
        if self.shown.get(0) != RUNNING {
            return Err(Error::Gpu("the system was solved while it was timed".to_owned()));
        }
        times.sort_by(f64::total_cmp);
        Ok(times[rounds / 2])
    }
}

impl Drop for Iteration<'_> {
    fn drop(&mut self) {
        // Kernels under way use memory that is freed now; a failed device runs none.
        let _ = self.solver.gpu.synchronize();
    }
}
