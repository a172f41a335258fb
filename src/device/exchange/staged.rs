//! Exchange through the host, by whatever carries messages between ranks.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Exchange, Message, Parcels};
use crate::device::branch::Branch;
use crate::device::pinned::Pinned;
use crate::error::Result;
use crate::ranks::{Ranks, Received, Sent};

/// An exchange through pinned memory of the host and the messages of the ranks, from the thread that calls.
#[derive(Debug)]
pub struct StagedExchange {
    ranks: Arc<dyn Ranks>,
    /// Copies of what is sent and of what is received.
    host: Mutex<Option<[Pinned<u8>; 2]>>,
}

impl StagedExchange {
    /// An exchange by the messages of these ranks.
    pub fn new(ranks: &Arc<dyn Ranks>) -> Self {
        Self { ranks: Arc::clone(ranks), host: Mutex::new(None) }
    }
}

impl Exchange for StagedExchange {
    fn about(&self) -> String {
        format!("through memory of the host, {}", self.ranks.about())
    }

    fn is_recordable(&self) -> bool {
        false
    }

    fn exchange(&self, branch: Branch<'_>, parcels: &Parcels) -> Result<()> {
        let Parcels { gpu, sent, received, outgoing, incoming } = parcels;
        // A panic leaves nothing half done that another exchange reads: both copies are made anew.
        let mut host = self.host.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = branch.stream_of(gpu);
        let sizes = [outgoing.len(), incoming.len()];
        let [out, back] = match &mut *host {
            Some(host) if host.each_ref().map(Pinned::len) == sizes => host,
            other => {
                // Copies out of memory that is freed now.
                stream.synchronize()?;
                other.insert([Pinned::zeros(gpu, sizes[0])?, Pinned::zeros(gpu, sizes[1])?])
            }
        };
        let all = 0..sent.iter().map(|message| message.bytes.end).max().unwrap_or(0);
        if !all.is_empty() {
            // SAFETY: both arrays live as long as the exchange and its parcels, whose end waits for the device; the copy is
            // waited for before it is read.
            unsafe { out.fetch(outgoing, all, stream)? };
        }
        // Also the copies out of `back` of the last exchange.
        stream.synchronize()?;
        // SAFETY: no copy is under way.
        let (out, values) = unsafe { (out.values(), back.values_mut()) };
        let sends: Vec<Sent<'_>> =
            sent.iter().map(|message| (message.peer, &out[message.bytes.clone()])).collect();
        let mut rooms: Vec<Received<'_>> = Vec::with_capacity(received.len());
        let (mut rest, mut at) = (values, 0);
        for Message { peer, bytes } in received {
            let (_, behind) = rest.split_at_mut(bytes.start - at);
            let (room, behind) = behind.split_at_mut(bytes.len());
            rooms.push((*peer, room));
            (rest, at) = (behind, bytes.end);
        }
        self.ranks.exchange(&sends, &mut rooms);
        let all = 0..received.iter().map(|message| message.bytes.end).max().unwrap_or(0);
        if all.is_empty() {
            return Ok(());
        }
        // SAFETY: as above; the host changes the values after the next wait for the stream.
        unsafe { back.send(incoming, all, stream) }
    }
}

impl Drop for StagedExchange {
    fn drop(&mut self) {
        let host = self.host.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some([out, _]) = host {
            // Copies under way use memory that is freed now; a failed device makes none.
            let _ = out.gpu().compute().synchronize();
        }
    }
}
