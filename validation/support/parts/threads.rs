//! Ranks that are threads of one process.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use nwp_mini::ranks::{Ranks, Received, Sent};

/// A rank that is a thread: its ways to all others, and those from them.
#[derive(Debug)]
pub struct Threads {
    rank: usize,
    to: Vec<Mutex<Sender<Vec<u8>>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
}

/// The ranks of so many threads.
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
