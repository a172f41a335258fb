//! The steps of a run, one after the other, whatever computes them and however many states they take.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{Case, Outcome, Working};
use crate::error::Result;
use crate::forcing::Moment;
use crate::plan::Plan;

/// What goes through the steps, and tells of itself.
pub(super) trait Marching<R> {
    /// Sets what drives the steps from here on.
    fn drive(&mut self, moment: &Moment<R>) -> Result<()>;

    /// One time step of `dt` seconds.
    fn step(&mut self, dt: f64) -> Result<()>;

    /// Fails where a field is no longer finite; with `wait`, after all that was asked for.
    fn check(&mut self, step: usize, wait: bool) -> Result<()>;

    /// Has what is due after a step recorded; 0 is the start. Whether more is wanted.
    fn record(&mut self, case: &mut Case<R>, step: usize) -> Result<bool>;
}

/// Takes it from the start to the end of a plan, or until `stop` is set or no more is wanted.
///
/// # Errors
///
/// Those of what is taken and of the input.
pub(super) fn march<R: Working>(
    case: &mut Case<R>,
    plan: &Plan,
    marching: &mut impl Marching<R>,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(usize),
) -> Result<Outcome> {
    let mut outcome = Outcome { seconds: plan.time_after(0), ..Outcome::default() };
    let mut is_wanted = marching.record(case, 0)?;
    for step in 1..=plan.steps {
        if stop.load(Ordering::Relaxed) || !is_wanted {
            outcome.interrupted = is_wanted;
            break;
        }
        let start = Instant::now();
        let moment = case.drive(plan.time_after(step - 1), plan.time_after(step))?;
        marching.drive(&moment)?;
        outcome.driving += start.elapsed();
        let start = Instant::now();
        marching.step(plan.dt_of(step))?;
        marching.check(step, step == plan.steps)?;
        outcome.stepping += start.elapsed();
        outcome.steps = step;
        outcome.seconds = plan.time_after(step);
        is_wanted = marching.record(case, step)?;
        watch(step);
    }
    Ok(outcome)
}
