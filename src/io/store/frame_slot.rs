//! A slot for one frame between the run and the writer: the next frame stays with the backend until the slot is free.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Slot of the one frame that is being written. A clone refers to the same slot.
#[derive(Clone, Debug)]
pub struct FrameSlot(Arc<(Mutex<bool>, Condvar)>);

impl FrameSlot {
    /// A free slot, and the writer's end of it.
    pub(in crate::io) fn of_writer() -> (Self, SlotRelease) {
        let slot = Self(Arc::default());
        (slot.clone(), SlotRelease(slot))
    }

    /// True if the slot is free.
    pub fn is_free(&self) -> bool {
        !*self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the slot is free.
    pub fn wait(&self) {
        let (is_taken, freed) = &*self.0;
        let is_taken = is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        drop(freed.wait_while(is_taken, |is_taken| *is_taken));
    }

    /// Waits until the slot is free, then calls `put` to hand over a frame; `put` returns `false` if the writer has
    /// ended.
    pub(in crate::io) fn put(&self, put: impl FnOnce() -> bool) -> bool {
        self.wait();
        self.set_taken(true);
        let is_put = put();
        if !is_put {
            self.clear();
        }
        is_put
    }

    /// Marks the slot as free.
    pub(in crate::io) fn clear(&self) {
        self.set_taken(false);
    }

    fn set_taken(&self, is_taken: bool) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = is_taken;
        self.0.1.notify_all();
    }
}

/// Frees the slot when the writer ends for any reason, so that no thread waits for it.
#[derive(Debug)]
pub(in crate::io) struct SlotRelease(FrameSlot);

impl SlotRelease {
    /// The slot.
    pub(in crate::io) fn slot(&self) -> &FrameSlot {
        &self.0
    }
}

impl Drop for SlotRelease {
    fn drop(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_goes_on_when_the_writer_leaves() {
        let (slot, release) = FrameSlot::of_writer();
        assert!(slot.is_free() && slot.put(|| true) && !slot.is_free());
        let writer = std::thread::spawn(move || drop(release));
        assert!(!slot.put(|| false), "nobody is there");
        slot.wait();
        assert!(slot.is_free());
        writer.join().expect("the writer ends");
    }
}
