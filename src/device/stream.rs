//! Streams: queues of kernels and copies.

use std::sync::Arc;

use super::driver::{Driver, Handle, failed};
use crate::error::Result;

/// A stream: a queue of kernels and copies of its own, concurrent with all others. A clone is the same stream.
#[derive(Clone, Debug)]
pub struct Stream(Arc<Owned>);

#[derive(Debug)]
struct Owned {
    driver: Arc<dyn Driver>,
    handle: Handle,
    /// `true` for a stream of somebody else, which stays when this value goes.
    is_borrowed: bool,
}

impl Stream {
    /// An empty stream of a driver.
    pub(super) fn of(driver: &Arc<dyn Driver>) -> Result<Self> {
        Self::made(driver, false)
    }

    /// An empty stream whose blocks a device begins before those of other streams that could begin as well.
    pub(super) fn preferred(driver: &Arc<dyn Driver>) -> Result<Self> {
        Self::made(driver, true)
    }

    fn made(driver: &Arc<dyn Driver>, is_preferred: bool) -> Result<Self> {
        let handle = driver.stream(is_preferred).map_err(failed("make a stream"))?;
        Ok(Self(Arc::new(Owned { driver: driver.clone(), handle, is_borrowed: false })))
    }

    /// A stream of somebody else.
    pub(super) fn lent(driver: &Arc<dyn Driver>, handle: Handle) -> Self {
        Self(Arc::new(Owned { driver: driver.clone(), handle, is_borrowed: true }))
    }

    /// Waits until all work queued on it is done.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when any of it has failed.
    pub fn synchronize(&self) -> Result<()> {
        self.0.driver.finish(self.0.handle).map_err(failed("finish the work of a stream"))
    }

    /// The driver's handle: a `CUstream`.
    pub fn handle(&self) -> Handle {
        self.0.handle
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if !self.is_borrowed {
            self.driver.end_stream(self.handle);
        }
    }
}
