//! Asynchronous downloads: copies of arrays to the host while the device goes on computing.

use std::ops::Range;
use std::time::Instant;

use rayon::prelude::*;

use super::buffer::{Buffer, Element};
use super::driver::failed;
use super::gpu::Gpu;
use super::graph::Event;
use super::pinned::Pinned;
use super::staging::Staging;
use crate::error::Result;

/// Bytes of a parcel from which on it stays on the device until it is received: to pin memory for it would take longer
/// than many a run.
const LARGE: usize = 64 << 20;

/// Elements that a thread copies at a time.
const OF_THREAD: usize = 1 << 16;

/// An asynchronous copy of device memory to the host: a snapshot of one moment.
///
/// The data is first gathered into a staging buffer on the device, in the order of the kernels, so that the next steps
/// may overwrite the originals at once.
#[derive(Debug)]
pub struct AsyncDownload<T> {
    gpu: Gpu,
    gathered: Buffer<T>,
    host: Host<T>,
    /// The staging buffer is full.
    ready: Event,
    /// Time of the copies, s.
    seconds: f64,
    /// Numbers of parcels sent and received.
    sent: usize,
    received: usize,
}

/// Memory of the host that parcels come to.
#[derive(Debug)]
enum Host<T> {
    /// Two whole parcels: the host reads one while the other is being filled.
    Parcels {
        pinned: [Pinned<T>; 2],
        /// The copy of a parcel begins, and is complete.
        left: [Event; 2],
        arrived: [Event; 2],
    },
    /// Pieces of the one parcel that stays in the staging buffer until it is received.
    Pieces(Staging),
}

impl<T: Element> AsyncDownload<T> {
    /// Allocates buffers for `len` elements, on the host for two parcels.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the memory does not suffice.
    pub fn new(gpu: &Gpu, len: usize) -> Result<Self> {
        let host = Host::Parcels {
            pinned: [Pinned::zeros(gpu, len)?, Pinned::zeros(gpu, len)?],
            left: [Event::for_timing(gpu)?, Event::for_timing(gpu)?],
            arrived: [Event::for_timing(gpu)?, Event::for_timing(gpu)?],
        };
        Self::to(gpu, len, host)
    }

    /// The same where a large parcel stays on the device until it is received.
    pub(crate) fn of_any_size(gpu: &Gpu, len: usize) -> Result<Self> {
        if len * size_of::<T>() < LARGE { Self::new(gpu, len) } else { Self::in_pieces(gpu, len) }
    }

    /// The same where any parcel does.
    ///
    /// # Errors
    ///
    /// As [`AsyncDownload::new`].
    pub fn in_pieces(gpu: &Gpu, len: usize) -> Result<Self> {
        let staging = Staging::new(gpu.driver()).map_err(failed("pin memory of the host"))?;
        Self::to(gpu, len, Host::Pieces(staging))
    }

    fn to(gpu: &Gpu, len: usize, host: Host<T>) -> Result<Self> {
        Ok(Self {
            gpu: gpu.clone(),
            gathered: gpu.zeros(len)?,
            host,
            ready: Event::new(gpu)?,
            seconds: 0.0,
            sent: 0,
            received: 0,
        })
    }

    /// Bytes of device memory for `len` elements.
    pub fn bytes(len: usize) -> usize {
        len * size_of::<T>()
    }

    /// Number of parcels sent and not yet received.
    pub fn in_flight(&self) -> usize {
        self.sent - self.received
    }

    /// Returns `true` if a parcel has to be received before the next one can be sent.
    pub fn is_full(&self) -> bool {
        let most = match &self.host {
            Host::Parcels { pinned, .. } => pinned.len(),
            Host::Pieces(_) => 1,
        };
        self.in_flight() == most
    }

    /// Calls `gather` to fill the staging buffer, and queues the copy.
    ///
    /// # Errors
    ///
    /// Those of `gather`, and [`Error::Gpu`](crate::error::Error::Gpu) when the device has failed.
    ///
    /// # Panics
    ///
    /// When it is full.
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
        assert!(!self.is_full(), "{} parcels are under way", self.in_flight());
        match &self.host {
            // The preceding parcel must have left the buffer.
            Host::Parcels { arrived, .. } if self.sent > 0 => {
                arrived[(self.sent - 1) % 2].hold(self.gpu.compute())
            }
            // Nothing was sent, or the preceding parcel was received.
            _ => Ok(()),
        }
    }

    /// Queues the copy of the staging buffer, after the kernels queued so far.
    pub(crate) fn seal(&mut self) -> Result<()> {
        self.ready.record(&self.gpu)?;
        if let Host::Parcels { pinned, left, arrived } = &mut self.host {
            let (slot, from, copies) = (self.sent % 2, &self.gathered, self.gpu.copies());
            self.ready.hold(copies)?;
            left[slot].record_in(copies)?;
            // SAFETY: buffer and pinned memory live as long as the parcel, whose end waits for the
            // copies; the values are looked at only after the event of this slot.
            unsafe { pinned[slot].fetch(from, 0..from.len(), copies)? };
            arrived[slot].record_in(copies)?;
        }
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
        let event = match &self.host {
            Host::Parcels { arrived, .. } => &arrived[self.received % 2],
            Host::Pieces(_) => &self.ready,
        };
        Ok(self.in_flight() > 0 && event.is_reached()?)
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
        if let Host::Pieces(_) = self.host {
            let whole = 0..self.gathered.len();
            return Ok(self.receive_parts(&[whole])?.map(|parts| look(&parts[0])));
        }
        self.wait()?;
        let Host::Parcels { pinned, .. } = &self.host else { return Ok(None) };
        // SAFETY: the copy into this slot is complete, and the next one into it needs `&mut self`.
        Ok(Some(look(unsafe { pinned[(self.received - 1) % 2].values() })))
    }

    /// Waits for the oldest parcel under way; returns these ranges of it, copied by all threads, since one cannot copy
    /// as fast as the device sends; `None` if there is none.
    ///
    /// # Errors
    ///
    /// As [`AsyncDownload::receive`].
    ///
    /// # Panics
    ///
    /// When a range is not one of the parcel.
    pub fn receive_parts(&mut self, parts: &[Range<usize>]) -> Result<Option<Vec<Vec<T>>>> {
        if let Host::Parcels { .. } = self.host {
            let copied =
                |values: &[T]| parts.par_iter().map(|x| values[x.clone()].to_vec()).collect();
            return self.receive(copied);
        }
        if self.in_flight() == 0 {
            return Ok(None);
        }
        self.wait()?;
        let Host::Pieces(staging) = &mut self.host else { return Ok(None) };
        let start = Instant::now();
        let mut all = Vec::with_capacity(parts.len());
        for part in parts {
            // SAFETY: zero bits are a value of T.
            let mut values = vec![unsafe { std::mem::zeroed::<T>() }; part.len()];
            let from = (self.gathered.range(part.clone()), size_of_val(&values[..]));
            let take = |begin: usize, bytes: &[u8]| {
                // SAFETY: any bits are an element, and pieces begin at a page.
                let (before, piece, behind) = unsafe { bytes.align_to::<T>() };
                assert!(before.is_empty() && behind.is_empty(), "a piece holds whole elements");
                let to = &mut values[begin / size_of::<T>()..][..piece.len()];
                let chunks = to.par_chunks_mut(OF_THREAD).zip(piece.par_chunks(OF_THREAD));
                chunks.for_each(|(to, from)| to.copy_from_slice(from));
            };
            // SAFETY: the range is one of the buffer.
            unsafe { staging.fetch(from, self.gpu.copies(), take) }
                .map_err(failed("copy from the device"))?;
            all.push(values);
        }
        self.seconds += start.elapsed().as_secs_f64();
        Ok(Some(all))
    }

    /// Waits for the oldest parcel under way, which is received with this.
    fn wait(&mut self) -> Result<()> {
        let slot = self.received % 2;
        match &self.host {
            Host::Parcels { left, arrived, .. } => {
                arrived[slot].wait()?;
                self.seconds += arrived[slot].since(&left[slot])?;
            }
            Host::Pieces(_) => self.ready.wait()?,
        }
        self.received += 1;
        Ok(())
    }
}

impl<T> Drop for AsyncDownload<T> {
    fn drop(&mut self) {
        // Copies under way write to memory that is freed now; a failed device writes no more.
        if let Host::Parcels { arrived, .. } = &self.host {
            for event in arrived {
                let _ = event.wait();
            }
        }
    }
}
