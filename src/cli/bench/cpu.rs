//! The parts of a step on the CPU.

use ndarray::Array3;
use rayon::prelude::*;

use super::measurement::{
    Cost, MeasuredOn, MeasuredPart, Measurement, PeakPerformance, Timing, median, wall_times,
};
use super::{Bench, Part, name_of, step_variant};
use crate::advection::{self, InflowValues, Limiter, Wind, Workspace};
use crate::backend::cpu::Cpu;
use crate::backend::{Backend, RunStart};
use crate::dry_mass::AirMass;
use crate::error::Result;
use crate::grid::{Side, Sides};
use crate::model::RunPrecision;
use crate::model::replicated_grid::{ReplicatedGrid, has_condensate};
use crate::state::{CloudDiagnostics, STATE_FIELDS};
use crate::wsm5::Sedimentation;

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
pub(super) fn measure<R: RunPrecision>(
    bench: &Bench,
    bed: &ReplicatedGrid<R>,
    copy: f64,
) -> Result<Vec<Measurement>> {
    let mut figures = Vec::new();
    let (threads, cloudy) = (rayon::current_num_threads(), bed.fraction(has_condensate));
    let best = PeakPerformance { copy, arithmetic: None };
    let place = MeasuredOn::new(Err(threads), bed, bench.dt, cloudy, best);
    let mut add = |bench, variant: &str, tracers, cost, times| {
        let variant = variant.to_owned();
        let about = MeasuredPart { bench, variant, timing: Timing::Wall, tracers, cost };
        figures.push(Measurement::new::<R>(about, &place, times));
    };
    let (runs, dt) = (|_| bench.runs, bench.dt);
    if bench.wants(Part::Wsm5) {
        for fallout in bench.fallouts() {
            let variants = match fallout {
                Sedimentation::SemiLagrangian => ["surface outputs", "with radii and reflectivity"],
                Sedimentation::Substepped => {
                    ["sub-stepped, surface outputs", "sub-stepped, radii, reflectivity"]
                }
            };
            for (variant, diagnoses) in variants.into_iter().zip([false, true]) {
                let times = microphysics_times(bed, fallout, diagnoses, dt, runs)?;
                let cost = Cost::clouds(fallout == Sedimentation::default(), diagnoses);
                add("wsm5", variant, None, cost, times);
            }
        }
    }
    if bench.wants(Part::Advection) && bed.has_winds {
        for limiter in bench.limiters() {
            let times = transport_times(bed, limiter, 1, dt, runs)?;
            let variant = format!("RK3, {}, a tracer", name_of(limiter));
            add("advection", &variant, Some(1), Cost::tracers(1, limiter), times);
        }
    }
    if bench.wants(Part::Step) && bed.has_winds {
        for fallout in bench.fallouts() {
            let limiter = bench.limiter_of_steps();
            let (times, _) = step_times(bed, limiter, fallout, dt, runs)?;
            let cost = Cost::step(fallout == Sedimentation::default(), limiter);
            add("step", step_variant(fallout), Some(STATE_FIELDS), cost, times);
        }
    }
    Ok(figures)
}

/// Wall times of a call of the microphysics, s, with the diagnostics of a frame if requested; the number of calls is a
/// function of the time of the first one, as below.
pub(super) fn microphysics_times<R: RunPrecision>(
    bed: &ReplicatedGrid<R>,
    fallout: Sedimentation,
    diagnoses: bool,
    dt: f64,
    runs: impl Fn(f64) -> u32,
) -> Result<Vec<f64>> {
    let ReplicatedGrid { grid, coordinate, forcing, state, .. } = bed;
    // Without sides, so that it acts in all columns.
    let grid = grid.with_sides(Sides::all(Side::Periodic));
    let mut cpu = Cpu::new(&grid, coordinate, Limiter::None, fallout, forcing, state.clone());
    let mut radar = diagnoses.then(|| CloudDiagnostics::zeros(grid.shape));
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
pub(super) fn transport_times<R: RunPrecision>(
    bed: &ReplicatedGrid<R>,
    limiter: Limiter,
    count: usize,
    dt: f64,
    runs: impl Fn(f64) -> u32,
) -> Result<Vec<f64>> {
    let ReplicatedGrid { grid, coordinate, forcing, state, .. } = bed;
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
pub(super) fn step_times<R: RunPrecision>(
    bed: &ReplicatedGrid<R>,
    limiter: Limiter,
    fallout: Sedimentation,
    dt: f64,
    runs: impl Fn(f64) -> u32,
) -> Result<(Vec<f64>, Cpu<R>)> {
    let ReplicatedGrid { grid, coordinate, forcing, state, .. } = bed;
    let mut cpu = Cpu::new(grid, coordinate, limiter, fallout, forcing, state.clone());
    // The first step removes subnormal traces of species from the file.
    let times = wall_times(runs, &mut cpu, |_| Ok(()), |cpu| cpu.step(dt))?;
    Ok((times, cpu))
}
