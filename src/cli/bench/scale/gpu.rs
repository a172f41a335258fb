//! One size on the GPU.

use super::super::Bench;
use super::super::gpu::{PhysicsArrays, Tracers, mapping_text, stepping, transport_on};
use super::super::gpu_times::{call_times, step_times};
use super::super::measurement::Timing;
use super::{Subject, TRACERS, Timed, resident};
use crate::advection::Limiter;
use crate::advection::gpu::TransportSettings;
use crate::backend::Backend;
use crate::backend::gpu::GpuPrecision;
use crate::cli::FilePrecision;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::forcing::TimeInterpolant;
use crate::model::replicated_grid::ReplicatedGrid;
use crate::physics::wsm5::Sedimentation;
use crate::physics::wsm5::gpu::{Mapping, Tile};
use crate::real::Precision;

/// Name of the platform.
pub(super) const PLACE: &str = "GPU";

/// An allocation, or the reason why it failed for lack of memory.
type Allocated<T> = std::result::Result<T, String>;

/// A grid to be measured on a device.
pub(super) struct Case<'a, R> {
    pub(super) bench: &'a Bench,
    pub(super) fallout: Sedimentation,
    pub(super) gpu: &'a Gpu,
    pub(super) replicated: &'a ReplicatedGrid<R>,
}

/// Errors that end a series, and errors that end the command.
enum Failure {
    NoRoom(String),
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// Memory and kernels for a grid; an error of these shows the end of the range.
fn allocated<T>(made: Result<T>) -> Result<T, Failure> {
    made.map_err(|error| match error {
        error if error.is_of_gpu() => Failure::NoRoom(error.to_string()),
        other => Failure::Other(other),
    })
}

type Variants = Result<Vec<(String, Timed)>, Failure>;

fn timed((timing, times): (Timing, Vec<f64>)) -> Timed {
    Timed { timing, times, device_bytes_per_cell: None, resident: resident() }
}

/// Mappings to compare: a thread for a column, narrow and wide tiles, and the default one.
fn mappings(gpu: &Gpu, bed_columns: usize, key: (Precision, Sedimentation, usize)) -> Vec<Mapping> {
    let (precision, fallout, nz) = key;
    let tile = |columns| Mapping::Tile(Tile::choose(columns, precision, fallout, nz));
    let mut mappings = vec![Mapping::Column, tile(1), tile(usize::MAX)];
    let chosen = Mapping::for_device(gpu, bed_columns, precision, fallout, nz);
    if !mappings.contains(&chosen) {
        mappings.push(chosen);
    }
    mappings.dedup();
    mappings
}

impl<R: FilePrecision + GpuPrecision> Case<'_, R> {
    /// Times of all variants of a subject.
    pub(super) fn measure(&self, subject: Subject) -> Result<Allocated<Vec<(String, Timed)>>> {
        let measured = match subject {
            Subject::Wsm5 => self.wsm5(),
            Subject::Advection => self.transport(),
            Subject::Step => self.step(),
        };
        match measured {
            Err(Failure::NoRoom(why)) => Ok(Err(why)),
            Err(Failure::Other(error)) => Err(error),
            Ok(timed) => Ok(Ok(timed)),
        }
    }

    fn wsm5(&self) -> Variants {
        let Self { bench, fallout, gpu, replicated } = *self;
        let shape = replicated.grid.shape;
        let key = (R::PRECISION, fallout, shape.nz);
        let mappings = match bench.mapping {
            Some(choice) => vec![choice.of(gpu, &shape, key.0, fallout)],
            None => mappings(gpu, shape.columns(), key),
        };
        let columns = allocated(PhysicsArrays::new(gpu, replicated, 0))?;
        let mut variants = Vec::new();
        for mapping in mappings {
            let wsm5 = allocated(columns.wsm5(gpu, fallout, mapping))?;
            let call = || wsm5.call(&columns.place(), bench.dt);
            let times = call_times(gpu, bench.runs, || columns.restore(), call)?;
            variants.push((mapping_text(mapping), timed(times)));
        }
        Ok(variants)
    }

    fn transport(&self) -> Variants {
        let Self { bench, gpu, replicated, .. } = *self;
        let (precision, limiter) = (R::PRECISION, Limiter::PositiveDefinite);
        let settings =
            TransportSettings::for_device(gpu, &replicated.grid, precision, [TRACERS, 0], limiter);
        let tracers = allocated(Tracers::new(gpu, replicated, settings))?;
        let transport = allocated(transport_on(gpu, replicated, settings))?;
        let call = || tracers.step(&transport, bench.dt);
        let times = call_times(gpu, bench.runs, || Ok(()), call)?;
        Ok(vec![("transport".to_owned(), timed(times))])
    }

    fn step(&self) -> Variants {
        let Self { bench, fallout, gpu, replicated } = *self;
        let run = stepping(bench, gpu, replicated, Limiter::PositiveDefinite, fallout);
        let (mut run, needs) = allocated(run)?;
        run.drive(&TimeInterpolant::lasting(&replicated.forcing))?;
        let times = step_times(gpu, bench.runs, &mut run, &replicated.state, bench.dt)?;
        let timed = timed((Timing::Graph, times));
        let device_bytes_per_cell = Some(needs.per_cell());
        Ok(vec![("step".to_owned(), Timed { device_bytes_per_cell, ..timed })])
    }
}
