//! The parts of a step on the CPU.

use rayon::prelude::*;

use super::measurement::{
    Cost, MeasuredOn, MeasuredPart, Measurement, PeakPerformance, Timing, median, wall_times,
};
use super::{Bench, Part, name_of, step_variant};
use crate::advection::{self, InflowValues, Limiter, Wind, Workspace};
use crate::backend::cpu::{self, Cpu};
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
    let times = wall_times(
        runs,
        &mut to,
        |_| Ok(()),
        |to| {
            let parts = to.par_chunks_mut(PART).zip(from.par_chunks(PART));
            parts.for_each(|(to, from)| to.copy_from_slice(from));
            Ok(())
        },
    )?;
    Ok(2.0 * (COPIED * size_of::<f32>()) as f64 / median(times))
}

/// Measures all requested parts in the current thread pool.
pub(super) fn measure<R: RunPrecision>(
    bench: &Bench,
    bed: &ReplicatedGrid<R>,
    copy: f64,
) -> Result<Vec<Measurement>> {
    let mut figures = Vec::new();
    let ReplicatedGrid { grid, coordinate, forcing, state, .. } = bed;
    let shape = grid.shape;
    let place = MeasuredOn {
        backend: "cpu",
        device: cpu::name().to_owned(),
        threads: Some(rayon::current_num_threads()),
        shape,
        dt: bench.dt,
        cloudy: bed.fraction(has_condensate),
        best: PeakPerformance { copy, arithmetic: None },
    };
    let figure = |bench, variant: &str, tracers, cost, times| {
        let about = MeasuredPart {
            bench,
            variant: variant.to_owned(),
            timing: Timing::Wall,
            tracers,
            cost,
        };
        Measurement::new::<R>(about, &place, times)
    };
    let (runs, dt) = (bench.runs, bench.dt);
    if bench.wants(Part::Wsm5) {
        // Without sides, so that it acts in all columns.
        let grid = grid.with_sides(Sides::all(Side::Periodic));
        let mut radar = CloudDiagnostics::zeros(shape);
        for fallout in bench.fallouts() {
            let variants = match fallout {
                Sedimentation::SemiLagrangian => ["surface outputs", "with radii and reflectivity"],
                Sedimentation::Substepped => {
                    ["sub-stepped, surface outputs", "sub-stepped, radii, reflectivity"]
                }
            };
            let is_default = fallout == Sedimentation::default();
            let mut cpu =
                Cpu::new(&grid, coordinate, Limiter::None, fallout, forcing, state.clone());
            let times = wall_times(
                runs,
                &mut cpu,
                |b| b.start(RunStart::from(state)),
                |b| {
                    b.microphysics(dt);
                    Ok(())
                },
            )?;
            let cost = Cost::clouds(is_default, false);
            figures.push(figure("wsm5", variants[0], None, cost, times));
            let times = wall_times(
                runs,
                &mut cpu,
                |b| b.start(RunStart::from(state)),
                |b| {
                    b.microphysics(dt);
                    b.diagnose(&mut radar);
                    Ok(())
                },
            )?;
            let cost = Cost::clouds(is_default, true);
            figures.push(figure("wsm5", variants[1], None, cost, times));
        }
    }
    if bench.wants(Part::Advection) && bed.has_winds {
        let air = AirMass::new(grid, coordinate);
        let wind = Wind { grid, air: &air, flux: &forcing.flux, dt };
        let mut tracer = (state.qv().clone(), Workspace::new(shape));
        for limiter in bench.limiters() {
            let times = wall_times(
                runs,
                &mut tracer,
                |(q, _)| {
                    q.assign(state.qv());
                    Ok(())
                },
                |(q, work)| {
                    advection::step(&wind, limiter, InflowValues::Nothing, q, work);
                    Ok(())
                },
            )?;
            let variant = format!("RK3, {}, a tracer", name_of(limiter));
            figures.push(figure("advection", &variant, Some(1), Cost::tracers(1, limiter), times));
        }
    }
    if bench.wants(Part::Step) && bed.has_winds {
        for fallout in bench.fallouts() {
            let limiter = bench.limiter_of_steps();
            let mut cpu = Cpu::new(grid, coordinate, limiter, fallout, forcing, state.clone());
            // The first step is not counted: it removes subnormal traces of species from the file.
            let times = wall_times(runs, &mut cpu, |_| Ok(()), |b| b.step(dt))?;
            let variant = step_variant(fallout);
            let cost = Cost::step(fallout == Sedimentation::default(), limiter);
            figures.push(figure("step", variant, Some(STATE_FIELDS), cost, times));
        }
    }
    Ok(figures)
}
