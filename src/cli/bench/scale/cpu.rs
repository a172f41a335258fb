//! One size on the CPU, in the current thread pool.

use std::time::Instant;

use super::super::Bench;
use super::super::measurement::{Timing, wall_times};
use super::{Subject, TRACERS, Timed, resident};
use crate::advection::{self, InflowValues, Limiter, Wind, Workspace};
use crate::backend::cpu::Cpu;
use crate::backend::{Backend, RunStart};
use crate::dry_mass::AirMass;
use crate::error::Result;
use crate::grid::{Side, Sides};
use crate::model::RunPrecision;
use crate::model::replicated_grid::ReplicatedGrid;
use crate::wsm5::Sedimentation;

/// Total time for the calls of one size, s.
const PATIENCE: f64 = 2.0;
/// Fewest timed calls.
const FEWEST: u32 = 3;
/// Time of a call from which on larger grids are skipped, s: the next one would take twice that.
const LONGEST: f64 = 1.0;

/// Name of the platform.
pub(super) fn place(threads: usize) -> String {
    format!("CPU, {threads} thread{}", if threads == 1 { "" } else { "s" })
}

/// Reason why no larger grid is measured after a call of `seconds`; `None` if one is.
pub(super) fn patience_ends(seconds: f64) -> Option<String> {
    (seconds >= LONGEST).then(|| format!("a call takes {seconds:.1} s, larger grids are skipped"))
}

/// Times of a subject on a grid.
pub(super) fn measure<R: RunPrecision>(
    bench: &Bench,
    fallout: Sedimentation,
    bed: &ReplicatedGrid<R>,
    subject: Subject,
) -> Result<Timed> {
    let ReplicatedGrid { grid, coordinate, forcing, state, .. } = bed;
    let (dt, limiter) = (bench.dt, Limiter::PositiveDefinite);
    let times = match subject {
        Subject::Wsm5 => {
            // Without sides, so that it acts in all columns.
            let grid = grid.with_sides(Sides::all(Side::Periodic));
            let limiter = Limiter::None;
            let mut cpu = Cpu::new(&grid, coordinate, limiter, fallout, forcing, state.clone());
            patient_times(
                bench.runs,
                &mut cpu,
                |b| b.start(RunStart::from(state)),
                |b| {
                    b.microphysics(dt);
                    Ok(())
                },
            )?
        }
        Subject::Advection => {
            let air = AirMass::new(grid, coordinate);
            let wind = Wind { grid, air: &air, flux: &forcing.flux, dt };
            let mut tracer = (state.qv().clone(), Workspace::new(grid.shape));
            patient_times(
                bench.runs,
                &mut tracer,
                |(q, _)| {
                    q.assign(state.qv());
                    Ok(())
                },
                |(q, work)| {
                    for _ in 0..TRACERS {
                        advection::step(&wind, limiter, InflowValues::Nothing, q, work);
                    }
                    Ok(())
                },
            )?
        }
        Subject::Step => {
            let mut cpu = Cpu::new(grid, coordinate, limiter, fallout, forcing, state.clone());
            let times = patient_times(bench.runs, &mut cpu, |_| Ok(()), |b| b.step(dt))?;
            // While all memory of a step is allocated.
            let resident = resident();
            return Ok(Timed {
                timing: Timing::Wall,
                times,
                device_bytes_per_cell: None,
                resident,
            });
        }
    };
    Ok(Timed { timing: Timing::Wall, times, device_bytes_per_cell: None, resident: 0 })
}

/// Wall times of at most `runs` calls; fewer if they are slow.
fn patient_times<S>(
    runs: u32,
    subject: &mut S,
    mut restore: impl FnMut(&mut S) -> Result<()>,
    mut work: impl FnMut(&mut S) -> Result<()>,
) -> Result<Vec<f64>> {
    restore(subject)?;
    let start = Instant::now();
    work(subject)?;
    let runs = fewer(runs, start.elapsed().as_secs_f64());
    wall_times(runs, subject, restore, work)
}

/// Number of calls of `seconds` that fit into the total time, but at least a few.
fn fewer(runs: u32, seconds: f64) -> u32 {
    ((PATIENCE / seconds) as u32).max(FEWEST).min(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_calls_are_repeated_less() {
        assert_eq!(
            [fewer(25, 1e-3), fewer(25, 0.2), fewer(25, 9.0), fewer(1, 9.0)],
            [25, 10, 3, 1]
        );
        assert!(patience_ends(0.9).is_none() && patience_ends(1.5).unwrap().contains("1.5 s"));
        assert_eq!([place(1), place(8)], ["CPU, 1 thread", "CPU, 8 threads"]);
    }
}
