//! Recorded graphs of steps.

use super::queue::BATCH_SIZES;

/// Most graphs that are kept: for both states, all numbers of steps and a timed one, of the usual length and of a last
/// one that is shorter.
const MOST: usize = 2 * 2 * (BATCH_SIZES.len() + 1);

/// Properties that all steps of a graph share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GraphKey {
    /// Index of the state, of two, that the first step starts from.
    pub(super) now: usize,
    pub(super) count: usize,
    pub(super) dt: f64,
    /// Single step whose phases are timed.
    pub(super) is_timed: bool,
    /// Step that is to fail, for tests.
    pub(super) is_failing: bool,
}

impl GraphKey {
    /// So many steps of `dt` seconds, neither timed nor failing.
    pub(super) fn new(now: usize, count: usize, dt: f64) -> Self {
        Self { now, count, dt, is_timed: false, is_failing: false }
    }
}

/// Graphs by their keys, the oldest first.
#[derive(Debug)]
pub(super) struct StepGraphs<G> {
    recorded: Vec<(GraphKey, G)>,
}

impl<G> StepGraphs<G> {
    pub(super) fn new() -> Self {
        Self { recorded: Vec::new() }
    }

    /// The graph of a key. If there is none yet, `record` makes it, and the oldest one is dropped if there are too many.
    pub(super) fn find_or_record<E>(
        &mut self,
        key: GraphKey,
        record: impl FnOnce() -> Result<G, E>,
    ) -> Result<&mut G, E> {
        let found = self.recorded.iter().position(|(recorded, _)| *recorded == key);
        let at = if let Some(at) = found {
            at
        } else {
            let graph = record()?;
            if self.recorded.len() == MOST {
                self.recorded.remove(0);
            }
            self.recorded.push((key, graph));
            self.recorded.len() - 1
        };
        Ok(&mut self.recorded[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph is the number of its recording here.
    fn find(graphs: &mut StepGraphs<usize>, key: GraphKey, recordings: &mut usize) -> usize {
        let record = || {
            *recordings += 1;
            Ok::<_, ()>(*recordings)
        };
        *graphs.find_or_record(key, record).unwrap()
    }

    #[test]
    fn a_graph_is_recorded_once_for_all_that_its_key_tells_apart() {
        let (mut graphs, mut recordings) = (StepGraphs::new(), 0);
        let key = GraphKey::new(0, 8, 6.0);
        let keys = [
            key,
            GraphKey { now: 1, ..key },
            GraphKey { count: 1, ..key },
            GraphKey { dt: 3.0, ..key },
            GraphKey { is_timed: true, ..key },
            GraphKey { is_failing: true, ..key },
        ];
        for _ in 0..2 {
            for (number, key) in keys.into_iter().enumerate() {
                assert_eq!(find(&mut graphs, key, &mut recordings), number + 1);
            }
        }
        assert_eq!(recordings, keys.len());
    }

    #[test]
    fn the_oldest_graph_makes_room_and_a_failed_recording_leaves_none() {
        let (mut graphs, mut recordings) = (StepGraphs::new(), 0);
        let key = |number: usize| GraphKey::new(0, 1, number as f64);
        assert!(graphs.find_or_record(key(0), || Err("the device has failed")).is_err());
        for number in 0..=MOST {
            find(&mut graphs, key(number), &mut recordings);
        }
        assert_eq!(recordings, MOST + 1);
        find(&mut graphs, key(1), &mut recordings);
        assert_eq!(recordings, MOST + 1);
        find(&mut graphs, key(0), &mut recordings);
        assert_eq!(recordings, MOST + 2);
    }
}
