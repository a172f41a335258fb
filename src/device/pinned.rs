//! Pinned (page-locked) memory of the host, which the device copies from and to at full speed.

use std::ops::Range;

use cudarc::driver::{CudaStream, result};

use super::buffer::{Buffer, Element};
use super::gpu::{Gpu, failed};
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
        gpu.bind()?;
        let bytes = (len * size_of::<T>()).max(1);
        // SAFETY: the memory is owned by this value, and zero bits are a valid T.
        let address = unsafe {
            let address = result::malloc_host(bytes, 0)
                .map_err(failed(format!("pin {bytes} bytes of host memory")))?;
            std::ptr::write_bytes(address.cast::<u8>(), 0, bytes);
            address.cast::<T>()
        };
        Ok(Self { gpu: gpu.clone(), address, len })
    }

    /// Queues a copy of a range of the values to the same range of a device array, in this stream.
    ///
    /// # Panics
    ///
    /// When the range is not inside both arrays.
    ///
    /// # Safety
    ///
    /// Both arrays must live, and this one must not be changed, until the stream is done with the copy.
    pub(crate) unsafe fn send(
        &self,
        to: &Buffer<T>,
        range: Range<usize>,
        stream: &CudaStream,
    ) -> Result<()> {
        assert!(range.end <= self.len, "{range:?} of {}", self.len);
        let address = to.range(range.clone());
        self.gpu.bind()?;
        // SAFETY: both ranges lie inside their arrays; the rest is promised by the caller.
        unsafe {
            let from = std::slice::from_raw_parts(self.address.add(range.start), range.len());
            result::memcpy_htod_async(address, from, stream.cu_stream())
        }
        .map_err(failed("copy to the device"))
    }

    /// Queues a copy of a range of a device array to the same range of this one, in this stream.
    ///
    /// # Panics
    ///
    /// When the range is not inside both arrays.
    ///
    /// # Safety
    ///
    /// Both arrays must live, and this one must not be read, until the stream is done with the copy.
    pub(crate) unsafe fn fetch(
        &mut self,
        from: &Buffer<T>,
        range: Range<usize>,
        stream: &CudaStream,
    ) -> Result<()> {
        assert!(range.end <= self.len, "{range:?} of {}", self.len);
        let address = from.range(range.clone());
        self.gpu.bind()?;
        // SAFETY: as above.
        unsafe {
            let to = std::slice::from_raw_parts_mut(self.address.add(range.start), range.len());
            result::memcpy_dtoh_async(to, address, stream.cu_stream())
        }
        .map_err(failed("copy from the device"))
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.len
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
        if self.gpu.bind().is_ok() {
            // SAFETY: the address came from the allocator and is freed once.
            let _ = unsafe { result::free_host(self.address.cast()) };
        }
    }
}
