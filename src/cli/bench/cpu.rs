//! The parts of a step on the CPU.

use ndarray::Array3;
use rayon::prelude::*;

use super::measurement::{
    MeasuredOn, MeasuredPart, Measurement, Processor, Timing, median, wall_times,
};
use super::{Bench, Part, name_of, step_variant};
use crate::advection::{self, InflowValues, Limiter, Wind, Workspace};
use crate::backend::cpu::Cpu;
use crate::backend::{Backend, RunStart};
use crate::cli::FilePrecision;
use crate::dry_mass::AirMass;
use crate::error::Result;
use crate::grid::{Side, Sides};
use crate::model::replicated_grid::{ReplicatedGrid, has_condensate};
use crate::physics::scheme::Scheme;
use crate::state::CloudDiagnostics;

/// Values of the copy that is the reference: more than caches hold.
const COPIED: usize = 1 << 25;

/// Bandwidth of a copy with the current number of threads, read and written, bytes a second.
pub(super) fn copy_speed(runs: u32) -> Result<f64> {
    /// Values of a thread's part.
    const PART: usize = 1 << 16;
    let from: Vec<f32> = vec![1.0; COPIED];
    let mut to = vec![0.0; COPIED];
    let copy = |to: &mut Vec<f32>| {
        let parts = to.par_chunks_mut(PART).zip(from.par_chunks(PART));
        parts.for_each(|(to, from)| to.copy_from_slice(from));
        Ok(())
    };
    let times = wall_times(|_| runs, &mut to, |_| Ok(()), copy)?;
    Ok(2.0 * (COPIED * size_of::<f32>()) as f64 / median(times))
}

/// Measures all requested parts in the current thread pool.
pub(super) fn measure<R: FilePrecision>(
    bench: &Bench,
    replicated: &ReplicatedGrid<R>,
    copy: f64,
) -> Result<Vec<Measurement>> {
    let mut figures = Vec::new();
    let processor = Processor::cpu(rayon::current_num_threads(), copy);
    let place =
        MeasuredOn::new(processor, replicated, bench.dt, replicated.fraction(has_condensate));
    let mut add = |part, variant: String, times| {
        figures.push(Measurement::new::<R>(part, variant, Timing::Wall, &place, times));
    };
    let (runs, dt) = (|_| bench.runs, bench.dt);
    let schemes = bench.schemes()?;
    if bench.wants(Part::Physics) {
        for scheme in &schemes {
            let variants = match scheme.variant().map_or("", |variant| variant.mark) {
                "" => ["surface outputs", "with radii and reflectivity"].map(str::to_owned),
                mark => {
                    ["surface outputs", "radii, reflectivity"].map(|what| format!("{mark}, {what}"))
                }
            };
            for (variant, diagnoses) in variants.into_iter().zip([false, true]) {
                let times = microphysics_times(replicated, &**scheme, diagnoses, dt, runs)?;
                add(MeasuredPart::physics(&**scheme, diagnoses), variant, times);
            }
        }
    }
    if bench.wants(Part::Advection) && replicated.has_winds {
        for limiter in bench.limiters() {
            let times = transport_times(replicated, limiter, 1, dt, runs)?;
            let variant = format!("RK3, {}, a tracer", name_of(limiter));
            add(MeasuredPart::tracers(1, limiter), variant, times);
        }
    }
    if bench.wants(Part::Step) && replicated.has_winds {
        for scheme in &schemes {
            let limiter = bench.limiter_of_steps();
            let (times, _) = step_times(replicated, limiter, &**scheme, dt, runs)?;
            add(MeasuredPart::step(&**scheme, limiter), step_variant(&**scheme), times);
        }
    }
    Ok(figures)
}

/// Wall times of a call of the microphysics, s, with the diagnostics of a frame if requested; the number of calls is a
/// function of the time of the first one, as below.
pub(super) fn microphysics_times<R: FilePrecision>(
    replicated: &ReplicatedGrid<R>,
    scheme: &dyn Scheme,
    diagnoses: bool,
    dt: f64,
    runs: impl Fn(f64) -> u32,
) -> Result<Vec<f64>> {
    let replicated = replicated.carrying(&scheme.about().set());
    let ReplicatedGrid { grid, coordinate, forcing, state, .. } = &*replicated;
    // Without sides, so that it acts in all columns.
    let grid = grid.with_sides(Sides::all(Side::Periodic));
    let mut cpu = Cpu::new(&grid, coordinate, Limiter::None, scheme, forcing, state.clone());
    let mut radar = diagnoses.then(|| CloudDiagnostics::zeros(state.set(), grid.shape));
    let call = |cpu: &mut Cpu<R>| {
        cpu.microphysics(dt);
        if let Some(radar) = &mut radar {
            cpu.diagnose(radar);
        }
        Ok(())
    };
    wall_times(runs, &mut cpu, |cpu| cpu.start(RunStart::from(state)), call)
}

/// Wall times of the transport of `count` tracers one after the other, s.
pub(super) fn transport_times<R: FilePrecision>(
    replicated: &ReplicatedGrid<R>,
    limiter: Limiter,
    count: usize,
    dt: f64,
    runs: impl Fn(f64) -> u32,
) -> Result<Vec<f64>> {
    let ReplicatedGrid { grid, coordinate, forcing, state, .. } = replicated;
    let air = AirMass::new(grid, coordinate);
    let wind = Wind { grid, air: &air, flux: &forcing.flux, dt };
    let mut tracer = (state.qv().clone(), Workspace::new(grid.shape));
    let restore = |(q, _): &mut (Array3<R>, _)| {
        q.assign(state.qv());
        Ok(())
    };
    let call = |(q, work): &mut (_, _)| {
        for _ in 0..count {
            advection::step(&wind, limiter, InflowValues::Nothing, q, work);
        }
        Ok(())
    };
    wall_times(runs, &mut tracer, restore, call)
}

/// Wall times of consecutive steps, s, and their backend.
pub(super) fn step_times<R: FilePrecision>(
    replicated: &ReplicatedGrid<R>,
    limiter: Limiter,
    scheme: &dyn Scheme,
    dt: f64,
    runs: impl Fn(f64) -> u32,
) -> Result<(Vec<f64>, Cpu<R>)> {
    let replicated = replicated.carrying(&scheme.about().set());
    let ReplicatedGrid { grid, coordinate, forcing, state, .. } = &*replicated;
    let mut cpu = Cpu::new(grid, coordinate, limiter, scheme, forcing, state.clone());
    // The first step removes subnormal traces of species from the file.
    let times = wall_times(runs, &mut cpu, |_| Ok(()), |cpu| cpu.step(dt))?;
    Ok((times, cpu))
}
