//! A run inside another program, which watches it and may stop it.

use std::fmt::{self, Debug};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Receiver of the progress of a run: the number of completed steps, and that of all.
type OnStep = Arc<dyn Fn(usize, usize) + Send + Sync>;

/// A program that a run is made in.
#[derive(Clone)]
pub struct RunHost {
    /// Set to stop the run after its present step; its files are complete then. Signals are left to the host.
    pub stop: Arc<AtomicBool>,
    /// Called after each step with the number of completed steps, and that of all.
    pub on_step: OnStep,
}

impl Debug for RunHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunHost").field("stop", &self.stop).finish_non_exhaustive()
    }
}
