//! Memory of the device.

use std::marker::PhantomData;
use std::ops::Range;

use rayon::prelude::*;

use super::driver::{Direction, Outcome, Transfer, failed};
use super::gpu::Gpu;
use super::staging::PIECE;
use crate::cuda_abi::DevicePointer;
use crate::error::Result;

/// Bytes from which on an array goes to the device in pieces.
const LARGE: usize = 4 << 20;

/// Bytes of a piece that a thread fills at a time.
const OF_THREAD: usize = 1 << 18;

/// A plain number, for which every bit pattern is valid.
///
/// # Safety
///
/// Every bit pattern is a valid value, and there is no padding.
pub unsafe trait Element: Copy + Send + Sync + 'static {}

// SAFETY: plain numbers.
unsafe impl Element for f32 {}
// SAFETY: as above.
unsafe impl Element for f64 {}
// SAFETY: as above.
unsafe impl Element for i32 {}
// SAFETY: as above.
unsafe impl Element for u32 {}
// SAFETY: as above.
unsafe impl Element for u64 {}
// SAFETY: as above.
unsafe impl Element for u8 {}

/// Rows of an array with padding before and behind their elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Elements of padding before the first valid element.
    pub first: usize,
    /// Valid elements of a row.
    pub count: usize,
    /// Elements of a row, padding included.
    pub pitch: usize,
}

/// An array on the device.
#[derive(Debug)]
pub struct Buffer<T> {
    gpu: Gpu,
    address: u64,
    len: usize,
    /// `true` for memory of somebody else, which stays when this value goes.
    is_borrowed: bool,
    element: PhantomData<T>,
}

impl Gpu {
    /// An array in memory of somebody else, who frees it.
    ///
    /// # Safety
    ///
    /// `len` elements at this address belong to this device, and stay until all work that uses the array is done. They
    /// are changed by nobody else while it runs.
    pub unsafe fn borrow<T: Element>(&self, address: u64, len: usize) -> Buffer<T> {
        Buffer { gpu: self.clone(), address, len, is_borrowed: true, element: PhantomData }
    }

    /// An array of `len` zeros.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the memory does not suffice, with both sizes.
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        let bytes = len * size_of::<T>();
        let address = self.driver().allocate(bytes).map_err(|error| {
            let free = self.memory().map_or(0, |[free, _]| free);
            failed(format!("allocate {bytes} bytes of memory, {free} are free"))(error)
        })?;
        let buffer =
            Buffer { gpu: self.clone(), address, len, is_borrowed: false, element: PhantomData };
        buffer.clear()?;
        Ok(buffer)
    }

    /// An array of these values.
    ///
    /// # Errors
    ///
    /// As [`Gpu::zeros`].
    pub fn upload<T: Element>(&self, values: &[T]) -> Result<Buffer<T>> {
        let buffer = self.zeros(values.len())?;
        buffer.upload(values)?;
        Ok(buffer)
    }
}

impl<T: Element> Buffer<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if it has no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Device pointer, for the argument structs of kernels.
    pub fn pointer(&self) -> DevicePointer<T> {
        DevicePointer::new(self.address)
    }

    /// Device pointer to element `at`, which may be the end.
    ///
    /// # Panics
    ///
    /// When it is beyond.
    pub fn pointer_to(&self, at: usize) -> DevicePointer<T> {
        assert!(at <= self.len, "element {at} of {}", self.len);
        DevicePointer::new(self.address + (at * size_of::<T>()) as u64)
    }

    /// Sets all bits to zero, in the order of the kernels.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below, when the device has failed.
    pub fn clear(&self) -> Result<()> {
        self.fill_bytes(0)
    }

    /// For tests: sets all bytes to a pattern that no calculation gives, to show elements that are not written.
    ///
    /// # Errors
    ///
    /// As [`Buffer::clear`].
    pub fn poison(&self) -> Result<()> {
        // All bits set is NaN in both precisions.
        self.fill_bytes(0xff)
    }

    fn fill_bytes(&self, value: u8) -> Result<()> {
        let bytes = self.len * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        let stream = self.gpu.compute().handle();
        // SAFETY: the range is that of the buffer, which is freed only when the device is done.
        unsafe { self.gpu.driver().fill(stream, self.address, value, bytes) }
            .map_err(failed("fill device memory"))
    }

    /// Copies values to the device; the caller may change them as soon as this returns.
    ///
    /// # Errors
    ///
    /// As [`Buffer::clear`].
    ///
    /// # Panics
    ///
    /// When the numbers of elements differ.
    pub fn upload(&self, values: &[T]) -> Result<()> {
        self.upload_to(0, values)
    }

    /// Copies values to the elements from `first` on.
    ///
    /// # Errors
    ///
    /// As [`Buffer::clear`].
    ///
    /// # Panics
    ///
    /// When they do not fit into the array.
    pub fn upload_to(&self, first: usize, values: &[T]) -> Result<()> {
        let copied = |range: Range<usize>, out: &mut [T]| out.copy_from_slice(&values[range]);
        if size_of_val(values) >= LARGE && self.upload_in_pieces(first, values.len(), &copied)? {
            return Ok(());
        }
        let address = self.range(first..first + values.len());
        if values.is_empty() {
            return Ok(());
        }
        let from = values.as_ptr().expose_provenance() as u64;
        let copy = Transfer::contiguous(Direction::Upload, address, from, size_of_val(values));
        // SAFETY: both ranges have the same length, and the copy is waited for.
        unsafe { self.queue(copy) }.map_err(failed("copy to the device"))?;
        self.finish().map_err(failed("copy to the device"))
    }

    /// Copies `len` values to the elements from `first` on; `make` sets those of a range, with all threads at a time
    /// where they are many.
    ///
    /// # Errors
    ///
    /// As [`Buffer::clear`].
    ///
    /// # Panics
    ///
    /// When they do not fit into the array.
    pub fn upload_made(
        &self,
        first: usize,
        len: usize,
        make: impl Fn(Range<usize>, &mut [T]) + Sync,
    ) -> Result<()> {
        if len * size_of::<T>() >= LARGE && self.upload_in_pieces(first, len, &make)? {
            return Ok(());
        }
        // SAFETY: zero bits are a value of T.
        let mut values = vec![unsafe { std::mem::zeroed::<T>() }; len];
        make(0..len, &mut values);
        self.upload_to(first, &values)
    }

    /// The same through pinned memory; returns `false` where there is none at hand.
    fn upload_in_pieces(
        &self,
        first: usize,
        len: usize,
        make: &(impl Fn(Range<usize>, &mut [T]) + Sync),
    ) -> Result<bool> {
        let Some(mut staging) = self.gpu.staging() else { return Ok(false) };
        let Some(staging) = staging.as_mut() else { return Ok(false) };
        let (each, of_thread) = (PIECE / size_of::<T>(), OF_THREAD / size_of::<T>());
        for begin in (0..len).step_by(each) {
            let count = each.min(len - begin);
            let to = self.range(first + begin..first + begin + count);
            let fill = |bytes: &mut [u8]| {
                // SAFETY: any bits are an element, and pieces begin at a page.
                let (before, values, behind) = unsafe { bytes.align_to_mut::<T>() };
                assert!(before.is_empty() && behind.is_empty(), "a piece holds whole elements");
                values.par_chunks_mut(of_thread).enumerate().for_each(|(number, part)| {
                    let at = begin + number * of_thread;
                    make(at..at + part.len(), part);
                });
            };
            // SAFETY: the range is one of the buffer, which is freed only when the device is done.
            unsafe { staging.send((to, count * size_of::<T>()), self.gpu.compute(), fill) }
                .map_err(failed("copy to the device"))?;
        }
        self.finish().map_err(failed("copy to the device"))?;
        Ok(true)
    }

    /// Copies all elements to the host, after the kernels queued so far.
    ///
    /// # Errors
    ///
    /// As [`Buffer::clear`].
    ///
    /// # Panics
    ///
    /// When the numbers of elements differ.
    pub fn download(&self, values: &mut [T]) -> Result<()> {
        assert_eq!(self.len, values.len(), "elements of the device and of the host");
        self.download_from(0, values)
    }

    /// All elements, on the host.
    ///
    /// # Errors
    ///
    /// As [`Buffer::clear`].
    pub fn to_vec(&self) -> Result<Vec<T>> {
        // SAFETY: zero bits are a value of T.
        let mut values = vec![unsafe { std::mem::zeroed::<T>() }; self.len];
        self.download(&mut values)?;
        Ok(values)
    }

    /// Copies the elements from `first` on to the host.
    ///
    /// # Errors
    ///
    /// As [`Buffer::clear`].
    ///
    /// # Panics
    ///
    /// When the array does not have that many elements.
    pub fn download_from(&self, first: usize, values: &mut [T]) -> Result<()> {
        let address = self.range(first..first + values.len());
        if values.is_empty() {
            return Ok(());
        }
        let to = values.as_mut_ptr().expose_provenance() as u64;
        let copy = Transfer::contiguous(Direction::Download, to, address, size_of_val(values));
        // SAFETY: both ranges have the same length, and the copy is waited for.
        unsafe { self.queue(copy) }.map_err(failed("copy from the device"))?;
        self.finish().map_err(failed("copy from the device"))
    }

    /// Copies all elements of another array, on the device, in the order of the kernels.
    ///
    /// # Errors
    ///
    /// As [`Buffer::clear`].
    ///
    /// # Panics
    ///
    /// When the numbers of elements differ.
    pub fn copy_from(&self, other: &Self) -> Result<()> {
        assert_eq!(self.len, other.len, "elements of the two arrays");
        self.copy_range(0, other, 0..other.len)
    }

    /// Copies a range of another array to the elements from `first` on, on the device: the bits, if its type is another
    /// one of the same size.
    pub(crate) fn copy_range<U: Element>(
        &self,
        first: usize,
        other: &Buffer<U>,
        range: Range<usize>,
    ) -> Result<()> {
        assert_eq!(size_of::<T>(), size_of::<U>(), "sizes of the elements");
        let bytes = range.len() * size_of::<U>();
        let to = self.range(first..first + range.len());
        let from = other.range(range);
        if bytes == 0 {
            return Ok(());
        }
        let copy = Transfer::contiguous(Direction::Within, to, from, bytes);
        // SAFETY: both ranges lie inside their buffers, and any bits are an element.
        unsafe { self.queue(copy) }.map_err(failed("copy on the device"))
    }

    /// Copies whole rows of another array to the elements from `first` on, on the device, without the padding.
    pub(crate) fn copy_rows(
        &self,
        first: usize,
        (other, rows): (&Self, Rows),
        range: Range<usize>,
    ) -> Result<()> {
        let Rows { first: skipped, count, pitch } = rows;
        if count == pitch {
            return self.copy_range(first, other, range);
        }
        assert!(skipped + count <= pitch, "{rows:?}");
        assert!(range.len().is_multiple_of(pitch), "whole rows");
        let height = range.len() / pitch;
        let to = self.range(first..first + height * count);
        let from = other.range(range) + (skipped * size_of::<T>()) as u64;
        if height == 0 {
            return Ok(());
        }
        let copy = Transfer {
            direction: Direction::Within,
            to,
            from,
            bytes: count * size_of::<T>(),
            rows: height,
            pitch_to: count * size_of::<T>(),
            pitch_from: pitch * size_of::<T>(),
        };
        // SAFETY: the rows lie inside both buffers; those of the device are copied in the stream's order.
        unsafe { self.queue(copy) }.map_err(failed("copy rows on the device"))
    }

    /// Queues a copy in the order of the kernels.
    ///
    /// # Safety
    ///
    /// Both ranges lie inside memory that lives until the device is done.
    unsafe fn queue(&self, copy: Transfer) -> Outcome<()> {
        // SAFETY: as promised by the caller.
        unsafe { self.gpu.driver().copy(self.gpu.compute().handle(), copy) }
    }

    /// Waits until the kernels and copies queued so far are done.
    fn finish(&self) -> Outcome<()> {
        self.gpu.driver().finish(self.gpu.compute().handle())
    }

    /// The address of a range, which must be inside the array.
    pub(crate) fn range(&self, range: Range<usize>) -> u64 {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} of {}", self.len);
        self.address + (range.start * size_of::<T>()) as u64
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.is_borrowed {
            return;
        }
        // SAFETY: the address came from the allocator and is freed once.
        unsafe { self.gpu.driver().free(self.address) };
    }
}
