//! What an emulated device holds and has to do.

use std::collections::BTreeMap;
use std::sync::Arc;

use nwp_mini::device::driver::{Handle, Outcome, Refusal};

use super::fault::Faults;
use super::group::Place;
use super::memory::Memory;
use super::module::{Function, Module};
use super::refuse;
use super::work::{self, Capture, Goal, Graph, Mark, Queues, Work};

/// The state of a device.
#[derive(Debug)]
pub(super) struct State {
    pub(super) memory: Memory,
    pub(super) queues: Queues,
    /// For each event the mark of its last record.
    pub(super) events: BTreeMap<Handle, Option<Mark>>,
    pub(super) graphs: BTreeMap<Handle, Arc<Graph>>,
    /// The places in groups.
    pub(super) groups: BTreeMap<Handle, Place>,
    pub(super) modules: BTreeMap<Handle, Module>,
    pub(super) functions: BTreeMap<Handle, Function>,
    pub(super) capture: Option<Capture>,
    /// For each stream whose last work is to wait the stream that it waits for.
    pub(super) held: BTreeMap<Handle, Handle>,
    /// First failure: as on a device, all calls after it fail.
    pub(super) failure: Option<Refusal>,
    pub(super) faults: Faults,
    pub(super) last: u64,
}

impl State {
    pub(super) fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub(super) fn check(&self) -> Outcome<()> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Queues work, or captures it.
    pub(super) fn queue(&mut self, stream: Handle, work: Work) -> Outcome<()> {
        self.check()?;
        if !matches!(work, Work::Wait(_)) {
            self.held.remove(&stream);
        }
        match &mut self.capture {
            Some(capture) if capture.ends.contains_key(&stream) => capture.push(stream, work),
            _ => self
                .queues
                .streams
                .get_mut(&stream)
                .expect("a stream of this device")
                .push_back(work),
        }
        Ok(())
    }

    /// `true` if a wait of a stream for an event orders work that nothing else has ordered yet.
    pub(super) fn is_needed(&self, stream: Handle, event: Handle) -> bool {
        if let Some(capture) = &self.capture
            && let Some(before) = capture.events.get(&event)
        {
            return capture.ends.get(&stream).is_none_or(|ends| !capture.follow(ends, before));
        }
        let Some(mark) = self.events[&event] else { return false };
        let Some(from) = self.queues.recording(mark) else { return false };
        let queue = &self.queues.streams[&from];
        let recorded = queue.iter().position(|work| work::sets(work, mark)).unwrap_or_default();
        // Records of the same stream with no work between them are one.
        let first = queue.iter().take(recorded).rposition(|work| !matches!(work, Work::Record(..)));
        let same: Vec<Mark> = queue
            .range(first.map_or(0, |at| at + 1)..=recorded)
            .filter_map(|work| if let Work::Record(_, mark) = work { Some(*mark) } else { None })
            .collect();
        let mut waits = self.queues.streams[&stream].iter();
        from != stream && !waits.any(|work| matches!(work, Work::Wait(mark) if same.contains(mark)))
    }

    /// Does queued work until the goal is reached.
    pub(super) fn run_until(&mut self, goal: Goal) -> Outcome<()> {
        self.check()?;
        if let (Some(capture), Goal::Stream(stream)) = (&self.capture, goal)
            && capture.ends.contains_key(&stream)
        {
            return refuse(
                "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (a captured stream is waited for)",
            );
        }
        let outcome = self.queues.run_until(goal, &self.memory);
        if let Err(refusal) = &outcome {
            self.failure = Some(refusal.clone());
        }
        outcome
    }
}
