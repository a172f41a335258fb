//! Conjugate gradients for the preconditioned Wilson operator on the device: six kernels an iteration.

use super::arguments::{SolverArgs, WilsonArgs};
use super::{KernelConfig, LatticePrecision, Operator};
use crate::device::structs;
use crate::device::{Buffer, Gpu, Kernel, KernelSource, Launch, Prelude};
use crate::error::{Error, Result};
use crate::lattice::{Parity, SPINOR_REALS, Stop};
use crate::primitives::gpu::reduce::Reducer;
use crate::real::Precision;

/// Iterations of a graph, after which the host tests for the end.
const ITERATIONS: usize = 10;
/// Sixteen-byte units of a vector for each thread.
const VECTOR_UNITS: usize = 4;
/// Bytes of a unit.
const UNIT_BYTES: usize = 16;

/// Indices of the scalars, and their number.
const ENERGY: usize = 0;
const LENGTH: usize = 1;
const KEEP: usize = 2;
const LIMIT: usize = 3;
const MOST: usize = 4;
const NUMBERS: usize = 5;

/// Indices of the words, and their number.
const VERDICT: usize = 0;
const DONE: usize = 1;
const TICKETS: usize = 2;
const WORDS: usize = 3;

/// Verdicts: after convergence x needs one more update.
const RUNNING: u64 = 0;
const LAST_STEP: u64 = 1;
const CONVERGED: u64 = 2;
const FAILED: u64 = 3;

/// Initial scalars and words of a system, with the square of the residual that ends it and the most iterations.
pub fn untouched(limit: f64, most: usize) -> ([f64; NUMBERS], [u64; WORDS]) {
    // The first direction has no part of an earlier one, and x is not yet updated.
    ([f64::INFINITY, 0.0, 0.0, limit, most as f64], [RUNNING, 0, 0])
}

/// Settings of the kernels besides those of the form.
fn settings(form: &KernelConfig) -> Vec<(&'static str, i32)> {
    let numbers = [
        ("SUM_THREADS", form.threads() as usize),
        ("VECTOR_UNITS", VECTOR_UNITS),
        ("SOLVER_ENERGY", ENERGY),
        ("SOLVER_LENGTH", LENGTH),
        ("SOLVER_KEEP", KEEP),
        ("SOLVER_LIMIT", LIMIT),
        ("SOLVER_MOST", MOST),
        ("SOLVER_VERDICT", VERDICT),
        ("SOLVER_DONE", DONE),
        ("SOLVER_TICKETS", TICKETS),
        ("SOLVER_RUNNING", RUNNING as usize),
        ("SOLVER_LAST_STEP", LAST_STEP as usize),
        ("SOLVER_CONVERGED", CONVERGED as usize),
        ("SOLVER_FAILED", FAILED as usize),
    ];
    numbers.into_iter().map(|(name, value)| (name, value as i32)).collect()
}

/// The kernels.
pub fn source(form: &KernelConfig, precision: Precision) -> KernelSource {
    let settings = [form.settings(), settings(form)].concat();
    let arguments = structs!(precision; WilsonArgs, SolverArgs);
    let prelude = Prelude::new(precision).with(&arguments).with_settings(&settings);
    KernelSource::new("lattice/solver.cu", prelude).exactly()
}

/// The kernels of an iteration.
#[derive(Debug)]
pub(super) struct Solver {
    gpu: Gpu,
    hop: [Kernel; 2],
    product: [Kernel; 2],
    residual: Kernel,
    direction: Kernel,
}

impl Solver {
    pub(super) fn new(gpu: &Gpu, form: &KernelConfig, precision: Precision) -> Result<Self> {
        let module = gpu.module(&source(form, precision))?;
        Ok(Self {
            gpu: gpu.clone(),
            hop: [module.kernel("solver_hop")?, module.kernel("solver_hop_dagger")?],
            product: [
                module.kernel("solver_product_acc64")?,
                module.kernel("solver_product_dagger_acc64")?,
            ],
            residual: module.kernel("solver_residual_acc64")?,
            direction: module.kernel("solver_direction_acc64")?,
        })
    }

    /// Prepares a system up to its first direction.
    pub(super) fn begin<'a, R: LatticePrecision>(
        &'a self,
        operator: &'a Operator<R>,
        reducer: &Reducer<R>,
        kappa: f64,
        b: &Buffer<R>,
        stop: Stop,
    ) -> Result<Iteration<'a, R>> {
        let gpu = &self.gpu;
        let form = operator.form();
        let reals = form.extents.half_volume() * SPINOR_REALS;
        assert_eq!(b.len(), reals, "a right-hand side on the sites of one parity");
        let zeros = || gpu.zeros::<R>(reals);
        let units = reals * size_of::<R>() / UNIT_BYTES;
        let vector_blocks = units.div_ceil(VECTOR_UNITS * form.threads() as usize);
        let square = reducer.sum_of_squares(b)?;
        let (numbers, words) = untouched(stop.tolerance * stop.tolerance * square, stop.most);
        let r = zeros()?;
        r.copy_from(b)?;
        let history = gpu.zeros(stop.most + 1)?;
        history.upload_to(0, &[square])?;
        Ok(Iteration {
            solver: self,
            operator,
            kappa,
            square,
            stop,
            vector_blocks,
            x: zeros()?,
            r,
            s: zeros()?,
            p: zeros()?,
            q: zeros()?,
            odd: zeros()?,
            sums: gpu.zeros(vector_blocks.max(form.blocks()))?,
            numbers: gpu.upload(&numbers)?,
            history,
            words: gpu.upload(&words)?,
        })
    }
}

/// A system on the device; the arrays are those of [`SolverArgs`].
#[derive(Debug)]
pub(crate) struct Iteration<'a, R> {
    solver: &'a Solver,
    operator: &'a Operator<R>,
    kappa: f64,
    /// Square of the norm of the right-hand side.
    square: f64,
    stop: Stop,
    vector_blocks: usize,
    x: Buffer<R>,
    r: Buffer<R>,
    s: Buffer<R>,
    p: Buffer<R>,
    q: Buffer<R>,
    odd: Buffer<R>,
    sums: Buffer<f64>,
    numbers: Buffer<f64>,
    history: Buffer<f64>,
    words: Buffer<u64>,
}

impl<R: LatticePrecision> Iteration<'_, R> {
    fn launch(&self, kernel: &Kernel, hop: WilsonArgs<R>, blocks: usize) -> Result<()> {
        let args = SolverArgs {
            hop,
            x: self.x.pointer(),
            r: self.r.pointer(),
            s: self.s.pointer(),
            p: self.p.pointer(),
            q: self.q.pointer(),
            sums: self.sums.pointer(),
            numbers: self.numbers.pointer(),
            history: self.history.pointer(),
            words: self.words.pointer(),
        };
        let launch = Launch::new([blocks as u32, 1], self.operator.form().threads());
        // SAFETY: this value owns all arrays, with the length of one parity and of one number for each block.
        unsafe { kernel.launch(launch, &args) }
    }

    /// A product with the preconditioned operator, or with its adjoint, and its norm.
    fn multiply(&self, is_dagger: bool, from: &Buffer<R>, to: &Buffer<R>) -> Result<()> {
        let blocks = self.operator.form().blocks();
        let first = self.operator.args(Parity::Odd, from, &self.odd);
        self.launch(&self.solver.hop[usize::from(is_dagger)], first, blocks)?;
        let second = WilsonArgs {
            base: from.pointer().read(),
            coefficient: R::of(-self.kappa * self.kappa),
            ..self.operator.args(Parity::Even, &self.odd, to)
        };
        self.launch(&self.solver.product[usize::from(is_dagger)], second, blocks)
    }

    fn advance(&self, kernel: &Kernel) -> Result<()> {
        self.launch(kernel, WilsonArgs::default(), self.vector_blocks)
    }

    /// Computes the first direction.
    fn start(&self) -> Result<()> {
        self.multiply(true, &self.r, &self.s)?;
        self.advance(&self.solver.direction)
    }

    /// Queues an iteration; a system that has converged does not change.
    pub(crate) fn iterate(&self) -> Result<()> {
        self.multiply(false, &self.p, &self.q)?;
        self.advance(&self.solver.residual)?;
        self.multiply(true, &self.r, &self.s)?;
        self.advance(&self.solver.direction)
    }

    /// Iterates to the end; returns the solution, and the squares of the norms of the residuals.
    pub(super) fn finish(self) -> Result<(Buffer<R>, Vec<f64>)> {
        if self.square == 0.0 {
            return Ok((self.x, vec![0.0]));
        }
        self.start()?;
        let gpu = &self.solver.gpu;
        let mut graph = gpu.capture(|| (0..ITERATIONS).try_for_each(|_| self.iterate()))?;
        let words = loop {
            graph.launch()?;
            let words = self.words.to_vec()?;
            if words[VERDICT] != RUNNING {
                break words;
            }
        };
        let mut history = vec![0.0; words[DONE] as usize + 1];
        self.history.download_from(0, &mut history)?;
        Ok((self.x, history))
    }

    /// `|r - M_hat x|²`; overwrites the residual.
    pub(super) fn residual2(&self, x: &Buffer<R>) -> Result<f64> {
        self.multiply(false, x, &self.q)?;
        let (mut numbers, words) = untouched(0.0, 1);
        numbers[LENGTH] = 1.0;
        self.numbers.upload(&numbers)?;
        self.words.upload(&words)?;
        self.advance(&self.solver.residual)?;
        Ok(self.history.to_vec()?[1])
    }

    /// Times of the first iterations for this right-hand side, in a graph, s each. Each measurement starts anew, since
    /// a residual of zero would end it.
    pub(crate) fn times(&self, b: &Buffer<R>, runs: u32) -> Result<Vec<f64>> {
        let gpu = &self.solver.gpu;
        let mut graph = gpu.capture(|| (0..ITERATIONS).try_for_each(|_| self.iterate()))?;
        (0..runs)
            .map(|_| {
                let (numbers, words) = untouched(0.0, self.stop.most);
                self.numbers.upload(&numbers)?;
                self.words.upload(&words)?;
                self.r.copy_from(b)?;
                self.p.clear()?;
                self.start()?;
                let time = gpu.elapsed(|| graph.launch())? / ITERATIONS as f64;
                // All iterations must have been executed.
                match self.words.to_vec()?[..] {
                    [RUNNING, done, _] if done as usize == ITERATIONS => Ok(time),
                    ref other => {
                        Err(Error::Gpu(format!("the solver stopped with verdict {other:?}")))
                    }
                }
            })
            .collect()
    }
}
