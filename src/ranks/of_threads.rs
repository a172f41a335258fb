//! Ranks that are threads of one process: messages go through channels.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use super::{Ranks, Received, Sent};

/// A rank that is a thread: its ways to all others, and those from them.
#[derive(Debug)]
struct Threads {
    rank: usize,
    to: Vec<Mutex<Sender<Vec<u8>>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
}

/// The ranks of so many threads. A thread whose rank calls one that has ended, or that sends messages of another length,
/// panics.
pub fn threads(count: usize) -> Vec<Arc<dyn Ranks>> {
    let mut to: Vec<Vec<_>> = (0..count).map(|_| Vec::new()).collect();
    let mut from: Vec<Vec<_>> = (0..count).map(|_| Vec::new()).collect();
    for sends in &mut to {
        for receives in &mut from {
            let (sender, receiver) = channel();
            sends.push(Mutex::new(sender));
            receives.push(Mutex::new(receiver));
        }
    }
    let ranks = to.into_iter().zip(from).enumerate();
    ranks.map(|(rank, (to, from))| Arc::new(Threads { rank, to, from }) as Arc<dyn Ranks>).collect()
}

impl Threads {
    fn send(&self, rank: usize, message: Vec<u8>) {
        let sender = self.to[rank].lock().expect("one thread has it");
        sender.send(message).expect("the other thread lives");
    }

    fn receive(&self, rank: usize) -> Vec<u8> {
        let receiver = self.from[rank].lock().expect("one thread has it");
        receiver.recv().expect("the other thread lives")
    }
}

impl Ranks for Threads {
    fn about(&self) -> String {
        "threads of one process".to_owned()
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn on_host(&self) -> usize {
        self.size()
    }

    fn number_on_host(&self) -> usize {
        self.rank()
    }

    fn host(&self) -> String {
        String::new()
    }

    fn exchange(&self, sent: &[Sent<'_>], received: &mut [Received<'_>]) {
        for (rank, message) in sent {
            self.send(*rank, message.to_vec());
        }
        for (rank, room) in received {
            room.copy_from_slice(&self.receive(*rank));
        }
    }

    fn sum(&self, values: &mut [i64]) {
        let mine: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        values.fill(0);
        (0..self.size()).for_each(|rank| self.send(rank, mine.clone()));
        for rank in 0..self.size() {
            let theirs = self.receive(rank);
            let (numbers, _) = theirs.as_chunks();
            values.iter_mut().zip(numbers).for_each(|(sum, x)| *sum += i64::from_ne_bytes(*x));
        }
    }

    fn bytes_sent(&self) -> u64 {
        0
    }

    fn abort(&self, code: u8) -> ! {
        panic!("a rank ends all by {code}")
    }

    fn finish(&self) {}
}

/// The results of a function on each of so many ranks, in their order.
#[cfg(test)]
pub(crate) fn on_each<T: Send>(count: usize, make: impl Fn(Arc<dyn Ranks>) -> T + Sync) -> Vec<T> {
    let make = &make;
    std::thread::scope(|scope| {
        let ranks = threads(count).into_iter();
        let all: Vec<_> = ranks.map(|rank| scope.spawn(move || make(rank))).collect();
        all.into_iter().map(|thread| thread.join().expect("no rank fails")).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::all;

    #[test]
    fn threads_add_and_exchange() {
        let found = on_each(3, |ranks| {
            let (rank, mut room) = (ranks.rank(), [0]);
            let [next, before] = [(rank + 1) % 3, (rank + 2) % 3];
            ranks.exchange(&[(next, &[rank as u8])], &mut [(before, &mut room)]);
            (all(&*ranks, [10 + rank as i64]), usize::from(room[0]) == before)
        });
        assert!(found.iter().all(|one| *one == (vec![[10], [11], [12]], true)), "{found:?}");
    }
}
