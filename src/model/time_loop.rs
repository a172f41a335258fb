//! The loop over the steps of a run or of an ensemble.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tracing::debug;

use super::{Outcome, RunInput, RunPrecision};
use crate::backend::Backend;
use crate::error::Result;
use crate::time_steps::Plan;

/// A case, its steps, and what computes them.
pub(super) struct Run<'a, R> {
    pub(super) case: &'a mut RunInput<R>,
    pub(super) plan: &'a Plan,
    pub(super) backend: &'a mut dyn Backend<R>,
}

/// Records the steps of a run.
pub(super) trait Recording<R> {
    /// Records the outputs that are due after a step; 0 is the start. Returns false where no more is wanted.
    fn record(&mut self, run: &mut Run<'_, R>, step: usize) -> Result<bool>;
}

/// Takes all members from the start to the end of a plan, or until `stop` is set or no more is wanted.
pub(super) fn run_steps<R: RunPrecision>(
    run: &mut Run<'_, R>,
    recording: &mut impl Recording<R>,
    stop: &AtomicBool,
    on_step: &mut dyn FnMut(usize),
) -> Result<Outcome> {
    let plan = run.plan;
    let mut outcome = Outcome { seconds: plan.time_after(0), ..Outcome::default() };
    let mut is_wanted = recording.record(run, 0)?;
    for step in 1..=plan.steps {
        if stop.load(Ordering::Relaxed) || !is_wanted {
            outcome.interrupted = is_wanted;
            break;
        }
        let start = Instant::now();
        let moment = run.case.drive(plan.time_after(step - 1), plan.time_after(step))?;
        run.backend.drive(&moment)?;
        outcome.driving += start.elapsed();
        let start = Instant::now();
        run.backend.step(plan.dt_of(step))?;
        if step == 1 {
            debug!("the first step is requested");
        }
        run.backend.check(step, step == plan.steps)?;
        outcome.stepping += start.elapsed();
        outcome.steps = step;
        outcome.seconds = plan.time_after(step);
        is_wanted = recording.record(run, step)?;
        on_step(step);
    }
    Ok(outcome)
}
