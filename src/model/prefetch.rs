//! A frame of the input that is read while the run computes.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::domain::Domain;
use crate::error::Result;
use crate::frame::{Frame, FrameSource};

/// A frame on its way. Dropped, it waits for the end of the reading: libraries of C must not be at work when
/// the program ends.
#[derive(Debug)]
pub(super) struct PrefetchedFrame {
    number: usize,
    thread: Option<JoinHandle<Result<Frame>>>,
}

impl PrefetchedFrame {
    /// Begins to read a frame; where there is no thread for it nothing is on its way.
    pub(super) fn begin(
        series: &Arc<dyn FrameSource>,
        number: usize,
        domain: &Domain,
    ) -> Option<Self> {
        let (series, domain) = (Arc::clone(series), domain.clone());
        let thread = thread::Builder::new().name("input".to_owned());
        let thread = thread.spawn(move || series.frame(number, &domain)).ok()?;
        Some(Self { number, thread: Some(thread) })
    }

    /// The frame, if it is this one, and if its reading came to an end, good or bad.
    pub(super) fn take(mut self, number: usize) -> Option<Result<Frame>> {
        self.thread.take_if(|_| self.number == number)?.join().ok()
    }
}

impl Drop for PrefetchedFrame {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            // Its result is not needed.
            let _ = thread.join();
        }
    }
}
