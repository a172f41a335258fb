//! Test fixture of the timings: a grid on the device, and the data of the kernels of a knob.

use crate::advection::Limiter;
use crate::advection::gpu::transport::Transport;
use crate::advection::gpu::{TransportSettings, TuningPoint};
use crate::backend::gpu::GpuPrecision;
use crate::cli::FilePrecision;
use crate::cli::bench::gpu::{PhysicsArrays, Tracers, transport_on};
use crate::cli::bench::gpu_times::call_times;
use crate::cli::bench::measurement::median;
use crate::device::Gpu;
use crate::error::Result;
use crate::gpu::tuning::{Knob, KnobSetting};
use crate::grid::Shape;
use crate::model::replicated_grid::{ReplicatedGrid, Replication};
use crate::physics::device::DeviceColumns;
use crate::physics::registry::usual_set;
use crate::real::Real;

/// A grid of repeated columns, for one knob.
pub(super) struct TestGrid<'a, R> {
    gpu: Gpu,
    knob: &'a Knob,
    tile: Replication,
    grid: ReplicatedGrid<R>,
    data: TestData<R>,
}

/// Data of the kernels.
enum TestData<R> {
    Columns(Box<PhysicsArrays<R>>),
    /// One for each layout of the rows that a launch configuration may need.
    Tracers(Vec<Tracers<R>>),
}

/// The kernels of one setting.
pub(super) enum CandidateKernels<'a, R> {
    Columns(&'a Gpu, &'a PhysicsArrays<R>, Box<dyn DeviceColumns<R>>),
    Transport(&'a Gpu, &'a Tracers<R>, Box<Transport<R>>),
}

impl<'a, R: FilePrecision + GpuPrecision> TestGrid<'a, R> {
    /// Columns of a source, repeated to a grid of this size.
    pub(super) fn new(
        gpu: &Gpu,
        source: &ReplicatedGrid<R>,
        tile: Replication,
        knob: &'a Knob,
    ) -> Result<Self> {
        let grid = match knob {
            Knob::Transport => source.carrying(&usual_set()).repeated(tile),
            Knob::Columns(_) => source.repeated(tile),
        };
        let data = match knob {
            Knob::Columns(scheme) => {
                TestData::Columns(Box::new(PhysicsArrays::new(gpu, &grid, (&**scheme, false))?))
            }
            Knob::Transport => {
                let point = TuningPoint::choose(tile.nx * tile.ny, <R as Real>::PRECISION);
                let mut all: Vec<Tracers<R>> = Vec::new();
                for cells in TuningPoint::CELLS {
                    let settings = settings(TuningPoint { cells, ..point }, gpu, &grid);
                    let layout = settings.layout(&grid.grid);
                    if all.iter().all(|tracers| tracers.layout() != layout) {
                        all.push(Tracers::new(gpu, &grid, settings)?);
                    }
                }
                TestData::Tracers(all)
            }
        };
        Ok(Self { gpu: gpu.clone(), knob, tile, grid, data })
    }

    /// Its columns.
    pub(super) fn tile(&self) -> Replication {
        self.tile
    }

    /// Its shape.
    pub(super) fn shape(&self) -> Shape {
        self.grid.grid.shape
    }

    /// Compiles the kernels of a setting of the knob.
    ///
    /// # Panics
    ///
    /// For a setting of another knob.
    pub(super) fn candidate(&self, setting: &KnobSetting) -> Result<CandidateKernels<'_, R>> {
        let Self { gpu, grid, .. } = self;
        match (&self.data, self.knob, setting) {
            (TestData::Columns(columns), Knob::Columns(scheme), KnobSetting::Columns(mapping)) => {
                let kernels = columns.kernels(gpu, &**scheme, Some(mapping))?;
                Ok(CandidateKernels::Columns(gpu, columns, kernels))
            }
            (TestData::Tracers(all), Knob::Transport, KnobSetting::Transport(point)) => {
                let transport = transport_on(gpu, grid, settings(*point, gpu, grid))?;
                let layout = transport.layout();
                let tracers = all.iter().find(|tracers| tracers.layout() == layout);
                let tracers = tracers.expect("tracers for every number of cells of a march");
                Ok(CandidateKernels::Transport(gpu, tracers, Box::new(transport)))
            }
            _ => panic!("{setting} is none of {:?}", self.knob),
        }
    }
}

impl<R: FilePrecision + GpuPrecision> CandidateKernels<'_, R> {
    /// The fields after one call of `dt` seconds.
    pub(super) fn result(&self, dt: f64) -> Result<Vec<R>> {
        self.restore()?;
        self.call(dt)?;
        match self {
            Self::Columns(_, columns, _) => columns.state().to_vec(),
            Self::Transport(_, tracers, _) => tracers.end(),
        }
    }

    /// Time of a call, s: the median of several.
    pub(super) fn time(&self, runs: u32, dt: f64) -> Result<f64> {
        let (Self::Columns(gpu, ..) | Self::Transport(gpu, ..)) = self;
        let (_, times) = call_times(gpu, runs, || self.restore(), || self.call(dt))?;
        Ok(median(times))
    }

    fn restore(&self) -> Result<()> {
        match self {
            Self::Columns(_, columns, _) => columns.restore(),
            // A step does not change its initial values.
            Self::Transport(..) => Ok(()),
        }
    }

    fn call(&self, dt: f64) -> Result<()> {
        match self {
            Self::Columns(_, columns, kernels) => columns.call(&**kernels, dt),
            Self::Transport(_, tracers, transport) => tracers.step(transport, dt),
        }
    }
}

/// The transport of a step: all fields of the state, the first without limiter.
fn settings<R: FilePrecision>(
    point: TuningPoint,
    gpu: &Gpu,
    grid: &ReplicatedGrid<R>,
) -> TransportSettings {
    let tracers = [grid.state.set().carried(), 1];
    let precision = <R as Real>::PRECISION;
    TransportSettings::with_tuning(
        point,
        gpu,
        &grid.grid,
        precision,
        tracers,
        Limiter::PositiveDefinite,
    )
}
