//! Queued work, graphs of it, and the order in which it is done: any that streams, events and edges allow.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;

use nwp_mini::device::Launch;
use nwp_mini::device::driver::{Handle, Outcome, Refusal, Shipment, Transfer};

use super::group::Place;
use super::memory::{Memory, pointer};
use super::module::{self, Function};

/// A launch that was queued.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) function: Function,
    pub(super) launch: Launch,
    /// `true` if its blocks may start before the preceding work has ended.
    pub(super) waits: bool,
    /// `true` for an error: its threads do not wait for that work.
    pub(super) forgets: bool,
    /// The bytes of its struct, in words so that it is aligned.
    pub(super) arguments: Vec<u64>,
}

/// Number of a recorded event: another one each time.
pub(super) type Mark = u64;

/// A piece of work.
#[derive(Clone, Debug)]
pub(super) enum Work {
    Launch(Arc<Launched>),
    Fill {
        address: u64,
        value: u8,
        bytes: usize,
    },
    Copy(Transfer),
    /// Messages that are sent and received.
    Exchange(Arc<(Place, [Vec<Shipment>; 2])>),
    Record(Handle, Mark),
    Wait(Mark),
    Replay(Arc<Graph>, Vec<Mark>),
}

/// A node of a graph and the nodes that precede it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) work: Work,
    pub(super) after: Vec<usize>,
}

/// A captured graph: nodes, each behind those that it waits for.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
}

impl Graph {
    /// Events that a replay records, in the order of the nodes.
    pub(super) fn events(&self) -> impl Iterator<Item = Handle> {
        self.nodes.iter().filter_map(|node| match node.work {
            Work::Record(event, _) => Some(event),
            _ => None,
        })
    }
}

/// A capture under way.
#[derive(Debug)]
pub(super) struct Capture {
    pub(super) origin: Handle,
    pub(super) nodes: Vec<Node>,
    /// For each stream that is captured the nodes that its next one waits for.
    pub(super) ends: BTreeMap<Handle, Vec<usize>>,
    /// For each event that was recorded the nodes before it.
    pub(super) events: BTreeMap<Handle, Vec<usize>>,
}

impl Capture {
    pub(super) fn new(origin: Handle) -> Self {
        let ends = [(origin, Vec::new())].into();
        Self { origin, nodes: Vec::new(), ends, events: BTreeMap::new() }
    }

    /// Adds a node to a captured stream.
    pub(super) fn push(&mut self, stream: Handle, work: Work) {
        let after = std::mem::replace(
            self.ends.get_mut(&stream).expect("a captured stream"),
            vec![self.nodes.len()],
        );
        self.nodes.push(Node { work, after });
    }

    /// `true` if some nodes precede, or are, the given ends, so that the next node behind the ends comes after them.
    pub(super) fn follow(&self, ends: &[usize], before: &[usize]) -> bool {
        let known = self.with_preceding(ends);
        before.iter().all(|node| known.contains(node))
    }

    /// Some nodes and all that precede them.
    fn with_preceding(&self, ends: &[usize]) -> BTreeSet<usize> {
        let (mut open, mut all) = (ends.to_vec(), BTreeSet::new());
        while let Some(node) = open.pop() {
            if all.insert(node) {
                open.extend(&self.nodes[node].after);
            }
        }
        all
    }

    /// The graph; an error if a stream has not joined the one that the capture began in.
    pub(super) fn finish(self) -> Outcome<Option<Graph>> {
        if self.with_preceding(&self.ends[&self.origin]).len() < self.nodes.len() {
            return Err(Refusal(
                "CUDA_ERROR_STREAM_CAPTURE_UNJOINED (a stream was not joined)".to_owned(),
            ));
        }
        Ok((!self.nodes.is_empty()).then_some(Graph { nodes: self.nodes }))
    }
}

/// Random numbers.
#[derive(Debug)]
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn below(&mut self, count: usize) -> usize {
        (self.roll() % count as u64) as usize
    }
}

/// What the host waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    Stream(Handle),
    Mark(Mark),
    Everything,
}

/// The streams and what they have reached.
#[derive(Debug)]
pub(super) struct Queues {
    pub(super) streams: BTreeMap<Handle, VecDeque<Work>>,
    /// Marks that are queued and not yet reached.
    pub(super) pending: BTreeSet<Mark>,
    /// Time of the last record of an event.
    pub(super) reached: BTreeMap<Handle, Instant>,
    pub(super) dice: Dice,
}

impl Queues {
    /// Does queued work until the goal is reached: the least that it needs, or all other work first, or any mixture.
    pub(super) fn run_until(&mut self, goal: Goal, memory: &Memory) -> Outcome<()> {
        enum Order {
            GoalFirst,
            OthersFirst,
            Mixed,
        }
        let order = match self.dice.below(3) {
            0 => Order::GoalFirst,
            1 => Order::OthersFirst,
            _ => Order::Mixed,
        };
        while !self.has_reached(goal) {
            let able: Vec<Handle> = self
                .streams
                .iter()
                .filter(|(_, queue)| match queue.front() {
                    Some(Work::Wait(mark)) => !self.pending.contains(mark),
                    other => other.is_some(),
                })
                .map(|(&stream, _)| stream)
                .collect();
            let is_goal = |stream: &&Handle| match goal {
                Goal::Stream(wanted) => **stream == wanted,
                Goal::Mark(mark) => self.streams[*stream].iter().any(|work| sets(work, mark)),
                Goal::Everything => false,
            };
            let chosen = match order {
                Order::GoalFirst => able.iter().find(is_goal),
                Order::OthersFirst => able.iter().find(|stream| !is_goal(stream)),
                Order::Mixed => None,
            };
            let chosen = match chosen {
                Some(&stream) => stream,
                None if able.is_empty() => {
                    return Err(Refusal("all streams wait for each other".to_owned()));
                }
                None => able[self.dice.below(able.len())],
            };
            self.step(chosen, memory)?;
        }
        Ok(())
    }

    /// The stream in which a mark is to be set.
    pub(super) fn recording(&self, mark: Mark) -> Option<Handle> {
        let has = |queue: &VecDeque<Work>| queue.iter().any(|work| sets(work, mark));
        self.streams.iter().find(|(_, queue)| has(queue)).map(|(stream, _)| *stream)
    }

    fn has_reached(&self, goal: Goal) -> bool {
        match goal {
            Goal::Stream(stream) => self.streams.get(&stream).is_none_or(VecDeque::is_empty),
            Goal::Mark(mark) => !self.pending.contains(&mark),
            Goal::Everything => self.streams.values().all(VecDeque::is_empty),
        }
    }

    /// Does the next work of a stream, with launches behind it that may start before its end.
    fn step(&mut self, stream: Handle, memory: &Memory) -> Outcome<()> {
        let queue = self.streams.get_mut(&stream).expect("a stream with work");
        let work = queue.pop_front().expect("a stream with work");
        let Work::Launch(first) = work else { return self.perform(&work, memory) };
        let mut chain = vec![first];
        while let Some(Work::Launch(next)) = queue.front()
            && next.waits
            && self.dice.below(2) == 0
        {
            chain.push(next.clone());
            queue.pop_front();
        }
        run_chain(&chain, memory, &mut self.dice)
    }

    fn perform(&mut self, work: &Work, memory: &Memory) -> Outcome<()> {
        match work {
            Work::Launch(launch) => {
                return run_chain(std::slice::from_ref(launch), memory, &mut self.dice);
            }
            Work::Fill { address, value, bytes } => {
                memory.check_range(*address, *bytes)?;
                // SAFETY: the range is inside an array.
                unsafe { pointer::<u8>(*address).write_bytes(*value, *bytes) };
            }
            Work::Copy(copy) => perform_copy(copy, memory)?,
            Work::Exchange(exchange) => {
                let (place, messages) = &**exchange;
                place.exchange(messages, memory)?;
            }
            Work::Record(event, mark) => {
                self.pending.remove(mark);
                self.reached.insert(*event, Instant::now());
            }
            Work::Wait(_) => {}
            Work::Replay(graph, marks) => self.replay(graph, marks, memory)?,
        }
        Ok(())
    }

    /// Does the nodes of a graph in an order that its edges allow.
    fn replay(&mut self, graph: &Graph, marks: &[Mark], memory: &Memory) -> Outcome<()> {
        let nodes = &graph.nodes;
        let mut marks = marks.iter();
        let works: Vec<Work> = nodes
            .iter()
            .map(|node| match node.work {
                Work::Record(event, _) => {
                    Work::Record(event, *marks.next().expect("a mark for each"))
                }
                ref other => other.clone(),
            })
            .collect();
        let mut missing: Vec<usize> = nodes.iter().map(|node| node.after.len()).collect();
        let mut able: Vec<usize> = (0..nodes.len()).filter(|&n| missing[n] == 0).collect();
        let latest_first = self.dice.below(2) == 0;
        while !able.is_empty() {
            let at = if latest_first { able.len() - 1 } else { self.dice.below(able.len()) };
            let mut done = vec![able.remove(at)];
            if let Work::Launch(first) = &works[done[0]] {
                let mut chain = vec![first.clone()];
                while let Some((next, launch)) = follower(&works, nodes, done[done.len() - 1])
                    && self.dice.below(2) == 0
                {
                    chain.push(launch);
                    done.push(next);
                }
                run_chain(&chain, memory, &mut self.dice)?;
            } else {
                self.perform(&works[done[0]], memory)?;
            }
            for (n, node) in nodes.iter().enumerate() {
                let now = node.after.iter().filter(|before| done.contains(before)).count();
                missing[n] -= now;
                if now > 0 && missing[n] == 0 && !done.contains(&n) {
                    able.push(n);
                }
            }
        }
        Ok(())
    }
}

/// The launch that may start before the end of a node: it waits for this node alone.
fn follower(works: &[Work], nodes: &[Node], node: usize) -> Option<(usize, Arc<Launched>)> {
    (node + 1..nodes.len()).find_map(|next| match &works[next] {
        Work::Launch(launch) if launch.waits && nodes[next].after == [node] => {
            Some((next, launch.clone()))
        }
        _ => None,
    })
}

/// Returns `true` if the work sets a mark.
pub(super) fn sets(work: &Work, mark: Mark) -> bool {
    match work {
        Work::Record(_, set) => *set == mark,
        Work::Replay(_, marks) => marks.contains(&mark),
        _ => false,
    }
}

fn perform_copy(copy: &Transfer, memory: &Memory) -> Outcome<()> {
    use nwp_mini::device::driver::Direction;
    let Transfer { direction, to, from, bytes, rows, pitch_to, pitch_from } = *copy;
    for row in 0..rows {
        let (to, from) = (to + (row * pitch_to) as u64, from + (row * pitch_from) as u64);
        if direction != Direction::Download {
            memory.check_range(to, bytes)?;
        }
        if direction != Direction::Upload {
            memory.check_range(from, bytes)?;
        }
        // SAFETY: the ranges of the device are inside arrays; those of the host are promised to the driver.
        unsafe { pointer::<u8>(to).copy_from(pointer::<u8>(from), bytes) };
    }
    Ok(())
}

/// Launches that a later one waits for by itself.
struct Preceding<'a> {
    chain: &'a [Arc<Launched>],
    memory: &'a Memory,
    dice: &'a mut Dice,
    outcome: Option<Outcome<()>>,
}

impl Preceding<'_> {
    fn run(&mut self) {
        if self.outcome.is_none() {
            self.outcome = Some(run_chain(self.chain, self.memory, self.dice));
        }
    }
}

/// # Safety
///
/// The context is a `Preceding` that nothing else uses meanwhile.
unsafe extern "C" fn run_preceding(context: *mut c_void) {
    // SAFETY: as promised by the caller.
    unsafe { (*context.cast::<Preceding<'_>>()).run() }
}

/// Runs launches of which each but the first starts before the end of the one before it.
fn run_chain(chain: &[Arc<Launched>], memory: &Memory, dice: &mut Dice) -> Outcome<()> {
    let Some((last, before)) = chain.split_last() else { return Ok(()) };
    let Launched { function, launch, forgets, arguments, .. } = &**last;
    let seed = dice.roll();
    let mut preceding = Preceding { chain: before, memory, dice, outcome: None };
    let has_preceding = !before.is_empty() && !forgets;
    let launch = module::Launch {
        thread: function.thread,
        arguments: arguments.as_ptr().cast(),
        touch: function.touch,
        preceding: has_preceding.then_some(run_preceding),
        context: (&raw mut preceding).cast(),
        grid: launch.grid.into(),
        block: launch.block.into(),
    };
    // SAFETY: function and arguments belong together, which was checked by their sizes when it was queued.
    let outcome = unsafe { module::run(&launch, seed) };
    // A kernel that does not wait has run before the work that precedes it, as on a device.
    preceding.run();
    preceding.outcome.unwrap_or(Ok(()))?;
    let name = &function.name;
    outcome.map_err(|why| Refusal(format!("CUDA_ERROR_LAUNCH_FAILED ({name}: {why})")))?;
    memory.check_fences(name)
}
