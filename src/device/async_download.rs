//! Asynchronous downloads: copies of arrays to the host while the device goes on computing.

use super::buffer::{Buffer, Element};
use super::gpu::Gpu;
use super::graph::Event;
use super::pinned::Pinned;
use crate::error::Result;

/// An asynchronous copy of device memory to the host: a snapshot of one moment.
///
/// The data is first gathered into a staging buffer on the device, in the order of the kernels, so that the next steps
/// may overwrite the originals at once.
#[derive(Debug)]
pub struct AsyncDownload<T> {
    gpu: Gpu,
    gathered: Buffer<T>,
    /// Two pinned buffers: the host reads one while the other is being filled.
    pinned: [Pinned<T>; 2],
    /// Events: the staging buffer is full, its copy begins, its copy is complete.
    ready: Event,
    left: [Event; 2],
    arrived: [Event; 2],
    /// Time of the copies, s.
    seconds: f64,
    /// Numbers of parcels sent and received.
    sent: usize,
    received: usize,
}

impl<T: Element> AsyncDownload<T> {
    /// Allocates buffers for `len` elements.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the memory does not suffice.
    pub fn new(gpu: &Gpu, len: usize) -> Result<Self> {
        Self::with_pinned(gpu, Self::pinned(gpu, len)?)
    }

    /// The memory of the host for `len` elements, which takes a second for each gigabyte.
    pub(crate) fn pinned(gpu: &Gpu, len: usize) -> Result<[Pinned<T>; 2]> {
        Ok([Pinned::zeros(gpu, len)?, Pinned::zeros(gpu, len)?])
    }

    /// As [`AsyncDownload::new`], with the memory of the host.
    pub(crate) fn with_pinned(gpu: &Gpu, pinned: [Pinned<T>; 2]) -> Result<Self> {
        Ok(Self {
            gpu: gpu.clone(),
            gathered: gpu.zeros(pinned[0].len())?,
            pinned,
            ready: Event::new(gpu)?,
            left: [Event::for_timing(gpu)?, Event::for_timing(gpu)?],
            arrived: [Event::for_timing(gpu)?, Event::for_timing(gpu)?],
            seconds: 0.0,
            sent: 0,
            received: 0,
        })
    }

    /// Bytes of device memory and of pinned host memory for `len` elements.
    pub fn bytes(len: usize) -> [usize; 2] {
        [len * size_of::<T>(), 2 * len * size_of::<T>()]
    }

    /// Number of parcels sent and not yet received.
    pub fn in_flight(&self) -> usize {
        self.sent - self.received
    }

    /// Calls `gather` to fill the staging buffer, and queues the copy.
    ///
    /// # Errors
    ///
    /// Those of `gather`, and [`Error::Gpu`](crate::error::Error::Gpu) when the device has failed.
    ///
    /// # Panics
    ///
    /// When two parcels are under way.
    pub fn send(&mut self, gather: impl FnOnce(&Buffer<T>) -> Result<()>) -> Result<()> {
        self.open()?;
        gather(&self.gathered)?;
        self.seal()
    }

    /// The staging buffer, to be filled between [`AsyncDownload::open`] and [`AsyncDownload::seal`].
    pub(crate) fn staging(&self) -> &Buffer<T> {
        &self.gathered
    }

    /// Makes the kernels queued from now on wait until the staging buffer is free; panics as [`AsyncDownload::send`].
    pub(crate) fn open(&self) -> Result<()> {
        assert!(self.in_flight() < 2, "two parcels are under way");
        if self.sent > 0 {
            // The preceding parcel must have left the buffer.
            self.arrived[(self.sent - 1) % 2].hold(self.gpu.compute())?;
        }
        Ok(())
    }

    /// Queues the copy of the staging buffer, after the kernels queued so far.
    pub(crate) fn seal(&mut self) -> Result<()> {
        let (slot, from, copies) = (self.sent % 2, &self.gathered, self.gpu.copies());
        self.ready.record(&self.gpu)?;
        self.ready.hold(copies)?;
        self.left[slot].record_in(copies)?;
        // SAFETY: buffer and pinned memory live as long as the parcel, whose end waits for the
        // copies; the values are looked at only after the event of this slot.
        unsafe { self.pinned[slot].fetch(from, 0..from.len(), copies)? };
        self.arrived[slot].record_in(copies)?;
        self.sent += 1;
        Ok(())
    }

    /// Time that the copies of all parcels received so far took, s.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Returns `true` if the oldest parcel under way has arrived; `false` if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device has failed.
    pub fn is_complete(&self) -> Result<bool> {
        Ok(self.in_flight() > 0 && self.arrived[self.received % 2].is_reached()?)
    }

    /// Waits for the oldest parcel under way and calls `look` with it; `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device failed before the copy was complete.
    pub fn receive<V>(&mut self, look: impl FnOnce(&[T]) -> V) -> Result<Option<V>> {
        if self.in_flight() == 0 {
            return Ok(None);
        }
        let slot = self.received % 2;
        self.arrived[slot].wait()?;
        self.received += 1;
        self.seconds += self.arrived[slot].since(&self.left[slot])?;
        // SAFETY: the copy into this slot is complete, and the next one into it needs `&mut self`.
        Ok(Some(look(unsafe { self.pinned[slot].values() })))
    }
}

impl<T> Drop for AsyncDownload<T> {
    fn drop(&mut self) {
        // Copies under way write to memory that is freed now; a failed device writes no more.
        for event in &self.arrived {
            let _ = event.wait();
        }
    }
}
