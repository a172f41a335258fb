//! Distribution of interdependent tasks among workers.
//!
//! A *slot* gives every worker a list of tasks, and ends with a barrier. Tasks of a level depend on lower levels only.
//! A level of many tasks is a slot of its own, with its tasks distributed; several consecutive levels of few tasks are
//! faster as one slot of a single worker, without barriers between them.

use crate::chemistry::sparse_lu::SparseLu;

/// A piece of work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// Length of the longest chain of tasks that it depends on.
    pub(super) level: usize,
    /// Cost in products.
    pub(super) cost: usize,
}

/// Cost of a barrier and of the latency of the first load after it, in products.
const WAIT: usize = 10;
/// Cost of a task in addition to its products.
const TASK: usize = 3;

/// Lists of tasks, one for each worker.
pub(super) type Slot = Vec<Vec<usize>>;

/// Slots for tasks. The order of the tasks must be valid for a single worker.
pub(super) fn slots(tasks: &[Task], workers: usize) -> Vec<Slot> {
    if workers == 1 {
        return vec![vec![(0..tasks.len()).collect()]];
    }
    let count = tasks.iter().map(|task| task.level + 1).max().unwrap_or(0);
    let mut levels = vec![Vec::new(); count];
    tasks.iter().enumerate().for_each(|(number, task)| levels[task.level].push(number));
    let cost = |number: &usize| tasks[*number].cost;
    let shared: Vec<(Slot, usize)> =
        levels.iter().map(|level| share_out(level.clone(), cost, workers, usize::MAX)).collect();
    // The least time up to each level, and the first level of the last slot before it.
    let mut best = vec![(0, 0)];
    for end in 1..=count {
        let mut least = (best[end - 1].0 + shared[end - 1].1 + WAIT, end - 1);
        let mut alone = 0;
        for begin in (0..end).rev() {
            alone += levels[begin].iter().map(cost).sum::<usize>();
            let time = best[begin].0 + alone + WAIT;
            // Of equal times, the distributed slot is taken.
            if time < least.0 {
                least = (time, begin);
            }
        }
        best.push(least);
    }
    let mut slots = Vec::new();
    let mut end = count;
    while end > 0 {
        let begin = best[end].1;
        let alone: usize = levels[begin..end].iter().flatten().map(cost).sum();
        if end - begin == 1 && shared[begin].1 <= alone {
            slots.push(shared[begin].0.clone());
        } else {
            let mut slot = vec![Vec::new(); workers];
            slot[0] = levels[begin..end].concat();
            slots.push(slot);
        }
        end = begin;
    }
    slots.reverse();
    slots
}

/// Distributes tasks, the longest first and at most `most` to each worker, and returns the time of the worker with the
/// most work.
fn share_out(
    mut tasks: Vec<usize>,
    cost: impl Fn(&usize) -> usize,
    workers: usize,
    most: usize,
) -> (Slot, usize) {
    tasks.sort_by_key(|number| std::cmp::Reverse(cost(number)));
    let (mut slot, mut times) = (vec![Vec::new(); workers], vec![0; workers]);
    for number in tasks {
        let free = (0..workers).filter(|&worker| slot[worker].len() < most);
        let Some(least) = free.min_by_key(|&worker| times[worker]) else { break };
        times[least] += cost(&number);
        slot[least].push(number);
    }
    (slot, times.into_iter().max().unwrap_or(0))
}

/// Distributes items with a cost among workers, at most `most` to each, in the order of the items.
pub(super) fn shares(costs: &[usize], workers: usize, most: usize) -> Vec<Vec<usize>> {
    let all = (0..costs.len()).collect();
    let (mut shares, _) = share_out(all, |&item| costs[item] + 1, workers, most);
    for share in &mut shares {
        share.sort_unstable();
    }
    shares
}

/// The side of the diagonal that an entry of the factors is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Left of the diagonal: an entry of L, with the entry on the diagonal of its column.
    Left(usize),
    /// On the diagonal.
    Diagonal,
    /// Right of the diagonal: an entry of U.
    Right,
}

/// An entry of the factors to be computed.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    pub(super) entry: usize,
    pub(super) kind: Kind,
    /// Entries of L and of U whose products are subtracted, in the order of elimination.
    pub(super) pairs: Vec<[usize; 2]>,
}

/// The entries of the factors row by row, and their tasks.
///
/// `terms` returns the number of terms of an entry in the matrix.
pub(super) fn factors(lu: &SparseLu, terms: impl Fn(usize) -> usize) -> (Vec<Factor>, Vec<Task>) {
    let (mut factors, mut tasks) = (Vec::new(), Vec::<Task>::new());
    for row in 0..lu.size() {
        for entry in lu.row(row) {
            let column = lu.column[entry] as usize;
            let left = lu.row(row).take_while(|&e| (lu.column[e] as usize) < column.min(row));
            let pairs: Vec<[usize; 2]> =
                left.filter_map(|e| Some([e, lu.entry(lu.column[e] as usize, column)?])).collect();
            let kind = match column.cmp(&row) {
                std::cmp::Ordering::Less => Kind::Left(lu.diagonal[column] as usize),
                std::cmp::Ordering::Equal => Kind::Diagonal,
                std::cmp::Ordering::Greater => Kind::Right,
            };
            let pivot = if let Kind::Left(pivot) = kind { Some(pivot) } else { None };
            let needed = pairs.iter().flatten().copied().chain(pivot);
            let level = needed.map(|entry| tasks[entry].level + 1).max().unwrap_or(0);
            tasks.push(Task { level, cost: TASK + terms(entry) + pairs.len() });
            factors.push(Factor { entry, kind, pairs });
        }
    }
    (factors, tasks)
}

/// A part of the solution for a row: products of entries with the x of their columns, subtracted from the x of the row
/// one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) row: usize,
    pub(super) entries: Vec<usize>,
    /// Entry of the inverse pivot that x is multiplied by at the end.
    pub(super) pivot: Option<usize>,
}

/// The slots of a solution: forward substitution with L, then back substitution with U.
pub(super) fn solution(lu: &SparseLu, workers: usize) -> Vec<Vec<Vec<Piece>>> {
    [true, false]
        .into_iter()
        .flat_map(|is_down| {
            let (pieces, tasks) = pieces(lu, is_down);
            let slots = slots(&tasks, workers);
            slots.into_iter().map(move |slot| {
                let list = |list: Vec<usize>| list.iter().map(|&n| pieces[n].clone()).collect();
                slot.into_iter().map(|own| joined(list(own), !is_down)).collect::<Vec<_>>()
            })
        })
        .filter(|slot| slot.iter().any(|list| !list.is_empty()))
        .collect()
}

/// The pieces of rows in the order of a single worker. A row is cut before a product that depends on a higher level.
fn pieces(lu: &SparseLu, is_down: bool) -> (Vec<Piece>, Vec<Task>) {
    let (mut pieces, mut tasks) = (Vec::new(), Vec::new());
    // Level from which on the x of a row is available; 0 from the beginning.
    let mut ready = vec![0; lu.size()];
    for (row, entries) in lu.substitution(is_down) {
        let mut level = 0;
        let mut piece = Piece { row, entries: Vec::new(), pivot: None };
        for entry in entries {
            let needed = ready[lu.column[entry] as usize];
            if needed > level {
                if !piece.entries.is_empty() {
                    let cost = TASK + piece.entries.len();
                    tasks.push(Task { level, cost });
                    pieces.push(piece.clone());
                    piece.entries.clear();
                }
                level = needed;
            }
            piece.entries.push(entry);
        }
        piece.pivot = (!is_down).then_some(lu.diagonal[row] as usize);
        if !piece.entries.is_empty() || piece.pivot.is_some() {
            tasks.push(Task { level, cost: TASK + piece.entries.len() });
            pieces.push(piece);
            ready[row] = level + 1;
        }
    }
    (pieces, tasks)
}

/// Joins the pieces of each row in a list, in the order of the rows.
fn joined(mut list: Vec<Piece>, is_up: bool) -> Vec<Piece> {
    list.sort_by_key(|piece| if is_up { usize::MAX - piece.row } else { piece.row });
    let mut joined: Vec<Piece> = Vec::new();
    for piece in list {
        match joined.last_mut() {
            Some(last) if last.row == piece.row => {
                last.entries.extend(piece.entries);
                last.pivot = piece.pivot;
            }
            _ => joined.push(piece),
        }
    }
    joined
}
