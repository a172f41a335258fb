//! The Wilson operator on the device: launchers of the hopping term, of the rungs of its ladder, and of conjugate
//! gradients.

#![allow(unsafe_code, reason = "the launcher of a kernel is responsible for its arguments")]

pub mod arguments;
mod kernel_config;
pub mod ladder;
mod solver;

pub use kernel_config::{KernelConfig, Load, TWO_ROWS, brick};
pub use solver::{source as solver_source, untouched};

use std::sync::Arc;

use self::arguments::WilsonArgs;
use crate::device::{Buffer, Element, Gpu, Kernel, KernelSource, Launch, Resources};
use crate::error::Result;
use crate::lattice::{Dirac, Extents, GaugeField, LINK_REALS, Parity, SPINOR_REALS, Stop};
use crate::primitives::gpu::reduce::Reducer;
use crate::real::{Precision, Real};
use solver::{Iteration, Solver};

/// A precision with kernels.
pub trait LatticePrecision: Real + Element {}

impl<R: Real + Element> LatticePrecision for R {}

/// The kernels of the operator in one form.
pub fn source(form: &KernelConfig, precision: Precision) -> KernelSource {
    form.source("lattice/wilson.cu", precision)
}

/// The links of a lattice on the device, and kernels in one form.
#[derive(Debug)]
pub struct Operator<R> {
    gpu: Gpu,
    form: KernelConfig,
    links: Arc<[Buffer<R>; 2]>,
    end_sign: R,
    hop: [Kernel; 2],
    add: [Kernel; 2],
    hop_loop: Kernel,
}

impl<R: LatticePrecision> Operator<R> {
    /// Uploads the links and compiles the kernels.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    pub fn new(gpu: &Gpu, gauge: GaugeField<'_>, form: KernelConfig) -> Result<Self> {
        let links = [Parity::Even, Parity::Odd]
            .map(|parity| gpu.upload(&form.lay_links::<R>(parity, gauge.links)));
        let [even, odd] = links;
        Self::with_links(gpu, Arc::new([even?, odd?]), gauge.antiperiodic_t, form)
    }

    /// The same with links that are on the device already in this form.
    pub(crate) fn with_links(
        gpu: &Gpu,
        links: Arc<[Buffer<R>; 2]>,
        antiperiodic_t: bool,
        form: KernelConfig,
    ) -> Result<Self> {
        let module = gpu.module(&source(&form, R::PRECISION))?;
        Ok(Self {
            gpu: gpu.clone(),
            form,
            links,
            end_sign: if antiperiodic_t { -R::ONE } else { R::ONE },
            hop: [module.kernel("wilson_hop")?, module.kernel("wilson_hop_dagger")?],
            add: [module.kernel("wilson_add")?, module.kernel("wilson_add_dagger")?],
            hop_loop: module.kernel("wilson_hop_loop")?,
        })
    }

    /// The links, for kernels of another form with the same layout.
    pub(crate) fn links(&self) -> Arc<[Buffer<R>; 2]> {
        Arc::clone(&self.links)
    }

    /// The form of the kernels.
    pub fn form(&self) -> &KernelConfig {
        &self.form
    }

    /// Resources of the kernel of the hopping term, with this much dynamic shared memory.
    pub(crate) fn resources(&self, shared_bytes: u32) -> Result<Resources> {
        self.kernel_of_hop(false).resources(self.form.threads(), shared_bytes)
    }

    /// Allows the kernel of the hopping term more shared memory than the default limit.
    pub(crate) fn allow_shared_memory(&self, bytes: u32) -> Result<()> {
        self.kernel_of_hop(false).allow_shared_memory(bytes)
    }

    fn kernel_of_hop(&self, is_dagger: bool) -> &Kernel {
        if self.form.loops_sides { &self.hop_loop } else { &self.hop[usize::from(is_dagger)] }
    }

    fn args(&self, parity: Parity, input: &Buffer<R>, out: &Buffer<R>) -> WilsonArgs<R> {
        WilsonArgs {
            out: out.pointer(),
            in_: input.pointer().read(),
            links_here: self.links[parity as usize].pointer().read(),
            links_there: self.links[parity.other() as usize].pointer().read(),
            end_sign: self.end_sign,
            parity: parity as i32,
            sides: 1,
            ..WilsonArgs::default()
        }
    }

    fn launch(&self, kernel: &Kernel, args: &WilsonArgs<R>, shared_bytes: u32) -> Result<()> {
        let flat = Launch::new([self.form.blocks() as u32, 1], self.form.threads());
        let launch = Launch { shared_bytes, ..flat };
        // SAFETY: callers have checked the lengths of the fields; the links have the length of the form.
        unsafe { kernel.launch(launch, args) }
    }

    /// `out = D in` or `D† in` for all right-hand sides of the fields, which are contiguous and as many as the form has.
    /// Dynamic shared memory limits the occupancy.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu).
    ///
    /// # Panics
    ///
    /// If the fields have other lengths.
    pub fn hop(
        &self,
        parity: Parity,
        is_dagger: bool,
        input: &Buffer<R>,
        out: &Buffer<R>,
        shared_bytes: u32,
    ) -> Result<()> {
        let of_side = self.form.extents.half_volume() * SPINOR_REALS;
        assert_eq!(input.len(), out.len(), "fields of equal length");
        let sides = out.len() / of_side;
        assert_eq!(out.len(), sides * of_side, "whole right-hand sides");
        let is_right = if self.form.loops_sides {
            sides.is_multiple_of(self.form.sides())
        } else {
            sides == self.form.sides()
        };
        assert!(is_right, "{sides} right-hand sides for {:?}", self.form);
        let args = WilsonArgs { sides: sides as i32, ..self.args(parity, input, out) };
        self.launch(self.kernel_of_hop(is_dagger), &args, shared_bytes)
    }

    /// `out = base + coefficient D in` for one right-hand side.
    fn add_hop(
        &self,
        parity: Parity,
        is_dagger: bool,
        input: &Buffer<R>,
        (base, coefficient): (&Buffer<R>, f64),
        out: &Buffer<R>,
    ) -> Result<()> {
        let reals = self.form.extents.half_volume() * SPINOR_REALS;
        assert_eq!([input.len(), base.len(), out.len()], [reals; 3], "one right-hand side");
        let args = WilsonArgs {
            base: base.pointer().read(),
            coefficient: R::of(coefficient),
            ..self.args(parity, input, out)
        };
        self.launch(&self.add[usize::from(is_dagger)], &args, 0)
    }
}

/// The Wilson operator and its solver on the device.
#[derive(Debug)]
pub struct GpuDirac<R> {
    operator: Operator<R>,
    solver: Solver,
    reducer: Reducer<R>,
}

/// Distance of links from SU(3) up to which single precision cannot distinguish a rebuilt third row from a stored one:
/// a quarter of its unit roundoff, 6e-8.
const REBUILT: f64 = 1.5e-8;

impl<R: LatticePrecision> GpuDirac<R> {
    /// Uploads links; `distance` is their largest distance from SU(3).
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu).
    pub fn new(gpu: &Gpu, gauge: GaugeField<'_>, distance: f64) -> Result<Self> {
        let is_rebuilt = R::PRECISION == Precision::F32 && distance <= REBUILT;
        let link_reals = if is_rebuilt { TWO_ROWS } else { LINK_REALS };
        Self::with(gpu, gauge, KernelConfig::choose(R::PRECISION, gauge.extents, link_reals))
    }

    /// The same in a given form.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu).
    pub fn with(gpu: &Gpu, gauge: GaugeField<'_>, form: KernelConfig) -> Result<Self> {
        gpu.compile_ahead(vec![source(&form, R::PRECISION), solver::source(&form, R::PRECISION)])?;
        Ok(Self {
            operator: Operator::new(gpu, gauge, form)?,
            solver: Solver::new(gpu, &form, R::PRECISION)?,
            reducer: Reducer::new(gpu)?,
        })
    }

    /// The operator.
    pub(crate) fn operator(&self) -> &Operator<R> {
        &self.operator
    }

    /// The kernels of an iteration, for timing.
    pub(crate) fn iteration(
        &self,
        kappa: f64,
        b: &Buffer<R>,
        stop: Stop,
    ) -> Result<Iteration<'_, R>> {
        self.solver.begin(&self.operator, &self.reducer, kappa, b, stop)
    }
}

impl<R: LatticePrecision> Dirac<R> for GpuDirac<R> {
    type Half = Buffer<R>;

    fn extents(&self) -> Extents {
        self.operator.form.extents
    }

    fn zeros(&self) -> Result<Buffer<R>> {
        self.operator.gpu.zeros(self.extents().half_volume() * SPINOR_REALS)
    }

    fn load(&self, parity: Parity, psi: &[R]) -> Result<Buffer<R>> {
        self.operator.gpu.upload(&self.operator.form.lay_spinors(parity, psi))
    }

    fn store(&self, parity: Parity, half: &Buffer<R>, psi: &mut [R]) -> Result<()> {
        self.operator.form.pick_spinors(parity, &half.to_vec()?, psi);
        Ok(())
    }

    fn hop(
        &self,
        parity: Parity,
        is_dagger: bool,
        input: &Buffer<R>,
        base: Option<(&Buffer<R>, f64)>,
        out: &mut Buffer<R>,
    ) -> Result<()> {
        match base {
            None => self.operator.hop(parity, is_dagger, input, out, 0),
            Some(base) => self.operator.add_hop(parity, is_dagger, input, base, out),
        }
    }

    fn norm2(&self, half: &Buffer<R>) -> Result<f64> {
        self.reducer.sum_of_squares(half)
    }

    fn residual2(&self, kappa: f64, x: &Buffer<R>, b: &Buffer<R>) -> Result<f64> {
        let stop = Stop { tolerance: 0.0, most: 1 };
        self.iteration(kappa, b, stop)?.residual2(x)
    }

    fn conjugate_gradient(
        &self,
        kappa: f64,
        b: &Buffer<R>,
        stop: Stop,
    ) -> Result<(Buffer<R>, Vec<f64>)> {
        self.iteration(kappa, b, stop)?.finish()
    }
}
