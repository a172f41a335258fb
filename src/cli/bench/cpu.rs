//! The parts of a step on the CPU.

use rayon::prelude::*;

use super::figure::{Cost, Figure, Place, wall_times};
use super::{Bench, Part};
use crate::advection::{self, Limiter, Wind, Workspace};
use crate::backend::Backend;
use crate::backend::cpu::Cpu;
use crate::error::Result;
use crate::mass::AirMass;
use crate::model::Working;
use crate::model::tiled::Tiled;
use crate::state::CloudDiagnostics;
use crate::wsm5::Fallout;

/// Values of the copy that the parts are held against: more than fit into caches.
const COPIED: usize = 1 << 25;

/// What a copy moves with the present number of threads, read and written, bytes a second.
pub(super) fn copy_speed(runs: u32) -> Result<f64> {
    /// Values that a thread takes at a time.
    const PART: usize = 1 << 16;
    let from: Vec<f32> = vec![1.0; COPIED];
    let mut to = vec![0.0; COPIED];
    let mut times = wall_times(
        runs,
        &mut to,
        |_| Ok(()),
        |to| {
            let parts = to.par_chunks_mut(PART).zip(from.par_chunks(PART));
            parts.for_each(|(to, from)| to.copy_from_slice(from));
            Ok(())
        },
    )?;
    times.sort_by(f64::total_cmp);
    Ok(2.0 * (COPIED * size_of::<f32>()) as f64 / times[times.len() / 2])
}

/// Measures all wanted parts in the present pool of threads.
pub(super) fn measure<R: Working>(bench: &Bench, bed: &Tiled<R>, copy: f64) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let Tiled { grid, coordinate, forcing, state, .. } = bed;
    let shape = grid.shape;
    let threads = rayon::current_num_threads();
    let place = Place { backend: "cpu", threads, cells: shape.cells(), copy };
    let figure =
        |about, cost, times| Figure::new::<R>(about, shape.to_string(), cost, place, times);
    let cpu = |fallout| {
        let limiter = Limiter::PositiveDefinite;
        Cpu::new(grid, coordinate, limiter, fallout, forcing, state.clone())
    };
    let (runs, dt) = (bench.runs, bench.dt);
    if bench.wants(Part::Wsm5) {
        let mut radar = CloudDiagnostics::zeros(shape);
        for (fallout, variants) in [
            (Fallout::SemiLagrangian, ["surface outputs", "with radii and reflectivity"]),
            (
                Fallout::Substepped,
                ["sub-stepped, surface outputs", "sub-stepped, radii, reflectivity"],
            ),
        ] {
            let is_default = fallout == Fallout::default();
            let mut cpu = cpu(fallout);
            let times = wall_times(
                runs,
                &mut cpu,
                |b| b.restore(state),
                |b| {
                    b.microphysics(dt);
                    Ok(())
                },
            )?;
            figures.push(figure(("wsm5", variants[0]), Cost::clouds(is_default, false), times));
            let times = wall_times(
                runs,
                &mut cpu,
                |b| b.restore(state),
                |b| {
                    b.microphysics(dt);
                    b.diagnose(&mut radar);
                    Ok(())
                },
            )?;
            figures.push(figure(("wsm5", variants[1]), Cost::clouds(is_default, true), times));
        }
    }
    if bench.wants(Part::Advection) && bed.has_winds {
        let air = AirMass::new(grid, coordinate);
        let wind = Wind { grid, air: &air, flux: &forcing.flux, dt };
        let mut tracer = (state.qv.clone(), Workspace::new(shape));
        for (variant, limiter, cost) in [
            ("RK3, positive definite, a tracer", Limiter::PositiveDefinite, Cost::positive()),
            ("RK3, monotonic, a tracer", Limiter::Monotonic, Cost::monotonic()),
            ("RK3, no limiter, a tracer", Limiter::None, Cost::plain()),
        ] {
            let times = wall_times(
                runs,
                &mut tracer,
                |(q, _)| {
                    q.assign(&state.qv);
                    Ok(())
                },
                |(q, work)| {
                    advection::step(&wind, limiter, None, q, work);
                    Ok(())
                },
            )?;
            figures.push(figure(("advection", variant), cost, times));
        }
    }
    if bench.wants(Part::Step) && bed.has_winds {
        for (fallout, variant) in [
            (Fallout::SemiLagrangian, "6 tracers and WSM5"),
            (Fallout::Substepped, "6 tracers and WSM5, sub-stepped"),
        ] {
            let cost = Cost::step(fallout == Fallout::default());
            let times = wall_times(runs, &mut cpu(fallout), |b| b.restore(state), |b| b.step(dt))?;
            figures.push(figure(("step", variant), cost, times));
        }
    }
    Ok(figures)
}
