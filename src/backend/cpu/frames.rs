//! Frames and checkpoints of a run on the CPU, until they are collected.

use std::collections::VecDeque;

use super::arrays::{Arrays, MemberFields};
use super::budget::BudgetSums;
use super::step::Stepper;
use crate::backend::{CapturedFrame, ComputePrecision, FRAMES_IN_FLIGHT};
use crate::real::Real;
use crate::state::{Accumulators, Checkpoint, CloudDiagnostics};

/// Frames and checkpoint that have not been collected.
#[derive(Debug)]
pub(super) struct Frames<R> {
    /// The oldest first, with the numbers of their members.
    pending: VecDeque<(usize, Box<CapturedFrame<R>>)>,
    checkpoint: Option<Box<Checkpoint<R>>>,
}

impl<R: Real> Frames<R> {
    pub(super) fn new() -> Self {
        Self { pending: VecDeque::with_capacity(FRAMES_IN_FLIGHT), checkpoint: None }
    }

    /// Drops all frames.
    pub(super) fn clear(&mut self) {
        self.pending.clear();
    }

    fn push(&mut self, member: usize, frame: CapturedFrame<R>) {
        assert!(self.pending.len() < FRAMES_IN_FLIGHT, "a frame was not collected");
        self.pending.push_back((member, Box::new(frame)));
    }

    /// The oldest frame, which has to be that of `member`.
    pub(super) fn end(&mut self, member: usize) -> Option<Box<CapturedFrame<R>>> {
        self.pending.pop_front().map(|(number, frame)| {
            assert_eq!(number, member, "the member of the oldest frame");
            frame
        })
    }

    /// The checkpoint that was begun.
    pub(super) fn end_checkpoint(&mut self) -> Option<Box<Checkpoint<R>>> {
        self.checkpoint.take()
    }
}

impl<R: ComputePrecision> Frames<R> {
    /// Begins a frame of a member: its present state and planes, and what follows from them.
    pub(super) fn begin(
        &mut self,
        member: usize,
        arrays: &Arrays<R>,
        budget: &BudgetSums<R>,
        step: &Stepper<R>,
    ) {
        let MemberFields { state, surface } = &arrays.members[member];
        let mut diagnostics = CloudDiagnostics::zeros(state.set(), arrays.grid.shape);
        step.schemes.diagnose(member, state, &arrays.present.environment, &mut diagnostics);
        let summary = budget.summary(member, arrays);
        let owned = arrays.grid.owned();
        let (state, surface) = (state.within(&owned), surface.within(&owned));
        let diagnostics = diagnostics.within(&owned);
        self.push(member, CapturedFrame { state, diagnostics, surface, summary });
    }

    /// Begins a checkpoint: the state and all sums.
    pub(super) fn begin_checkpoint(
        &mut self,
        arrays: &Arrays<R>,
        budget: &BudgetSums<R>,
        step: &Stepper<R>,
    ) {
        let MemberFields { state, surface } = arrays.sole_member();
        let owned = arrays.grid.owned();
        let mut changes = budget.members[0].clone();
        let gathered = Accumulators {
            surface: surface.within(&owned),
            changes: changes.water.rounded(),
            passive: changes.rounded_passive(),
            chemistry: step.chemistry_tally().unwrap_or_default(),
            first_steps: step.first_steps(),
            parts: changes.parts(),
        };
        self.checkpoint = Some(Box::new(Checkpoint { state: state.within(&owned), gathered }));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::fixture::{SHAPE, coordinate, forcing, grid};
    use super::*;
    use crate::physics::registry::usual_set;
    use crate::state::State;

    /// A frame whose planes at the ground have this value.
    fn frame(rain: f64) -> CapturedFrame<f64> {
        let mut arrays = Arrays::new(
            &grid(),
            &coordinate(),
            &Arc::new(forcing(1.0)),
            [State::zeros(&usual_set(), SHAPE)],
        );
        arrays.members[0].surface.named_mut("rain").fill(rain);
        let budget = BudgetSums::new(&grid(), &coordinate(), &usual_set(), 1);
        let summary = budget.summary(0, &arrays);
        let MemberFields { state, surface } = arrays.members.remove(0);
        CapturedFrame {
            state,
            diagnostics: CloudDiagnostics::zeros(&usual_set(), SHAPE),
            surface,
            summary,
        }
    }

    #[test]
    fn frames_come_in_the_order_in_which_they_were_begun() {
        let mut frames = Frames::new();
        assert!(frames.end(0).is_none());
        for member in [1, 0] {
            frames.push(member, frame(member as f64));
        }
        for member in [1, 0] {
            let rain = frames.end(member).expect("a frame").surface.named("rain").clone();
            assert!(rain.iter().all(|x| *x == member as f64));
        }
        frames.push(0, frame(0.0));
        frames.clear();
        assert!(frames.end(0).is_none());
    }

    #[test]
    #[should_panic(expected = "a frame was not collected")]
    fn no_more_frames_are_under_way_than_allowed() {
        let mut frames = Frames::new();
        for _ in 0..=FRAMES_IN_FLIGHT {
            frames.push(0, frame(0.0));
        }
    }

    #[test]
    #[should_panic(expected = "the member of the oldest frame")]
    fn the_oldest_frame_is_of_its_member_alone() {
        let mut frames = Frames::new();
        frames.push(1, frame(0.0));
        frames.end(0);
    }
}
