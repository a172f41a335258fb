//! Ranks that are threads of one process, for tests: messages go through channels.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::{Ranks, Received, Sent};

/// A rank of a test.
#[derive(Debug)]
struct Threaded {
    rank: usize,
    /// To each rank.
    to: Vec<Sender<Vec<u8>>>,
    /// From each rank.
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
}

impl Ranks for Threaded {
    fn about(&self) -> String {
        "threads".to_owned()
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn on_host(&self) -> usize {
        self.to.len()
    }

    fn number_on_host(&self) -> usize {
        self.rank
    }

    fn host(&self) -> String {
        String::new()
    }

    fn exchange(&self, sent: &[Sent<'_>], received: &mut [Received<'_>]) {
        for (rank, message) in sent {
            self.to[*rank].send(message.to_vec()).expect("the other rank is there");
        }
        for (rank, room) in received {
            let from = self.from[*rank].lock().expect("one thread");
            room.copy_from_slice(&from.recv().expect("the other rank sends"));
        }
    }

    fn sum(&self, values: &mut [i64]) {
        let mine: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let others: Vec<usize> = (0..self.size()).filter(|rank| *rank != self.rank).collect();
        let sent: Vec<Sent<'_>> = others.iter().map(|rank| (*rank, &mine[..])).collect();
        let mut rooms: Vec<_> = others.iter().map(|rank| (*rank, vec![0; mine.len()])).collect();
        let mut received: Vec<Received<'_>> =
            rooms.iter_mut().map(|(rank, room)| (*rank, &mut room[..])).collect();
        self.exchange(&sent, &mut received);
        for (_, room) in &rooms {
            let (numbers, _) = room.as_chunks::<8>();
            values.iter_mut().zip(numbers).for_each(|(x, other)| *x += i64::from_le_bytes(*other));
        }
    }

    fn bytes_sent(&self) -> u64 {
        0
    }

    fn abort(&self, code: u8) -> ! {
        panic!("aborted by {code}")
    }

    fn finish(&self) {}
}

/// What each of so many ranks makes, in their order.
pub(crate) fn on_ranks<T: Send>(size: usize, make: impl Fn(Arc<dyn Ranks>) -> T + Sync) -> Vec<T> {
    let mut to: Vec<Vec<Sender<Vec<u8>>>> = vec![Vec::new(); size];
    let mut from: Vec<Vec<Mutex<Receiver<Vec<u8>>>>> = Vec::new();
    for _ in 0..size {
        let ends = (0..size).map(|sender| {
            let (into, out) = channel();
            to[sender].push(into);
            Mutex::new(out)
        });
        from.push(ends.collect());
    }
    let ranks = to.into_iter().zip(from).enumerate();
    let make = &make;
    thread::scope(|scope| {
        let threads: Vec<_> = ranks
            .map(|(rank, (to, from))| {
                scope.spawn(move || make(Arc::new(Threaded { rank, to, from })))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no rank fails")).collect()
    })
}

#[test]
fn threads_add_and_exchange() {
    let found = on_ranks(3, |ranks| super::all(&*ranks, [10 + ranks.rank() as i64]));
    assert!(found.iter().all(|all| *all == [[10], [11], [12]]));
}
