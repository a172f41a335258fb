//! Queue of the requested steps: it decides which of them are launched as one graph.

use crate::advection::gpu::TransportSettings;
use crate::advection::gpu::transport::side_values;
use crate::backend::gpu::gpu_config::GpuConfig;
use crate::state::gpu::device_fields::TERMS;

/// Numbers of steps in a graph. The device is idle for a while between two graphs, and the launch that ends steps takes
/// as long for one as for several.
pub(super) const BATCH_SIZES: [usize; 3] = [32, 8, 1];

/// Most memory for the terms that the steps of a graph store until they are added up at its end, bytes. On grids that
/// need more, a step takes so long that the launch at its end does not matter.
const MOST_KEPT: usize = 32 << 20;

/// Fewest steps from one whose phases are timed to the next. A timed step is a graph of its own, since events between
/// kernels take time themselves; the steps between two timed ones fill a graph.
const TIMED_EVERY: usize = 10;

/// Most steps of a graph for a number of states, and the bytes that all but one of them need for their terms. The
/// forcing between frames is set for every step.
pub(in crate::backend::gpu) fn steps_together<R>(
    GpuConfig { grid, has_sequence, .. }: &GpuConfig<'_>,
    (settings, states): (&TransportSettings, usize),
) -> [usize; 2] {
    if *has_sequence {
        return [1, 0];
    }
    let planes = states * TERMS * settings.layout(grid).columns();
    let each = size_of::<R>() * (planes + side_values(grid, settings.tracers));
    let bytes = |steps: usize| (steps - 1) * each;
    let steps = BATCH_SIZES.into_iter().find(|steps| bytes(*steps) <= MOST_KEPT).unwrap_or(1);
    [steps, bytes(steps)]
}

/// The requested steps of a run, counted from its start.
#[derive(Debug)]
pub(super) struct StepQueue {
    /// Requested steps that have not been launched.
    waiting: Batches,
    /// Steps requested, and steps launched.
    requested: usize,
    launched: usize,
    /// The last step that was launched in a graph of several.
    launched_together: usize,
    /// Step that is to fail, counted from 1.
    failing: Option<usize>,
}

/// Properties of the next step that keep it out of a graph of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NextStep {
    /// Its phases are timed.
    pub(super) is_timed: bool,
    /// It is to fail, for tests.
    pub(super) is_failing: bool,
}

/// Steps of the same length: an iterator over the numbers of steps in the graphs that launch them, the largest first.
#[derive(Debug)]
pub(super) struct Batches {
    count: usize,
    /// Length of the steps, s.
    pub(super) dt: f64,
    /// Most steps of a graph.
    together: usize,
}

impl Iterator for Batches {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let fits = |size: &usize| *size <= self.together && *size <= self.count;
        let size = BATCH_SIZES.into_iter().find(fits)?;
        self.count -= size;
        Some(size)
    }
}

impl StepQueue {
    /// An empty queue for graphs of so many steps at most.
    pub(super) fn new(together: usize) -> Self {
        let waiting = Batches { count: 0, dt: 0.0, together };
        Self { waiting, requested: 0, launched: 0, launched_together: 0, failing: None }
    }

    /// Counts from 0 again.
    pub(super) fn restart(&mut self) {
        (self.requested, self.launched, self.launched_together) = (0, 0, 0);
    }

    /// Number of steps requested.
    pub(super) fn requested(&self) -> usize {
        self.requested
    }

    /// Lets a step fail, counted from 1.
    pub(super) fn fail_at(&mut self, step: usize) {
        self.failing = Some(step);
    }

    /// The next step to be requested; `is_timing` is true while another step is being timed. The first step is not
    /// timed: it may still wait for memory and code.
    pub(super) fn next_step(&self, is_timing: bool) -> NextStep {
        let every = TIMED_EVERY.max(self.waiting.together + 1);
        NextStep {
            is_timed: self.requested % every == 1 && !is_timing,
            is_failing: self.failing == Some(self.requested + 1),
        }
    }

    /// True if a step of `dt` seconds may wait with the queued ones.
    pub(super) fn admits(&self, dt: f64) -> bool {
        self.waiting.dt == dt
    }

    /// Counts a requested step that is launched by itself.
    pub(super) fn count(&mut self) {
        self.requested += 1;
    }

    /// Queues so many steps of `dt` seconds; true if they fill a graph.
    pub(super) fn push(&mut self, count: usize, dt: f64) -> bool {
        self.requested += count;
        self.waiting.count += count;
        self.waiting.dt = dt;
        self.waiting.count >= self.waiting.together
    }

    /// Takes all queued steps.
    pub(super) fn take(&mut self) -> Batches {
        let together = self.waiting.together;
        std::mem::replace(&mut self.waiting, Batches { count: 0, dt: 0.0, together })
    }

    /// Counts the launch of a graph of so many steps.
    pub(super) fn count_launched(&mut self, steps: usize) {
        self.launched += steps;
        if steps > 1 {
            self.launched_together = self.launched;
        }
    }

    /// True if a failure in a step may be one of a later step: it is unknown which steps of a graph are complete.
    pub(super) fn is_in_batch(&self, step: usize) -> bool {
        step <= self.launched_together
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(count: usize, together: usize) -> Vec<usize> {
        let mut queue = StepQueue::new(together);
        queue.push(count, 6.0);
        queue.take().collect()
    }

    #[test]
    fn steps_are_launched_in_the_largest_graphs_that_they_fill() {
        assert_eq!(batches(75, 32), [32, 32, 8, 1, 1, 1]);
        assert_eq!(batches(33, 8), [8, 8, 8, 8, 1]);
        assert_eq!(batches(3, 1), [1, 1, 1]);
        assert_eq!(batches(0, 32), [0; 0]);
    }

    #[test]
    fn a_queue_is_full_when_its_steps_fill_a_graph_and_empty_when_they_are_taken() {
        let mut queue = StepQueue::new(8);
        for _ in 1..8 {
            assert!(!queue.push(1, 6.0));
        }
        assert!(queue.push(1, 6.0));
        assert!(queue.admits(6.0) && !queue.admits(3.0));
        assert_eq!(queue.take().dt, 6.0);
        assert_eq!(queue.take().count(), 0);
        assert_eq!(queue.requested(), 8);
        queue.count();
        assert_eq!(queue.requested(), 9);
        queue.restart();
        assert_eq!(queue.requested(), 0);
    }

    #[test]
    fn a_timed_step_and_a_failing_one_are_known_before_they_are_requested() {
        for (together, timed) in [(1, &[2, 12, 22, 32][..]), (8, &[2, 12, 22, 32]), (32, &[2, 35])]
        {
            let mut queue = StepQueue::new(together);
            queue.fail_at(5);
            let steps = (1..=40).map(|step| {
                let next = queue.next_step(false);
                assert_eq!(next.is_failing, step == 5);
                assert!(!queue.next_step(true).is_timed);
                queue.count();
                (step, next.is_timed)
            });
            let found: Vec<usize> =
                steps.filter(|(_, is_timed)| *is_timed).map(|(step, _)| step).collect();
            assert_eq!(found, timed, "{together} steps together");
        }
    }

    #[test]
    fn a_failure_is_of_one_step_unless_it_was_launched_with_others() {
        let mut queue = StepQueue::new(8);
        queue.count_launched(1);
        assert!(!queue.is_in_batch(1));
        queue.count_launched(8);
        queue.count_launched(1);
        assert!(queue.is_in_batch(9) && !queue.is_in_batch(10));
    }
}
