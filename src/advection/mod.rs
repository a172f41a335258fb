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
//! and without function calls, so that its bits do not depend on the instruction set. As many tracers are transported
//! at a time as there are threads; a thread without a tracer of its own takes blocks of another tracer.
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

pub use crate::constituents::Limiter;
use crate::dry_mass::{AirMass, MassFlux};
use crate::grid::{Grid, Shape};
use crate::primitives::exact_sum::ExactSum;
use crate::real::Real;
use crate::state::BoundaryValues;
pub use boundary::radiative_outflow;
use flux::FluxConstants;
use march::{Scratch, block_rows};
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

/// Work space of the CPU version, reused from step to step, so that a step allocates nothing.
#[derive(Debug)]
pub struct Workspace<R> {
    /// The tracer after the first and after the second stage. Shape: (nz, ny, nx).
    stages: [Array3<R>; 2],
    /// Scratch of each thread, shared by all tracers.
    scratch: Arc<[Mutex<Scratch<R>>]>,
    /// Rows that a thread computes at a time.
    block: usize,
    /// Inflow through the sides of each row.
    inflow: Vec<ExactSum>,
    /// A perturbed term, for tests; `None` in the scheme itself.
    pub perturbation: Option<Perturbation>,
}

impl<R: Real> Workspace<R> {
    /// Work space for fields of this shape and for the threads of the current pool.
    pub fn new(shape: Shape) -> Self {
        let threads = rayon::current_num_threads();
        let block = block_rows(shape, threads);
        Self {
            stages: [Array3::zeros(shape.centre()), Array3::zeros(shape.centre())],
            scratch: (0..threads).map(|_| Mutex::new(Scratch::new(shape.nx, block))).collect(),
            block,
            inflow: vec![ExactSum::default(); shape.ny],
            perturbation: None,
        }
    }

    /// Work space for another tracer at the same time, which shares the scratch of the threads.
    #[must_use]
    pub fn sibling(&self) -> Self {
        Self {
            stages: self.stages.each_ref().map(|stage| Array3::zeros(stage.dim())),
            scratch: Arc::clone(&self.scratch),
            block: self.block,
            inflow: vec![ExactSum::default(); self.inflow.len()],
            perturbation: self.perturbation,
        }
    }
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
    step_counting(wind, limiter, inflow, q, work).value()
}

/// The same with the exact sum of what the fluxes carried, to be added to that of other parts of the grid.
///
/// # Panics
///
/// As [`step`].
pub(crate) fn step_counting<R: FluxConstants>(
    wind: &Wind<'_, R>,
    limiter: Limiter,
    inflow: InflowValues<'_, R>,
    q: &mut Array3<R>,
    work: &mut Workspace<R>,
) -> ExactSum {
    check_shapes(wind, q, work);
    if let InflowValues::Values(BoundaryValues { west, east, south, north }) = inflow {
        let Shape { nx, ny, nz } = wind.grid.shape;
        let sides = [west, east, south, north].map(Array2::dim);
        assert_eq!(sides, [(nz, ny), (nz, ny), (nz, nx), (nz, nx)], "shapes of the inflow");
    }
    let Workspace { stages: [first, second], scratch, block, inflow: sums, perturbation } = work;
    let (block, perturbation) = (*block, *perturbation);
    // The stages advance a third, a half and the whole of the step.
    let [third, half, whole] = [wind.dt / 3.0, wind.dt / 2.0, wind.dt].map(R::of);
    let (ending, entrance) = (StageOutput::Update, None);
    let start = memory(q);

    let stage = Stage {
        wind,
        field: start,
        start,
        dt: third,
        limiter: Limiter::None,
        ending,
        entrance,
        perturbation,
    };
    march::run(&stage, block, scratch, sums, first);
    specified::set_specified(wind, inflow, first);

    let stage = Stage {
        wind,
        field: memory(first),
        start,
        dt: half,
        limiter: Limiter::None,
        ending,
        entrance,
        perturbation,
    };
    march::run(&stage, block, scratch, sums, second);
    specified::set_specified(wind, inflow, second);

    let stage = Stage {
        wind,
        field: memory(second),
        start,
        dt: whole,
        limiter,
        ending,
        entrance: Some(&InflowFaces::new(wind.grid)),
        perturbation,
    };
    let entered = march::run(&stage, block, scratch, sums, first);
    specified::set_specified(wind, inflow, first);

    std::mem::swap(q, first);
    entered
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
    march::run(&stage, work.block, &work.scratch, &mut work.inflow, &mut net);
    net
}

fn check_shapes<R: Real>(wind: &Wind<'_, R>, q: &Array3<R>, work: &Workspace<R>) {
    let shape = wind.grid.shape;
    assert!(shape.cells() > 0, "a grid of {shape} cells");
    assert!(wind.air.is_of(shape), "masses of a grid of {shape} cells");
    assert_eq!(q.dim(), shape.centre(), "shape of the tracer");
    assert_eq!(work.stages[0].dim(), shape.centre(), "shape of the workspace");
    assert_eq!(wind.flux.x.dim(), shape.x_face(), "shape of the fluxes along x");
    assert_eq!(wind.flux.y.dim(), shape.y_face(), "shape of the fluxes along y");
    assert_eq!(wind.flux.z.dim(), shape.z_face(), "shape of the fluxes along z");
}
