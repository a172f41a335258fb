//! Pinned (page-locked) memory of the host, which the device copies from and to at full speed, in any stream or in the
//! order of the kernels.

use std::ops::Range;

use super::buffer::{Buffer, Element};
use super::driver::{Direction, Transfer, failed};
use super::gpu::Gpu;
use super::stream::Stream;
use crate::cuda_abi::DevicePointer;
use crate::error::Result;

/// A pinned array on the host, which the device copies asynchronously.
#[derive(Debug)]
pub(crate) struct Pinned<T> {
    gpu: Gpu,
    address: *mut T,
    len: usize,
}

// SAFETY: it owns its memory, as a Vec does.
unsafe impl<T: Send> Send for Pinned<T> {}

impl<T: Element> Pinned<T> {
    /// An array of `len` zeros.
    pub(crate) fn zeros(gpu: &Gpu, len: usize) -> Result<Self> {
        let bytes = len * size_of::<T>();
        let pinned = gpu.driver().pin(bytes);
        let address = pinned.map_err(failed(format!("pin {bytes} bytes of host memory")))?;
        let address = std::ptr::with_exposed_provenance_mut(address as usize);
        Ok(Self { gpu: gpu.clone(), address, len })
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Queues a copy of a range of the values to the same range of a device array, in this stream; both have the range.
    ///
    /// # Safety
    ///
    /// Both arrays must live, and this one must not be changed, until the stream is done with the copy.
    pub(crate) unsafe fn send(
        &self,
        to: &Buffer<T>,
        range: Range<usize>,
        stream: &Stream,
    ) -> Result<()> {
        assert!(range.end <= self.len, "{range:?} of {}", self.len);
        let address = to.range(range.clone());
        let (from, bytes) = self.part(&range);
        let copy = Transfer::contiguous(Direction::Upload, address, from, bytes);
        // SAFETY: both ranges lie inside their arrays; the rest is promised by the caller.
        unsafe { self.gpu.driver().copy(stream.handle(), copy) }
            .map_err(failed("copy to the device"))
    }

    /// Queues a copy of a range of a device array to the same range of this one, in this stream; both have the range.
    ///
    /// # Safety
    ///
    /// Both arrays must live, and this one must not be read, until the stream is done with the copy.
    pub(crate) unsafe fn fetch(
        &mut self,
        from: &Buffer<T>,
        range: Range<usize>,
        stream: &Stream,
    ) -> Result<()> {
        assert!(range.end <= self.len, "{range:?} of {}", self.len);
        let address = from.range(range.clone());
        let (to, bytes) = self.part(&range);
        let copy = Transfer::contiguous(Direction::Download, to, address, bytes);
        // SAFETY: as above.
        unsafe { self.gpu.driver().copy(stream.handle(), copy) }
            .map_err(failed("copy from the device"))
    }

    /// Address and bytes of a range.
    fn part(&self, range: &Range<usize>) -> (u64, usize) {
        let first = self.address.expose_provenance() + range.start * size_of::<T>();
        (first as u64, range.len() * size_of::<T>())
    }

    /// The values.
    ///
    /// # Safety
    ///
    /// No copy into the array is under way.
    pub(crate) unsafe fn values(&self) -> &[T] {
        // SAFETY: the memory holds `len` elements as long as this value lives.
        unsafe { std::slice::from_raw_parts(self.address, self.len) }
    }

    /// The values, for writing.
    ///
    /// # Safety
    ///
    /// No copy into the array or out of it is under way.
    pub(crate) unsafe fn values_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and this value is the only way to them.
        unsafe { std::slice::from_raw_parts_mut(self.address, self.len) }
    }

    /// The device that copies it.
    pub(super) fn gpu(&self) -> &Gpu {
        &self.gpu
    }
}

impl Pinned<u64> {
    /// Device pointer of the array: host and device have one address space.
    pub(crate) fn pointer(&self) -> DevicePointer<u64> {
        DevicePointer::new(self.address as u64)
    }

    /// Element `at`, which a kernel may be writing: an element of a machine word is read whole.
    pub(crate) fn get(&self, at: usize) -> u64 {
        assert!(at < self.len, "element {at} of {}", self.len);
        // SAFETY: the index was checked; the read is volatile, since the device may write the element.
        unsafe { self.address.add(at).read_volatile() }
    }

    /// Sets element `at`, which no kernel may be writing.
    pub(crate) fn set(&self, at: usize, value: u64) {
        assert!(at < self.len, "element {at} of {}", self.len);
        // SAFETY: as above.
        unsafe { self.address.add(at).write_volatile(value) }
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        // SAFETY: the address came from the allocator and is freed once.
        unsafe { self.gpu.driver().unpin(self.address.expose_provenance() as u64) };
    }
}

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

    /// The values, after all copies queued so far.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device has failed.
    pub fn values(&mut self) -> Result<&mut [T]> {
        self.gpu.synchronize()?;
        // SAFETY: no copy is under way, and the memory holds `len` elements as long as this value lives.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.pinned.address, self.pinned.len) })
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
        assert_eq!(self.pinned.len, from.len(), "elements of the host and of the device");
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
        assert_eq!(self.pinned.len, to.len(), "elements of the host and of the device");
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
