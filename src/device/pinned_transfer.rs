//! Copies between pinned host memory and the device, in the order of the kernels.

use super::buffer::{Buffer, Element};
use super::gpu::Gpu;
use super::pinned::Pinned;
use crate::error::Result;

/// A pinned buffer on the host, which the device copies asynchronously.
#[derive(Debug)]
pub struct PinnedTransfer<T: Element> {
    gpu: Gpu,
    pinned: Pinned<T>,
}

impl<T: Element> PinnedTransfer<T> {
    /// A buffer of `len` elements, all zero.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the host has no such memory left.
    pub fn new(gpu: &Gpu, len: usize) -> Result<Self> {
        Ok(Self { gpu: gpu.clone(), pinned: Pinned::zeros(gpu, len)? })
    }

    /// Queues a copy from a device array, after the kernels queued so far.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device has failed.
    ///
    /// # Panics
    ///
    /// When the numbers of elements differ.
    pub fn fetch(&mut self, from: &Buffer<T>) -> Result<()> {
        assert_eq!(self.pinned.len(), from.len(), "elements of the host and of the device");
        // SAFETY: nothing shows the values before the device is done, nor does the memory go; that
        // of the device is freed only when the device is done with it.
        unsafe { self.pinned.fetch(from, 0..from.len(), self.gpu.compute()) }
    }

    /// Queues a copy of the values to a device array, between the kernels queued so far and those queued from now on.
    ///
    /// # Errors
    ///
    /// As [`PinnedTransfer::fetch`].
    ///
    /// # Panics
    ///
    /// As [`PinnedTransfer::fetch`].
    pub fn send(&mut self, to: &Buffer<T>) -> Result<()> {
        assert_eq!(self.pinned.len(), to.len(), "elements of the host and of the device");
        // SAFETY: as above; nothing but the device changes the values.
        unsafe { self.pinned.send(to, 0..to.len(), self.gpu.compute()) }
    }
}

impl<T: Element> Drop for PinnedTransfer<T> {
    fn drop(&mut self) {
        // Copies under way use memory that is freed now; a failed device makes none.
        let _ = self.gpu.synchronize();
    }
}
