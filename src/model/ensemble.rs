//! The time loop of an ensemble: all members through a step, then through the next one.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::streams::{Shows, snapshot};
use super::time_loop::{Recording, Run, run_steps};
use super::{Frames, Outcome, RunInput, RunPrecision};
use crate::backend::{
    Backend, CapturedFrame, CollectedOutput, FRAMES_IN_FLIGHT, Output, Precipitation,
};
use crate::diagnostics::budget::Water;
use crate::error::Result;
use crate::frame::Snapshot;
use crate::time_steps::Plan;

/// Takes the frames of the members, those of a time in the order of their numbers; whether more is
/// wanted.
pub type Sink<'a, R> = &'a mut dyn FnMut(usize, Snapshot<R>) -> bool;

/// Result of a member.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemberOutcome {
    /// Its water budget, up to its last frame.
    pub water: Water,
    /// Its precipitation.
    pub precipitation: Precipitation,
}

/// Runs all members of an ensemble step by step, from what they start with.
///
/// `sink` takes the frames of output; where it says no, the run ends. `on_step` is told the number of
/// steps done. The loop ends early when `stop` is set.
///
/// # Errors
///
/// [`Member`](crate::error::Error::Member) when a field of a member is no longer finite, those of the
/// input and of what computes. Whole times were handed over before.
pub fn run<R: RunPrecision>(
    case: &mut RunInput<R>,
    plan: &Plan,
    frames: Frames,
    backend: &mut dyn Backend<R>,
    stop: &AtomicBool,
    sink: Sink<'_, R>,
    on_step: &mut dyn FnMut(usize),
) -> Result<(Outcome, Vec<MemberOutcome>)> {
    let fates = vec![MemberOutcome::default(); backend.info()?.members];
    let (spent, waited) = (Duration::ZERO, Duration::ZERO);
    let mut several = Several { sink, frames, fates, spent, waited, is_wanted: true };
    let mut outcome = run_steps(&mut Run { case, plan, backend }, &mut several, stop, on_step)?;
    backend.check(outcome.steps, true)?;
    for (number, fate) in several.fates.iter_mut().enumerate() {
        fate.precipitation = backend.account(number)?.precipitation;
    }
    outcome.output = several.spent;
    outcome.stepping += several.waited;
    Ok((outcome, several.fates))
}

struct Several<'a, R> {
    sink: Sink<'a, R>,
    frames: Frames,
    fates: Vec<MemberOutcome>,
    spent: Duration,
    /// For steps to be done.
    waited: Duration,
    is_wanted: bool,
}

impl<R: RunPrecision> Several<'_, R> {
    /// Hands the frame of a member on, while more is wanted.
    fn take(&mut self, run: &Run<'_, R>, step: usize, member: usize, captured: CapturedFrame<R>) {
        if !self.is_wanted {
            return;
        }
        let seconds = run.plan.time_after(step);
        let water = &mut self.fates[member].water;
        let begun = if step == 0 { captured.summary.water } else { water.start };
        *water = Water::closed(begun, &captured.summary.changes, captured.summary.water);
        let shown = Shows::at(run.case, seconds);
        let (_, frame) = snapshot(captured, shown, run.case, run.plan.dt, begun);
        self.is_wanted = (self.sink)(member, frame);
    }
}

impl<R: RunPrecision> Recording<R> for Several<'_, R> {
    fn record(&mut self, run: &mut Run<'_, R>, step: usize) -> Result<bool> {
        if !self.is_wanted || !self.frames.due(run.plan, step) {
            return Ok(self.is_wanted);
        }
        // A frame that begins is to become whole: a flaw is told now, not half-way through it.
        let start = Instant::now();
        run.backend.check(step, true)?;
        self.waited += start.elapsed();
        let start = Instant::now();
        let moment = run.case.show(run.plan.time_after(step))?;
        let mut oldest = 0;
        for member in 0..self.fates.len() {
            if !self.is_wanted {
                break;
            }
            run.backend.capture(Output::Frame(member), &moment)?;
            // One is under way while the next one is made.
            while oldest <= member {
                let wait = member + 1 - oldest == FRAMES_IN_FLIGHT;
                let frame = run.backend.collect(Output::Frame(oldest), wait)?;
                let Some(frame) = frame.and_then(CollectedOutput::frame) else { break };
                self.take(run, step, oldest, frame);
                oldest += 1;
            }
        }
        while let Some(frame) = run.backend.collect(Output::Frame(oldest), true)? {
            frame.frame().into_iter().for_each(|frame| self.take(run, step, oldest, frame));
            oldest += 1;
        }
        self.spent += start.elapsed();
        Ok(self.is_wanted)
    }
}
