//! The time loop of an ensemble: all members through a step, then through the next one.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::march::{Marching, march};
use super::recorder::{Shows, snapshot};
use super::{Case, Frames, Outcome, Working};
use crate::backend::Precipitation;
use crate::backend::members::Members;
use crate::diagnostics::budget::Water;
use crate::error::Result;
use crate::forcing::Moment;
use crate::io::output::Snapshot;
use crate::plan::Plan;

/// Takes the frames of the members, those of a time in the order of their numbers; whether more is
/// wanted.
pub type Sink<'a, R> = &'a mut dyn FnMut(usize, Snapshot<R>) -> bool;

/// How a member ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fate {
    /// Its water budget, up to its last frame.
    pub water: Water,
    /// Its precipitation.
    pub precipitation: Precipitation,
}

/// Runs all members of an ensemble step by step, from what they start with.
///
/// `sink` takes the frames of output; where it says no, the run ends. `watch` is told the number of
/// steps done. The loop ends early when `stop` is set.
///
/// # Errors
///
/// [`Member`](crate::error::Error::Member) when a field of a member is no longer finite, those of the
/// input and of what computes. Whole times were handed over before.
pub fn run<R: Working>(
    case: &mut Case<R>,
    plan: &Plan,
    frames: Frames,
    members: &mut dyn Members<R>,
    stop: &AtomicBool,
    sink: Sink<'_, R>,
    watch: &mut dyn FnMut(usize),
) -> Result<(Outcome, Vec<Fate>)> {
    let fates = vec![Fate::default(); members.count()];
    let (spent, waited) = (Duration::ZERO, Duration::ZERO);
    let mut several =
        Several { members, sink, plan, frames, fates, spent, waited, is_wanted: true };
    let mut outcome = march(case, plan, &mut several, stop, watch)?;
    several.members.check(outcome.steps, true)?;
    for (number, fate) in several.fates.iter_mut().enumerate() {
        fate.precipitation = several.members.precipitation(number)?;
    }
    outcome.output = several.spent;
    outcome.stepping += several.waited;
    Ok((outcome, several.fates))
}

struct Several<'a, R> {
    members: &'a mut dyn Members<R>,
    sink: Sink<'a, R>,
    plan: &'a Plan,
    frames: Frames,
    fates: Vec<Fate>,
    spent: Duration,
    /// For steps to be done.
    waited: Duration,
    is_wanted: bool,
}

impl<R: Working> Marching<R> for Several<'_, R> {
    fn drive(&mut self, moment: &Moment<R>) -> Result<()> {
        self.members.drive(moment)
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        self.members.step(dt)
    }

    fn check(&mut self, step: usize, wait: bool) -> Result<()> {
        self.members.check(step, wait)
    }

    fn record(&mut self, case: &mut Case<R>, step: usize) -> Result<bool> {
        let Self { members, sink, plan, fates, is_wanted, .. } = self;
        if !*is_wanted || !self.frames.due(plan, step) {
            return Ok(*is_wanted);
        }
        // A frame that begins is to become whole: a flaw is told now, not half-way through it.
        let start = Instant::now();
        members.check(step, true)?;
        self.waited += start.elapsed();
        let start = Instant::now();
        let seconds = plan.time_after(step);
        let moment = case.show(seconds)?;
        members.frames(&moment, &mut |member, captured| {
            let water = &mut fates[member].water;
            let begun = if step == 0 { captured.summary.water } else { water.start };
            *water = Water::closed(begun, &captured.summary.changes, captured.summary.water);
            let shown = Shows::at(case, seconds);
            let shape = case.domain.grid.shape;
            let (_, frame) = snapshot(captured, shown, shape, plan.dt, begun);
            *is_wanted &= sink(member, frame);
            *is_wanted
        })?;
        self.spent += start.elapsed();
        Ok(self.is_wanted)
    }
}
