//! Conjugate gradients on the device, with the bits of the CPU version.

use crate::device::{Buffer, Event, Gpu, Kernel, KernelSource, Launch, Pinned, Prelude};
use crate::error::{Error, Result};
use crate::primitives::conjugate_gradient::{Scales, Solution, Solver, Start, System};
use crate::primitives::gpu::arguments::{DescentArgs, MultigridArgs};
use crate::primitives::gpu::multigrid::{Cycle, CycleKernels, THREADS};
use crate::primitives::gpu::sums::{self, SUM_WORDS};
use crate::primitives::sums::AT_ONCE;
use crate::real::Precision;

/// Iterations between two tests for convergence by the host; an even number, since two sets of arrays alternate.
const ITERATIONS: usize = 4;

/// Most blocks of a launch, as long as a block has no more rows than it can add up: fewer blocks make fewer additions to
/// one address.
const BLOCKS: usize = 2048;

/// Indices of the numbers that kernels pass on, and their count.
const ENERGY: usize = 0;
const LENGTH: usize = 1;
const KEEP: usize = 2;
const NUMBERS: usize = 3;

/// Indices of the words: verdict, products done, count of finished blocks, a flag for a residual beyond its limit, and
/// the words of a sum; and their count.
const VERDICT: usize = 0;
const DONE: usize = 1;
const TICKETS: usize = 2;
const OUTSIDE: usize = 3;
const SUM: usize = 4;
const WORDS: usize = SUM + SUM_WORDS;

/// Verdicts.
const RUNNING: u64 = 0;
const CONVERGED: u64 = 1;
const FAILED: u64 = 2;

/// Initial numbers and words of a system.
fn untouched() -> ([f64; NUMBERS], [u64; WORDS]) {
    ([f64::INFINITY, 0.0, 0.0], [RUNNING; WORDS])
}

/// Result of a system from its words: the number of products, and `true` if it has converged.
fn outcome(words: &[u64]) -> (usize, bool) {
    (words[DONE] as usize, words[VERDICT] == CONVERGED)
}

/// Blocks of a launch for so many rows.
fn blocks(rows: usize) -> usize {
    rows.div_ceil(THREADS).clamp(1, BLOCKS).max(rows.div_ceil(AT_ONCE))
}

/// The kernels, in double precision, and those of the preconditioner in single precision.
pub(crate) fn source() -> KernelSource {
    let settings = [
        ("SUM_THREADS", THREADS),
        ("DESCENT_ENERGY", ENERGY),
        ("DESCENT_LENGTH", LENGTH),
        ("DESCENT_KEEP", KEEP),
        ("DESCENT_VERDICT", VERDICT),
        ("DESCENT_DONE", DONE),
        ("DESCENT_TICKETS", TICKETS),
        ("DESCENT_OUTSIDE", OUTSIDE),
        ("DESCENT_SUM", SUM),
        ("DESCENT_RUNNING", RUNNING as usize),
        ("DESCENT_CONVERGED", CONVERGED as usize),
        ("DESCENT_FAILED", FAILED as usize),
    ];
    let settings = settings.map(|(name, value)| (name, value as i32));
    let prelude = Prelude::new(Precision::F64)
        .with(&sums::cuda_text())
        .with(&DescentArgs::cuda_text())
        .with(&MultigridArgs::cuda_text())
        .with_settings(&settings);
    KernelSource::new("primitives/conjugate_gradient.cu", prelude).exactly()
}

/// The solver on a device.
#[derive(Clone, Debug)]
pub struct GpuSolver {
    gpu: Gpu,
    energy: Kernel,
    product: Kernel,
    update: Kernel,
    cycle: CycleKernels,
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
            energy: module.kernel("descent_energy_acc64")?,
            product: module.kernel("descent_product_acc64")?,
            update: module.kernel("descent_update_acc64")?,
            cycle: CycleKernels::new(&module)?,
        })
    }

    /// Device memory for a system of so many rows and entries, bytes.
    pub fn bytes(rows: usize, entries: usize) -> usize {
        // Without the values and the words.
        const VECTORS: usize = 6;
        let values = VECTORS * rows + entries + NUMBERS + WORDS;
        size_of::<f64>() * values + size_of::<i32>() * (rows + 1 + entries) + Cycle::bytes(rows)
    }

    /// Uploads a system; a [`Solution`] if there is nothing to iterate.
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
        system: System<'_>,
        b: &[f64],
        limit: &[f64],
        most: usize,
    ) -> Result<std::result::Result<Iteration<'_>, Solution>> {
        let scales = match Start::new(system, b, limit) {
            Start::Ended(solution) => return Ok(Err(solution)),
            Start::Scales(scales) => scales,
        };
        let matrix = system.matrix;
        let whole = |n: usize| {
            i32::try_from(n).map_err(|_| {
                let most = i32::MAX;
                Error::Gpu(format!("a matrix with {n} entries; the device supports at most {most}"))
            })
        };
        whole(matrix.nonzeros())?;
        let starts: Vec<i32> = matrix.starts().iter().map(|&n| n as i32).collect();
        let column_of: Vec<i32> = matrix.column_of().iter().map(|&n| n as i32).collect();
        let gpu = &self.gpu;
        let n = b.len();
        let zeros = || gpu.zeros::<f64>(n);
        let (numbers, words) = untouched();
        let cycle = Cycle::new(gpu, &self.cycle, system.multigrid)?;
        let scaled: Vec<f32> = b.iter().map(|b| (b * scales.residual) as f32).collect();
        cycle.right_hand_side().upload(&scaled)?;
        Ok(Ok(Iteration {
            solver: self,
            scales,
            cycle,
            rows: whole(n)?,
            most: i32::try_from(most).unwrap_or(i32::MAX),
            starts: gpu.upload(&starts)?,
            column_of: gpu.upload(&column_of)?,
            values: gpu.upload(matrix.values())?,
            limit: gpu.upload(limit)?,
            x: zeros()?,
            residual: gpu.upload(b)?,
            directions: [zeros()?, zeros()?],
            product: zeros()?,
            numbers: gpu.upload(&numbers)?,
            words: gpu.upload(&words)?,
            shown: Pinned::zeros(gpu, 1)?,
        }))
    }
}

impl Solver for GpuSolver {
    fn solve(&self, system: System<'_>, b: &[f64], limit: &[f64], most: usize) -> Result<Solution> {
        match self.begin(system, b, limit, most)? {
            Ok(iteration) => iteration.finish(),
            Err(solution) => Ok(solution),
        }
    }
}

/// A system on the device; the arrays are those of [`DescentArgs`].
#[derive(Debug)]
pub struct Iteration<'a> {
    solver: &'a GpuSolver,
    scales: Scales,
    cycle: Cycle,
    rows: i32,
    most: i32,
    starts: Buffer<i32>,
    column_of: Buffer<i32>,
    values: Buffer<f64>,
    limit: Buffer<f64>,
    x: Buffer<f64>,
    residual: Buffer<f64>,
    directions: [Buffer<f64>; 2],
    product: Buffer<f64>,
    numbers: Buffer<f64>,
    words: Buffer<u64>,
    shown: Pinned<u64>,
}

impl Iteration<'_> {
    /// Queues [`ITERATIONS`] iterations; a system that has converged does not change.
    fn iterate(&self) -> Result<()> {
        let GpuSolver { energy, product, update, .. } = self.solver;
        for number in 0..ITERATIONS {
            self.cycle.launch(self.words.pointer().read())?;
            for kernel in [energy, product, update] {
                self.launch(kernel, number)?;
            }
        }
        Ok(())
    }

    fn launch(&self, kernel: &Kernel, number: usize) -> Result<()> {
        let args = DescentArgs {
            starts: self.starts.pointer().read(),
            column_of: self.column_of.pointer().read(),
            values: self.values.pointer().read(),
            limit: self.limit.pointer().read(),
            x: self.x.pointer(),
            residual: self.residual.pointer(),
            scaled: self.cycle.right_hand_side().pointer(),
            improved: self.cycle.solution().pointer().read(),
            before: self.directions[0].pointer().read(),
            direction: self.directions[1].pointer(),
            product: self.product.pointer(),
            numbers: self.numbers.pointer(),
            words: self.words.pointer(),
            shown: self.shown.pointer(),
            residual_scale: self.scales.residual,
            energy_scale: self.scales.energy,
            curvature_scale: self.scales.curvature,
            length_scale: self.scales.length,
            rows: self.rows,
            most: self.most,
        };
        let blocks = blocks(self.x.len()) as u32;
        // SAFETY: this value owns all arrays, with the lengths of the system; the device is waited for before they are
        // freed.
        unsafe { kernel.launch(Launch::new([blocks, 1], THREADS as u32), &args.turn(number)) }
    }

    /// Iterates until convergence or failure.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the device has failed.
    pub fn finish(self) -> Result<Solution> {
        self.iterate_to_verdict()?;
        let (iterations, converged) = outcome(&self.words.to_vec()?);
        Ok(Solution { x: self.x.to_vec()?, iterations, converged })
    }

    /// The same; the solution stays on the device.
    fn iterate_to_verdict(&self) -> Result<()> {
        let gpu = &self.solver.gpu;
        let mut graph = gpu.capture(|| self.iterate())?;
        let passed = [Event::new(gpu)?, Event::new(gpu)?];
        // One graph ahead of the host's test, so that the device does not wait for it.
        graph.launch()?;
        passed[0].record(gpu)?;
        // With the last of them there is a verdict.
        let rounds = usize::try_from(self.most).unwrap_or(0) / ITERATIONS + 1;
        for round in 1..=rounds {
            graph.launch()?;
            passed[round % 2].record(gpu)?;
            passed[(round + 1) % 2].wait()?;
            if self.shown.get(0) != RUNNING {
                break;
            }
        }
        Ok(())
    }

    /// Time of the iterations until convergence, from a right-hand side on the device, s.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the device has failed.
    pub fn time(&self) -> Result<f64> {
        self.solver.gpu.synchronize()?;
        self.solver.gpu.elapsed(|| self.iterate_to_verdict())
    }
}

impl Drop for Iteration<'_> {
    fn drop(&mut self) {
        // Kernels under way use memory that is freed now; a failed device runs none.
        let _ = self.solver.gpu.synchronize();
    }
}
