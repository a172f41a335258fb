//! One size on the GPU.

use super::super::Bench;
use super::super::gpu::{PhysicsArrays, Tracers, stepping, transport_on};
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
use crate::grid::Shape;
use crate::model::replicated_grid::ReplicatedGrid;
use crate::physics::scheme::Scheme;
use crate::real::Precision;

/// Name of the platform.
pub(super) const PLACE: &str = "GPU";

/// An allocation, or the reason why it failed for lack of memory.
type Allocated<T> = std::result::Result<T, String>;

/// A grid to be measured on a device.
pub(super) struct Case<'a, R> {
    pub(super) bench: &'a Bench,
    pub(super) scheme: &'a dyn Scheme,
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
fn mappings(
    gpu: &Gpu,
    scheme: &dyn Scheme,
    precision: Precision,
    shape: Shape,
) -> Vec<Option<String>> {
    let (nz, columns) = (shape.nz, shape.columns());
    let Some(all) = scheme.mappings() else { return vec![None] };
    let first = all.candidates(precision, nz).into_iter().next();
    let built_in = [1, usize::MAX].map(|columns| all.built_in(precision, nz, columns));
    let mut mappings: Vec<String> = first.into_iter().chain(built_in).collect();
    let chosen = all.fastest(gpu, precision, nz, columns);
    if !mappings.contains(&chosen) {
        mappings.push(chosen);
    }
    mappings.dedup();
    mappings.into_iter().map(Some).collect()
}

impl<R: FilePrecision + GpuPrecision> Case<'_, R> {
    /// Times of all variants of a subject.
    pub(super) fn measure(&self, subject: Subject) -> Result<Allocated<Vec<(String, Timed)>>> {
        let measured = match subject {
            Subject::Physics => self.physics(),
            Subject::Advection => self.transport(),
            Subject::Step => self.step(),
        };
        match measured {
            Err(Failure::NoRoom(why)) => Ok(Err(why)),
            Err(Failure::Other(error)) => Err(error),
            Ok(timed) => Ok(Ok(timed)),
        }
    }

    fn physics(&self) -> Variants {
        let Self { bench, scheme, gpu, replicated } = *self;
        let shape = replicated.grid.shape;
        let mappings = match bench.mapping {
            Some(choice) => vec![choice.of(gpu, &shape, R::PRECISION, scheme)],
            None => mappings(gpu, scheme, R::PRECISION, shape),
        };
        let columns = allocated(PhysicsArrays::new(gpu, replicated, (scheme, false)))?;
        let mut variants = Vec::new();
        for mapping in mappings {
            let kernels = allocated(columns.kernels(gpu, scheme, mapping.as_deref()))?;
            let call = || columns.call(&*kernels, bench.dt);
            let times = call_times(gpu, bench.runs, || columns.restore(), call)?;
            variants.push((kernels.mapping(), timed(times)));
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
        let Self { bench, scheme, gpu, replicated } = *self;
        let replicated = &*replicated.carrying(&scheme.about().set());
        let run = stepping(bench, gpu, replicated, Limiter::PositiveDefinite, scheme);
        let (mut run, needs) = allocated(run)?;
        run.drive(&TimeInterpolant::lasting(&replicated.forcing))?;
        let times = step_times(gpu, bench.runs, &mut run, &replicated.state, bench.dt)?;
        let timed = timed((Timing::Graph, times));
        let device_bytes_per_cell = Some(needs.per_cell());
        Ok(vec![("step".to_owned(), Timed { device_bytes_per_cell, ..timed })])
    }
}
