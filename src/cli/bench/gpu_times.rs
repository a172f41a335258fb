//! Timing of calls on the GPU.

use super::measurement::Timing;
use crate::backend::gpu::{GpuBackend, GpuPrecision};
use crate::backend::{Backend, RunStart};
use crate::device::{Gpu, Graph};
use crate::error::Result;
use crate::state::State;

/// Calls in a graph.
const REPEATS: usize = 20;
/// Warm-up calls.
const WARM_UP: usize = 3;
/// Duration of a call from which on it is timed between events, whose own few microseconds are negligible then, s.
const LONG: f64 = 1e-3;
/// Total time for long calls, s.
const PATIENCE: f64 = 1.0;
/// Fewest timed calls.
const FEWEST: u32 = 5;

/// Times of `call` between events, after `restore` before each, s.
pub(in crate::cli) fn event_times(
    gpu: &Gpu,
    runs: u32,
    mut restore: impl FnMut() -> Result<()>,
    mut call: impl FnMut() -> Result<()>,
) -> Result<Vec<f64>> {
    for _ in 0..WARM_UP {
        restore()?;
        call()?;
    }
    let time = |_| {
        restore()?;
        gpu.elapsed(&mut call)
    };
    (0..runs).map(time).collect()
}

/// Time of a graph, s.
pub(super) fn graph_time(gpu: &Gpu, graph: &mut Graph) -> Result<f64> {
    // A graph before the timed one keeps the device busy until the timed one has been queued.
    graph.launch()?;
    gpu.elapsed(|| graph.launch())
}

/// Times of `call` in a graph of several calls, each after `restore`, minus those of a graph with `restore` only, s.
pub(in crate::cli) fn graph_times(
    gpu: &Gpu,
    runs: u32,
    mut restore: impl FnMut() -> Result<()>,
    mut call: impl FnMut() -> Result<()>,
) -> Result<Vec<f64>> {
    // Warm-up: code that is loaded on first use.
    restore()?;
    call()?;
    let mut whole = gpu.capture(|| {
        (0..REPEATS).try_for_each(|_| {
            restore()?;
            call()
        })
    })?;
    let mut rest = gpu.capture(|| (0..REPEATS).try_for_each(|_| restore()))?;
    let mut time = || -> Result<f64> {
        Ok((graph_time(gpu, &mut whole)? - graph_time(gpu, &mut rest)?) / REPEATS as f64)
    };
    time()?;
    (0..runs).map(|_| time()).collect()
}

/// Times of `call`, which needs no `restore`, in a graph of several calls, s.
pub(super) fn repeat_times(
    gpu: &Gpu,
    runs: u32,
    mut call: impl FnMut() -> Result<()>,
) -> Result<Vec<f64>> {
    // As above.
    call()?;
    let mut graph = gpu.capture(|| (0..REPEATS).try_for_each(|_| call()))?;
    let mut time = || -> Result<f64> { Ok(graph_time(gpu, &mut graph)? / REPEATS as f64) };
    time()?;
    (0..runs).map(|_| time()).collect()
}

/// Times of a step of a run from `state`, s; fewer if steps are long, and then of consecutive steps.
pub(super) fn step_times<R: GpuPrecision>(
    gpu: &Gpu,
    runs: u32,
    run: &mut GpuBackend<R>,
    state: &State<R>,
    dt: f64,
) -> Result<Vec<f64>> {
    /// Timed steps of a run.
    const STEPS: usize = 32;
    run.step_untimed(dt, STEPS)?;
    let once = gpu.elapsed(|| run.step_untimed(dt, 1))?;
    if once >= LONG {
        return (0..fewer(runs, once, PATIENCE, FEWEST))
            .map(|_| gpu.elapsed(|| run.step_untimed(dt, 1)))
            .collect();
    }
    let mut time = || -> Result<f64> {
        run.start(RunStart::from(state))?;
        // As in `graph_time`.
        run.step_untimed(dt, STEPS)?;
        Ok(gpu.elapsed(|| run.step_untimed(dt, STEPS))? / STEPS as f64)
    };
    (0..fewer(runs, once * STEPS as f64, PATIENCE, FEWEST)).map(|_| time()).collect()
}

/// Times of `call` as in a run, s: in a graph, or between events if it is long, and then perhaps fewer.
pub(in crate::cli) fn call_times(
    gpu: &Gpu,
    runs: u32,
    mut restore: impl FnMut() -> Result<()>,
    mut call: impl FnMut() -> Result<()>,
) -> Result<(Timing, Vec<f64>)> {
    let once = event_times(gpu, 1, &mut restore, &mut call)?[0];
    Ok(if once < LONG {
        (Timing::Graph, graph_times(gpu, runs, restore, call)?)
    } else {
        (Timing::Events, event_times(gpu, fewer(runs, once, PATIENCE, FEWEST), restore, call)?)
    })
}

/// Number of calls of `seconds` that fit into a total time, s, but at least a few.
pub(super) fn fewer(runs: u32, seconds: f64, total: f64, fewest: u32) -> u32 {
    ((total / seconds) as u32).max(fewest).min(runs)
}
