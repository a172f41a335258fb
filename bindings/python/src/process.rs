//! Objects with threads or a device, and processes: after a fork they are left in the parent.

use std::mem::ManuallyDrop;
use std::process;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use nwp_mini_host::guarded;
use pyo3::prelude::*;

use crate::errors::{Failure, Result};

/// Objects of this process with threads or a device.
static BOUND: AtomicUsize = AtomicUsize::new(0);

/// The process whose common threads have worked; 0 before.
static COMMON: AtomicU32 = AtomicU32::new(0);

/// A value that may have threads or a device of the process in which it was made.
pub(crate) struct OfProcess<T> {
    value: ManuallyDrop<T>,
    process: u32,
    title: &'static str,
    is_bound: bool,
}

impl<T> OfProcess<T> {
    /// A value; `is_bound` where it has threads or a device. `title` names it in errors.
    pub(crate) fn new(value: T, title: &'static str, is_bound: bool) -> Self {
        BOUND.fetch_add(usize::from(is_bound), Ordering::Relaxed);
        Self { value: ManuallyDrop::new(value), process: process::id(), title, is_bound }
    }

    /// The value, unless its threads are left in another process.
    pub(crate) fn get(&self) -> Result<&T> {
        if self.is_bound && !self.is_here() {
            return Err(Failure::Forked(self.title));
        }
        Ok(&self.value)
    }

    fn is_here(&self) -> bool {
        self.process == process::id()
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if !self.is_bound {
            // SAFETY: the value is not used after this.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        } else if self.is_here() {
            BOUND.fetch_sub(1, Ordering::Relaxed);
            // Its destructor may wait for a device, which can fail.
            // SAFETY: as above.
            let _ = guarded(|| unsafe { ManuallyDrop::drop(&mut self.value) });
        }
        // In a child the threads of the value are not there to end, and a lock of theirs may be held for ever.
    }
}

/// Notes that the threads that runs share are used in this process.
pub(crate) fn use_common_threads() -> Result<()> {
    let own = process::id();
    let before = COMMON.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed);
    match before {
        Ok(_) => Ok(()),
        Err(before) if before == own => Ok(()),
        Err(_) => Err(Failure::Forked("nwp_mini.run")),
    }
}

/// True if a fork would leave threads or a device behind.
#[pyfunction]
pub(crate) fn has_threads() -> bool {
    BOUND.load(Ordering::Relaxed) > 0 || COMMON.load(Ordering::Relaxed) == process::id()
}
