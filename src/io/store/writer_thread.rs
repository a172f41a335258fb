//! A thread that writes a file from messages.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use crate::error::{Error, Result};

/// The thread, and the queue of its messages; `None` is the last one, which completes the file.
#[derive(Debug)]
pub(in crate::io) struct WriterThread<M> {
    target: PathBuf,
    sender: SyncSender<Option<M>>,
    thread: JoinHandle<Result<usize>>,
}

impl<M: Send + 'static> WriterThread<M> {
    /// Starts the thread of the file `target`; `waiting` messages may be queued before [`WriterThread::send`] waits.
    /// `write` drops the receiver before anything else that it holds: after that no message can be sent.
    pub(in crate::io) fn start(
        target: PathBuf,
        waiting: usize,
        write: impl FnOnce(Receiver<Option<M>>) -> Result<usize> + Send + 'static,
    ) -> Result<Self> {
        let (sender, receiver) = sync_channel(waiting);
        let thread = thread::Builder::new()
            .name("output".to_owned())
            .spawn(move || write(receiver))
            .map_err(|e| Error::io(&target, "start writing", e))?;
        Ok(Self { target, sender, thread })
    }

    /// Queues a message; returns `false` if the thread has ended.
    pub(in crate::io) fn send(&self, message: M) -> bool {
        self.sender.send(Some(message)).is_ok()
    }

    /// Completes the file, and returns the result of the thread.
    pub(in crate::io) fn finish(self) -> Result<usize> {
        let Self { target, sender, thread } = self;
        // If this fails the writer has ended; its error is returned below.
        let _ = sender.send(None);
        drop(sender);
        thread.join().unwrap_or_else(|_| Err(Error::io(&target, "write to", "the writer failed")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::store::frame_slot::FrameSlot;

    /// Otherwise the frame of a run whose output has failed would wait for a writer that has ended.
    #[test]
    fn nothing_can_be_sent_after_the_slot_is_freed() {
        for _ in 0..200 {
            let (slot, release) = FrameSlot::of_writer();
            assert!(slot.put(|| true), "a frame is at the writer");
            let write = move |messages: Receiver<Option<()>>| {
                let _ = (messages.recv(), release.slot());
                Ok(0)
            };
            let thread = WriterThread::start(PathBuf::new(), 1, write).expect("a thread");
            assert!(thread.send(()), "the writer waits for a message");
            slot.wait();
            assert!(!thread.send(()), "the writer has ended");
            thread.finish().expect("no fault");
        }
    }
}
