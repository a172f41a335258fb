//! `nwp-mini columns` with any scheme of column physics.

use std::time::Instant;

use ndarray::{ArrayBase, Data, Dimension, Zip};

use super::{Columns, Steps, Work};
use crate::device::{Element, Gpu};
use crate::error::{Error, Result};
use crate::io::columns::physics::PhysicsCase;
use crate::io::writer::{Stored, Writer};
use crate::physics::device::{Launcher, Memory, OnDevice, Places};
use crate::physics::{Scratch, call};
use crate::primitives::reduce;

impl Columns {
    /// Runs a scheme.
    ///
    /// # Errors
    ///
    /// Every [`Error`] of reading, writing and computing.
    pub(super) fn run_physics<R: Stored + Element, P: OnDevice<R>>(
        &self,
        physics: &P,
    ) -> Result<()> {
        let mut case = PhysicsCase::<R>::read::<P>(&self.input)?;
        let steps = self.steps(case.dt, case.calls)?;
        let device = self.device(case.shape.nz, &P::LEVELS)?;
        let writer = Writer::create(&self.output, self.force)?;
        let start = Instant::now();
        let (place, compute) = match &device {
            None => ("the CPU".to_owned(), on_cpu(physics, &mut case, steps)?),
            Some(gpu) => on_gpu(gpu, physics, &mut case, steps)?,
        };
        let seconds = start.elapsed().as_secs_f64();
        case.write::<P>(writer, [steps.dt, steps.calls as f64])?;
        let (scheme, precision, shape) = (P::NAME, R::NAME, case.shape);
        let rest = "tendencies, checks, copies";
        let work = Work { scheme, place, precision, shape, compute, seconds, rest };
        self.summarise(&work, steps, &case.surface[0])
    }
}

/// Returns the time of the calls, s.
fn on_cpu<R: Stored + Element, P: OnDevice<R>>(
    physics: &P,
    case: &mut PhysicsCase<R>,
    Steps { dt, calls }: Steps,
) -> Result<f64> {
    let scratch = Scratch::new(physics, case.shape.nz);
    let mut compute = 0.0;
    for number in 1..=calls {
        force(case, R::of(dt));
        let start = Instant::now();
        call(physics, R::of(dt), &scratch, case.block());
        compute += start.elapsed().as_secs_f64();
        check_finite::<R, P>(case, number)?;
    }
    Ok(compute)
}

/// Returns the device and the mapping, in words, and the time of the calls, s.
fn on_gpu<R: Stored + Element, P: OnDevice<R>>(
    gpu: &Gpu,
    physics: &P,
    case: &mut PhysicsCase<R>,
    Steps { dt, calls }: Steps,
) -> Result<(String, f64)> {
    let launcher = physics.launcher(gpu, case.shape.nz, Places::all(case.shape), R::ZERO)?;
    let tracers = gpu.upload(&values(&case.tracers))?;
    let air = gpu.upload(&values(&case.air))?;
    let surface = gpu.upload(&values(&case.surface))?;
    let memory = Memory { tracers: &tracers, air: &air, surface: &surface };
    let is_forced = case.tendencies.iter().any(Option::is_some);
    let cells = case.shape.cells();
    let mut compute = 0.0;
    for number in 1..=calls {
        if is_forced {
            force(case, R::of(dt));
            // Both are the first of the tracers.
            tracers.upload_to(0, &values(&case.tracers[..2]))?;
        }
        compute += gpu.elapsed(|| launcher.call(&memory, dt))?;
        for (at, field) in case.tracers.iter_mut().enumerate() {
            let values = field.as_slice_mut().expect("fields are in standard layout");
            tracers.download_from(at * cells, values)?;
        }
        check_finite::<R, P>(case, number)?;
    }
    for (at, plane) in case.surface.iter_mut().enumerate() {
        let values = plane.as_slice_mut().expect("planes are in standard layout");
        surface.download_from(at * values.len(), values)?;
    }
    Ok((format!("the {}, {}", gpu.device().name, launcher.mapping()), compute))
}

/// The values of fields, one after the other.
fn values<R: Copy, S: Data<Elem = R>, D: Dimension>(fields: &[ArrayBase<S, D>]) -> Vec<R> {
    fields.iter().flat_map(|field| field.iter().copied()).collect()
}

/// Adds the prescribed tendencies of one step; vapour does not become negative by them.
fn force<R: Stored>(case: &mut PhysicsCase<R>, dt: R) {
    let [theta, qv] = &case.tendencies;
    if let Some(tendency) = theta {
        Zip::from(&mut case.tracers[0]).and(tendency).for_each(|theta, &x| *theta += dt * x);
    }
    if let Some(tendency) = qv {
        Zip::from(&mut case.tracers[1])
            .and(tendency)
            .for_each(|qv, &x| *qv = (*qv + dt * x).larger(R::ZERO));
    }
}

/// Fails where a tracer holds a value that is not a finite number.
fn check_finite<R: Stored + Element, P: OnDevice<R>>(
    case: &PhysicsCase<R>,
    step: usize,
) -> Result<()> {
    for (field, values) in P::TRACERS.iter().zip(&case.tracers) {
        let values = values.as_slice().expect("fields are in standard layout");
        if let Some(first) = reduce::non_finite(values).first {
            let nx = case.shape.nx;
            let (variable, value) = (field.name, values[first].f64());
            return Err(Error::BlowUp { variable, value, step, cell: [first / nx, 0, first % nx] });
        }
    }
    Ok(())
}
