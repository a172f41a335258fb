//! Exchange of bytes between the devices of several ranks: each sends ranges of one buffer and receives into ranges of
//! another.
//!
//! The contents follow from the order of the messages, which both sides know: there is one message to a rank, and
//! none to oneself.
//!
//! # Decisions
//!
//! **The way of the bytes is a choice of the caller** ([`Exchange`]). [`StagedExchange`] works on every machine: the host
//! carries them, by whatever carries messages between ranks (MPI, or threads of one process). Such an exchange needs the
//! host in the midst of a step, so that it cannot be recorded in a graph; [`DirectExchange`] only
//! queues work on the device, and can.

mod direct;
mod staged;

use std::fmt::Debug;
use std::ops::Range;
use std::time::Instant;

pub use direct::DirectExchange;
pub use staged::StagedExchange;

use super::branch::Branch;
use super::buffer::Buffer;
use super::gpu::Gpu;
use crate::error::Result;
use crate::ranks::Ranks;

/// Consecutive bytes of a buffer that go to a rank or come from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The other rank.
    pub peer: usize,
    /// The bytes.
    pub bytes: Range<usize>,
}

/// The messages of an exchange and their memory on the device.
#[derive(Debug)]
pub struct Parcels {
    gpu: Gpu,
    sent: Vec<Message>,
    received: Vec<Message>,
    outgoing: Buffer<u8>,
    incoming: Buffer<u8>,
}

impl Parcels {
    /// Memory of so many bytes for what is sent and for what is received, and the ranges of the messages in it, at most one
    /// for each rank.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the memory does not suffice.
    ///
    /// # Panics
    ///
    /// When a message lies outside.
    pub fn new(
        gpu: &Gpu,
        [outgoing, incoming]: [usize; 2],
        [sent, received]: [Vec<Message>; 2],
    ) -> Result<Self> {
        let within = |messages: &[Message], bytes: usize| {
            messages.iter().all(|message| message.bytes.end <= bytes)
        };
        assert!(within(&sent, outgoing) && within(&received, incoming), "bytes of a message");
        let (outgoing, incoming) = (gpu.zeros(outgoing)?, gpu.zeros(incoming)?);
        Ok(Self { gpu: gpu.clone(), sent, received, outgoing, incoming })
    }

    /// Memory of what is sent.
    pub fn outgoing(&self) -> &Buffer<u8> {
        &self.outgoing
    }

    /// Memory of what is received.
    pub fn incoming(&self) -> &Buffer<u8> {
        &self.incoming
    }

    /// Messages to other ranks.
    pub fn sent(&self) -> &[Message] {
        &self.sent
    }

    /// Messages from other ranks.
    pub fn received(&self) -> &[Message] {
        &self.received
    }
}

/// Bytes of a message whose time is taken.
const MEASURED: usize = 32 << 20;

/// Times of it, after one that makes the connections.
const TIMES: usize = 3;

/// Bandwidth of a way from each device to that of the next rank, while it receives as much from the one before, GB/s: of the
/// fastest of several messages. All ranks call it at once.
///
/// # Errors
///
/// [`Error::Gpu`](crate::error::Error::Gpu) when a device or the way has failed.
///
/// # Panics
///
/// When there is one rank.
pub fn bandwidth(gpu: &Gpu, ranks: &dyn Ranks, exchange: &dyn Exchange) -> Result<f64> {
    let [own, size] = [ranks.rank(), ranks.size()];
    assert!(size > 1, "a way between devices");
    let message = |peer: usize| vec![Message { peer: peer % size, bytes: 0..MEASURED }];
    let messages = [own + 1, own + size - 1].map(message);
    let parcels = Parcels::new(gpu, [MEASURED; 2], messages)?;
    let once = || -> Result<f64> {
        gpu.synchronize()?;
        // All begin together.
        ranks.sum(&mut [0]);
        let start = Instant::now();
        exchange.exchange(Branch::TRUNK, &parcels)?;
        gpu.synchronize()?;
        Ok(start.elapsed().as_secs_f64())
    };
    once()?;
    let mut best = f64::INFINITY;
    for _ in 0..TIMES {
        best = best.min(once()?);
    }
    Ok(MEASURED as f64 / best / 1e9)
}

/// A way of messages between the devices of several ranks.
pub trait Exchange: Debug + Send + Sync {
    /// The way in short, for reports.
    fn about(&self) -> String;

    /// Returns `true` if an exchange only queues work, which a graph can record once there has been one exchange outside
    /// of graphs.
    fn is_recordable(&self) -> bool;

    /// Exchanges the messages, after the kernels queued in a branch so far and before those queued there from now on. All
    /// ranks call it as often.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device or the way has failed.
    fn exchange(&self, branch: Branch<'_>, parcels: &Parcels) -> Result<()>;
}
