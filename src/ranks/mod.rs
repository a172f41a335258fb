//! The processes (ranks) of a run, and the messages between them.
//!
//! A run by itself is [`Alone`]. Several processes are started by the launcher of an MPI (`mpirun -n 4`, `srun`), whose
//! library is found when the program runs (`mpi`, feature `mpi`). All ranks make the same calls in the same order, from
//! their main threads.
//!
//! # Decisions
//!
//! **MPI is found, not linked,** as the GPU is (`device`): one program runs with and without MPI, and with any of the
//! three binary interfaces. The library is believed only if its types have the sizes that they should have, and if it
//! counts as many processes as the launcher has started.
//!
//! **Messages are bytes between two ranks, in the order of the calls.** There are no tags and no types: what a message
//! holds follows from the place in the program, which all ranks have in common. So the trait has few methods, and a
//! message of any length may go in pieces.
//!
//! **An expected failure is agreed on** ([`Team::agree`]): each rank tells whether it failed, one of those tells why, and
//! all end by the same code. What cannot be agreed on, a panic or a failure between two agreements, ends all ranks at
//! once ([`Ranks::abort`]).

#[cfg(feature = "mpi")]
pub mod mpi;
pub mod of_threads;
pub mod packing;
mod team;

use std::fmt::Debug;

pub use team::Team;

/// A message to a rank.
pub type Sent<'a> = (usize, &'a [u8]);

/// Room for a message from a rank, of the length that it has.
pub type Received<'a> = (usize, &'a mut [u8]);

/// The ranks of a run.
pub trait Ranks: Debug + Send + Sync {
    /// Carrier of the messages, with its version.
    fn about(&self) -> String;

    /// Number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Number of ranks on this host.
    fn on_host(&self) -> usize;

    /// Number of this rank among those, from 0.
    fn number_on_host(&self) -> usize;

    /// Name of this host.
    fn host(&self) -> String;

    /// Sends and receives at once; returns when all messages have arrived. Messages of a rank to another arrive in the
    /// order in which they were sent.
    fn exchange(&self, sent: &[Sent<'_>], received: &mut [Received<'_>]);

    /// Replaces integers by their sums over all ranks.
    fn sum(&self, values: &mut [i64]);

    /// Bytes that this rank has sent to others.
    fn bytes_sent(&self) -> u64;

    /// Ends all ranks at once by an exit code.
    fn abort(&self, code: u8) -> !;

    /// Waits for all ranks; nothing else may follow.
    fn finish(&self);
}

/// One process by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Ranks for Alone {
    fn about(&self) -> String {
        "no MPI".to_owned()
    }

    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn on_host(&self) -> usize {
        1
    }

    fn number_on_host(&self) -> usize {
        0
    }

    fn host(&self) -> String {
        String::new()
    }

    fn exchange(&self, sent: &[Sent<'_>], received: &mut [Received<'_>]) {
        assert!(sent.is_empty() && received.is_empty(), "a message to nobody");
    }

    fn sum(&self, _: &mut [i64]) {}

    fn bytes_sent(&self) -> u64 {
        0
    }

    fn abort(&self, code: u8) -> ! {
        std::process::exit(code.into())
    }

    fn finish(&self) {}
}

/// Returns `true` if a condition holds on any rank.
pub fn any(ranks: &dyn Ranks, condition: bool) -> bool {
    let mut count = [i64::from(condition)];
    ranks.sum(&mut count);
    count[0] > 0
}

/// The value of one rank, on all of them; each gives its own, of which those of other ranks do not matter.
pub fn of_rank<const N: usize>(ranks: &dyn Ranks, rank: usize, mut values: [i64; N]) -> [i64; N] {
    if ranks.rank() != rank {
        values = [0; N];
    }
    ranks.sum(&mut values);
    values
}

/// The numbers of all ranks, in their order.
pub fn all<const N: usize>(ranks: &dyn Ranks, mine: [i64; N]) -> Vec<[i64; N]> {
    let mut numbers = vec![[0; N]; ranks.size()];
    numbers[ranks.rank()] = mine;
    ranks.sum(numbers.as_flattened_mut());
    numbers
}

/// The messages of all ranks, of any lengths, in their order, on the first rank; nothing on the others.
pub fn gather(ranks: &dyn Ranks, mine: &[u8]) -> Vec<Vec<u8>> {
    let mut lengths = vec![0; ranks.size()];
    lengths[ranks.rank()] = mine.len() as i64;
    ranks.sum(&mut lengths);
    if ranks.rank() > 0 {
        ranks.exchange(&[(0, mine)], &mut []);
        return Vec::new();
    }
    let mut all: Vec<Vec<u8>> = lengths.iter().map(|length| vec![0; *length as usize]).collect();
    all[0].copy_from_slice(mine);
    let others = all.iter_mut().enumerate().skip(1);
    let mut received: Vec<Received<'_>> =
        others.map(|(rank, room)| (rank, &mut room[..])).collect();
    ranks.exchange(&[], &mut received);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_alone_has_nobody_to_ask() {
        assert!(any(&Alone, true) && !any(&Alone, false));
        assert_eq!((of_rank(&Alone, 0, [3, -4]), all(&Alone, [5])), ([3, -4], vec![[5]]));
        assert_eq!(gather(&Alone, b"mine"), [b"mine"]);
        assert_eq!((Alone.rank(), Alone.size(), Alone.on_host(), Alone.bytes_sent()), (0, 1, 1, 0));
    }
}
