//! One size on the CPU, in the current thread pool.

use super::super::Bench;
use super::super::cpu::{microphysics_times, step_times, transport_times};
use super::super::gpu_times::fewer;
use super::super::measurement::Timing;
use super::{Subject, TRACERS, Timed, resident};
use crate::advection::Limiter;
use crate::cli::FilePrecision;
use crate::error::Result;
use crate::model::replicated_grid::ReplicatedGrid;
use crate::physics::scheme::Scheme;

/// Total time for the calls of one size, s.
pub(super) const PATIENCE: f64 = 2.0;
/// Fewest timed calls.
pub(super) const FEWEST: u32 = 3;
/// Time of a call from which on larger grids are skipped, s: the next one would take twice that.
const LONGEST: f64 = 1.0;

/// Reason why no larger grid is measured after a call of `seconds`; `None` if one is.
pub(super) fn patience_ends(seconds: f64) -> Option<String> {
    (seconds >= LONGEST).then(|| format!("a call takes {seconds:.1} s, larger grids are skipped"))
}

/// Times of a subject on a grid.
pub(super) fn measure<R: FilePrecision>(
    bench: &Bench,
    scheme: &dyn Scheme,
    replicated: &ReplicatedGrid<R>,
    subject: Subject,
) -> Result<Timed> {
    let (dt, limiter) = (bench.dt, Limiter::PositiveDefinite);
    let runs = |seconds| fewer(bench.runs, seconds, PATIENCE, FEWEST);
    let (times, resident) = match subject {
        Subject::Physics => (microphysics_times(replicated, scheme, false, dt, runs)?, 0),
        Subject::Advection => (transport_times(replicated, limiter, TRACERS, dt, runs)?, 0),
        Subject::Step => {
            let (times, _backend) = step_times(replicated, limiter, scheme, dt, runs)?;
            // While all memory of a step is allocated.
            (times, resident())
        }
    };
    Ok(Timed { timing: Timing::Wall, times, device_bytes_per_cell: None, resident })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_calls_are_repeated_less() {
        let calls = [(25, 1e-3), (25, 0.2), (25, 9.0), (1, 9.0)];
        let calls = calls.map(|(runs, seconds)| fewer(runs, seconds, PATIENCE, FEWEST));
        assert_eq!(calls, [25, 10, 3, 1]);
        assert!(patience_ends(0.9).is_none() && patience_ends(1.5).unwrap().contains("1.5 s"));
    }
}
