//! Distribution of interdependent tasks over rounds and workers, for straight-line code.
//!
//! Every round ends with a barrier. A task may depend on earlier tasks of the same worker in its round, and on all
//! tasks of earlier rounds. All tasks of a row belong to one worker. Several lengths of rounds are tried, and the
//! fastest schedule is kept.

/// A piece of work.
#[derive(Clone, Debug, Default)]
pub(super) struct Task {
    /// Cost in instructions.
    pub(super) cost: usize,
    /// Tasks that it depends on, which have lower indices.
    pub(super) needs: Vec<usize>,
    /// The row of the matrix, which stays in the registers of one worker from its first task to its last.
    pub(super) row: usize,
    /// Numbers of the row.
    pub(super) size: usize,
    /// True for the last task of the row.
    pub(super) is_last: bool,
}

/// Lists of tasks, one for each worker.
pub(super) type Round = Vec<Vec<usize>>;

/// Cost of a barrier, and of the latency of the first load after it.
const WAIT: usize = 100;
/// Numbers of rows that a worker can hold in registers.
const MOST_OPEN: usize = 72;
/// Lengths of rounds that are tried, in units of WAIT.
const LENGTHS: [usize; 9] = [1, 2, 3, 4, 6, 8, 12, 20, 40];

/// The schedule with the least time.
pub(super) fn rounds(tasks: &[Task], workers: usize) -> Vec<Round> {
    if tasks.is_empty() {
        // A round would have a barrier, at which only the workers with a list would wait.
        return Vec::new();
    }
    if workers == 1 {
        return vec![vec![(0..tasks.len()).collect()]];
    }
    let urgency = urgencies(tasks);
    let trials = LENGTHS.iter().map(|length| attempt(tasks, workers, &urgency, length * WAIT));
    trials.min_by_key(|(_, time)| *time).map(|(rounds, _)| rounds).unwrap_or_default()
}

/// The critical path from each task: time from its start to the end of all tasks that depend on it.
fn urgencies(tasks: &[Task]) -> Vec<usize> {
    let mut after = vec![0; tasks.len()];
    for (number, task) in tasks.iter().enumerate().rev() {
        after[number] += task.cost;
        for &needed in &task.needs {
            after[needed] = after[needed].max(after[number]);
        }
    }
    after
}

/// A schedule whose rounds end when every worker has been busy for `length`, and its time.
fn attempt(
    tasks: &[Task],
    workers: usize,
    urgency: &[usize],
    length: usize,
) -> (Vec<Round>, usize) {
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|&number| (std::cmp::Reverse(urgency[number]), number));
    // The round and the worker of every finished task, and the worker of every row that has been started.
    let mut done: Vec<Option<(usize, usize)>> = vec![None; tasks.len()];
    let rows = tasks.iter().map(|task| task.row + 1).max().unwrap_or(0);
    let mut owner = vec![None; rows];
    let mut open = vec![0; workers];
    let (mut rounds, mut total) = (Vec::<Round>::new(), 0);
    // True if no task is possible within the limit on registers.
    let mut is_stuck = false;
    while !order.is_empty() {
        let now = rounds.len();
        let (mut lists, mut times) = (vec![Vec::new(); workers], vec![0; workers]);
        let mut is_free = vec![true; workers];
        loop {
            let free = (0..workers).filter(|&worker| is_free[worker]);
            let Some(worker) = free.min_by_key(|&worker| times[worker]) else { break };
            let is_ready = |number: usize| {
                let task = &tasks[number];
                let is_own = match owner[task.row] {
                    None => is_stuck || open[worker] == 0 || open[worker] + task.size <= MOST_OPEN,
                    Some(owner) => owner == worker,
                };
                let is_there = |needed: &usize| {
                    done[*needed].is_some_and(|(round, by)| round < now || by == worker)
                };
                is_own && task.needs.iter().all(is_there)
            };
            match order.iter().position(|&number| is_ready(number)) {
                Some(place) if times[worker] < length => {
                    let number = order.remove(place);
                    let task = &tasks[number];
                    times[worker] += task.cost;
                    if owner[task.row].replace(worker).is_none() {
                        open[worker] += task.size;
                    }
                    if task.is_last {
                        open[worker] -= task.size;
                    }
                    done[number] = Some((now, worker));
                    lists[worker].push(number);
                    is_stuck = false;
                }
                _ => is_free[worker] = false,
            }
        }
        is_stuck = lists.iter().all(Vec::is_empty);
        if !is_stuck {
            total += times.into_iter().max().unwrap_or(0) + WAIT;
            rounds.push(lists);
        }
    }
    (rounds, total)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All workers wait at the barrier of a round, so that each needs a list in it; without tasks there is no round.
    #[test]
    fn every_worker_has_a_list_in_every_round() {
        let chain = |count: usize| -> Vec<Task> {
            let task = |row: usize| {
                let needs = row.checked_sub(1).into_iter().collect();
                Task { cost: PRODUCT, needs, row, size: 1, is_last: true }
            };
            (0..count).map(task).collect()
        };
        for workers in [1, 4, 8] {
            for count in [0, 1, 3, 20] {
                let rounds = rounds(&chain(count), workers);
                assert_eq!(rounds.is_empty(), count == 0);
                assert!(rounds.iter().all(|round| round.len() == workers), "{workers} {count}");
                let mut all: Vec<usize> = rounds.concat().concat();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..count), "{workers} {count}");
            }
        }
    }

    /// Cost of a task of the tests, in instructions.
    const PRODUCT: usize = 10;
}
