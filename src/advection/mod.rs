//! Transport (advection) of tracers by a given wind.
//!
//! A step is a Runge-Kutta scheme of three stages. Each stage sums the fluxes through the faces of every cell: of fifth
//! order horizontally and third order vertically, of lower order next to the ground, the lid and lateral sides that are
//! not periodic. The last stage can limit the fluxes so that no value becomes negative, or that no new extrema arise.
//!
//! Stage s:  q ← qⁿ − Δt/(4 − s) · ∇·Φ(q) / M
//!
//! Source: WS02; SW09 (positive-definite limiter); W09 (monotonic limiter).
//!
//! # Decisions
//!
//! **The limiters use the air mass at both ends of a step** (`AirMass::with_end`). WRF limits the low-order flux with
//! one mass and starts from the other, and its files hold two roundings of the same mass.
//!
//! **The transport on the CPU is compiled for AVX-512 and AVX2.** It works block by block, without fused multiply-add
//! and without function calls, so that its bits do not depend on the instruction set.
//!
//! **The tracers of a thread are stepped together, stage by stage** (`march`). In a stage it takes the blocks of rows in
//! their order, and of each block all of its tracers, so that the mass fluxes of the block are in the caches for all but
//! the first. One tracer after the other, each through all stages, every stage of every tracer reads the mass fluxes from
//! memory, and a process of one thread took 1.2 times its share of two. Small fields go one after the other, since the
//! caches keep a tracer through its stages. Threads have tracers of their own, without waiting for each other; one that is
//! done takes blocks of another.
//!
//! **A block of rows is one strip of cells** (`strip`). The rows of a block are contiguous in the fields, so every
//! formula loops over all of them at once; the cells at the ends of rows are then computed again with their true
//! neighbours. Row by row, the overhead of a row of 71 cells was as large as the cost of its cells. A face is stored at
//! the index of the cell to its east, north or top; the last face of a row along x is its first one or not needed. The
//! number of rows of a block follows from the caches and threads; the bits do not depend on it.

pub mod boundary;
pub mod flux;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod limiter;
mod march;
pub mod perturbation;
mod rows;
mod specified;
mod stage;
mod strip;

use std::sync::{Arc, Mutex};

use ndarray::{Array2, Array3};
use rayon::prelude::*;

pub use crate::constituents::Limiter;
use crate::dry_mass::{AirMass, MassFlux};
use crate::grid::{Grid, Shape};
use crate::primitives::exact_sum::ExactSum;
use crate::real::Real;
use crate::state::BoundaryValues;
pub use boundary::radiative_outflow;
use flux::FluxConstants;
use march::{Pass, Scratch, block_rows};
use perturbation::Perturbation;
pub use stage::{HALO, MARGIN};
use stage::{InflowFaces, Stage, StageOutput, memory};

/// Wind of one step, common to all tracers.
#[derive(Clone, Copy, Debug)]
pub struct Wind<'a, R> {
    /// The grid and its sides.
    pub grid: &'a Grid,
    /// Mass of the cells and capacity of the faces.
    pub air: &'a AirMass<R>,
    /// Mass fluxes through the faces, kg s⁻¹; on a periodic axis the first equals the last.
    pub flux: &'a MassFlux<R>,
    /// Length of the step, s.
    pub dt: f64,
}

/// Boundary values of inflow through specified sides, in the units of the tracer.
#[derive(Clone, Copy, Debug)]
pub enum InflowValues<'a, R> {
    /// Zero.
    Nothing,
    /// The given values.
    Values(&'a BoundaryValues<R>),
    /// The value of the neighbour inside: no gradient across the side.
    Neighbour,
}

impl<'a, R> From<Option<&'a BoundaryValues<R>>> for InflowValues<'a, R> {
    fn from(values: Option<&'a BoundaryValues<R>>) -> Self {
        values.map_or(Self::Nothing, Self::Values)
    }
}

/// Most tracers that a thread transports together. A larger number saves little more of the reading of mass fluxes, and
/// each of these tracers needs two fields of work space.
const TOGETHER: usize = 8;
/// Bytes of a field up to which the caches of a core keep a tracer through its stages, which is worth more.
const CACHED_FIELD: usize = 1 << 20;

/// Work space of the CPU version, reused from step to step, so that a step allocates no field.
#[derive(Debug)]
pub struct Workspace<R> {
    /// Each of the tracers that are transported together, after the first and after the second stage. Shape: (nz, ny, nx).
    stages: Vec<[Array3<R>; 2]>,
    /// Scratch of each thread, shared by all work spaces.
    scratch: Arc<[Mutex<Scratch<R>>]>,
    /// Rows that a thread computes at a time.
    block: usize,
    /// A perturbed term, for tests; `None` in the scheme itself.
    pub perturbation: Option<Perturbation>,
}

impl<R: Real> Workspace<R> {
    /// Work space for fields of this shape and for the threads of the current pool.
    pub fn new(shape: Shape) -> Self {
        Self::for_tracers(shape, 1)
    }

    /// Work space for a thread that has so many tracers in every step.
    pub(crate) fn for_tracers(shape: Shape, tracers: usize) -> Self {
        // Groups as equal as possible, so that no work space is left unused.
        let is_cached = shape.cells() * size_of::<R>() <= CACHED_FIELD;
        let groups = tracers.div_ceil(if is_cached { 1 } else { TOGETHER }).max(1);
        Self::together(shape, tracers.div_ceil(groups).max(1))
    }

    /// Work space for so many tracers at a time.
    pub(crate) fn together(shape: Shape, tracers: usize) -> Self {
        let threads = rayon::current_num_threads();
        let block = block_rows(shape, threads);
        let stages = || [Array3::zeros(shape.centre()), Array3::zeros(shape.centre())];
        Self {
            stages: (0..tracers).map(|_| stages()).collect(),
            scratch: (0..threads).map(|_| Mutex::new(Scratch::new(shape.nx, block))).collect(),
            block,
            perturbation: None,
        }
    }

    /// Work space for other tracers at the same time, which shares the scratch of the threads.
    #[must_use]
    pub(crate) fn sibling(&self) -> Self {
        let stages = |[a, b]: &[Array3<R>; 2]| [Array3::zeros(a.dim()), Array3::zeros(b.dim())];
        Self {
            stages: self.stages.iter().map(stages).collect(),
            scratch: Arc::clone(&self.scratch),
            block: self.block,
            perturbation: self.perturbation,
        }
    }
}

/// A tracer that is transported together with others.
#[derive(Debug)]
pub(crate) struct Transported<'a, R> {
    pub(crate) q: &'a mut Array3<R>,
    pub(crate) limiter: Limiter,
    pub(crate) inflow: InflowValues<'a, R>,
}

/// One step of one tracer.
///
/// The specified sides are set after every stage: at outflow to the value of the neighbour inside, at inflow to the
/// boundary value of `inflow`.
///
/// Returns the net amount of tracer that the fluxes of the last stage carried into the region inside the specified and
/// open rows; 0 if all sides are periodic. The result does not depend on the number of threads.
///
/// Source: WS02 (time scheme), SW09, W09 (limiters).
/// Shape: `q` (nz, ny, nx), i fastest.
/// Units: `q` kg kg⁻¹; returns kg.
///
/// # Panics
///
/// When the grid has no cells, or an array has another shape or is not in standard layout.
pub fn step<R: FluxConstants>(
    wind: &Wind<'_, R>,
    limiter: Limiter,
    inflow: InflowValues<'_, R>,
    q: &mut Array3<R>,
    work: &mut Workspace<R>,
) -> f64 {
    let tracer = Transported { q, limiter, inflow };
    step_together(wind, &mut [tracer], work)[0].value()
}

/// The same for several tracers, with the exact sum of what the fluxes of each carried, to be added to that of other
/// parts of the grid.
///
/// # Panics
///
/// As [`step`].
pub(crate) fn step_together<R: FluxConstants>(
    wind: &Wind<'_, R>,
    tracers: &mut [Transported<'_, R>],
    work: &mut Workspace<R>,
) -> Vec<ExactSum> {
    for Transported { q, inflow, .. } in &*tracers {
        check_shapes(wind, q, work);
        check_inflow(wind, *inflow);
    }
    let groups = tracers.chunks_mut(work.stages.len());
    groups.flat_map(|tracers| step_group(wind, tracers, work)).collect()
}

/// One step of at most as many tracers as the work space has stages for: each stage of all of them, then the next one.
fn step_group<R: FluxConstants>(
    wind: &Wind<'_, R>,
    tracers: &mut [Transported<'_, R>],
    work: &mut Workspace<R>,
) -> Vec<ExactSum> {
    let Workspace { stages, scratch, block, perturbation } = work;
    let entrance = InflowFaces::new(wind.grid);
    let mut entered = Vec::new();
    for number in [StageNumber::First, StageNumber::Second, StageNumber::Last] {
        let with_stages = tracers.iter().zip(&mut *stages);
        let passes = with_stages.map(|(tracer, [first, second])| {
            let start = memory(tracer.q);
            let (field, out) = match number {
                StageNumber::First => (start, first),
                StageNumber::Second => (memory(first), second),
                StageNumber::Last => (memory(second), first),
            };
            let (limiter, entrance) = match number {
                StageNumber::First | StageNumber::Second => (Limiter::None, None),
                StageNumber::Last => (tracer.limiter, Some(&entrance)),
            };
            let (dt, ending) = (number.length(wind.dt), StageOutput::Update);
            let perturbation = *perturbation;
            let stage = Stage { wind, field, start, dt, limiter, ending, entrance, perturbation };
            Pass { stage, out }
        });
        let mut passes: Vec<_> = passes.collect();
        entered = march::run(&mut passes, *block, scratch);
        passes.par_iter_mut().zip(&*tracers).for_each(|(pass, tracer)| {
            specified::set_specified(wind, tracer.inflow, pass.out);
        });
    }
    for (tracer, [first, _]) in tracers.iter_mut().zip(stages) {
        std::mem::swap(tracer.q, first);
    }
    entered
}

/// A stage of the Runge-Kutta scheme.
#[derive(Clone, Copy)]
enum StageNumber {
    First,
    Second,
    Last,
}

impl StageNumber {
    /// Length of the stage: a third, a half and the whole of the step.
    fn length<R: Real>(self, dt: f64) -> R {
        R::of(match self {
            Self::First => dt / 3.0,
            Self::Second => dt / 2.0,
            Self::Last => dt,
        })
    }
}

/// Net outflow of tracer from every cell by one evaluation of the fluxes.
///
/// `latest` are the values that the high-order fluxes carry; `start` are the values at the beginning of the step, used
/// by the limiter only. Specified sides are not set.
///
/// Shape: (nz, ny, nx), i fastest.
/// Units: kg kg⁻¹; returns kg s⁻¹.
///
/// # Panics
///
/// As [`step`].
pub fn net_outflow<R: FluxConstants>(
    wind: &Wind<'_, R>,
    limiter: Limiter,
    latest: &Array3<R>,
    start: &Array3<R>,
    work: &mut Workspace<R>,
) -> Array3<R> {
    check_shapes(wind, latest, work);
    check_shapes(wind, start, work);
    let stage = Stage {
        wind,
        field: memory(latest),
        start: memory(start),
        dt: R::of(wind.dt),
        limiter,
        ending: StageOutput::Outflow,
        entrance: None,
        perturbation: work.perturbation,
    };
    let mut net = Array3::zeros(latest.dim());
    march::run(&mut [Pass { stage, out: &mut net }], work.block, &work.scratch);
    net
}

fn check_inflow<R: Real>(wind: &Wind<'_, R>, inflow: InflowValues<'_, R>) {
    if let InflowValues::Values(BoundaryValues { west, east, south, north }) = inflow {
        let Shape { nx, ny, nz } = wind.grid.shape;
        let sides = [west, east, south, north].map(Array2::dim);
        assert_eq!(sides, [(nz, ny), (nz, ny), (nz, nx), (nz, nx)], "shapes of the inflow");
    }
}

fn check_shapes<R: Real>(wind: &Wind<'_, R>, q: &Array3<R>, work: &Workspace<R>) {
    let shape = wind.grid.shape;
    assert!(shape.cells() > 0, "a grid of {shape} cells");
    assert!(wind.air.is_of(shape), "masses of a grid of {shape} cells");
    assert_eq!(q.dim(), shape.centre(), "shape of the tracer");
    assert_eq!(work.stages[0][0].dim(), shape.centre(), "shape of the workspace");
    assert_eq!(wind.flux.x.dim(), shape.x_face(), "shape of the fluxes along x");
    assert_eq!(wind.flux.y.dim(), shape.y_face(), "shape of the fluxes along y");
    assert_eq!(wind.flux.z.dim(), shape.z_face(), "shape of the fluxes along z");
}
