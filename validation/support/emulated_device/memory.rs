//! Memory of the emulated device: every array between two fences, and not zero at first.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;

use nwp_mini::device::driver::{Address, Outcome, Refusal};

/// Bytes of a fence; arrays are aligned to it.
const FENCE: usize = 256;
/// Every byte of a fence, and of an array that has not been written: NaN in both precisions.
const POISON: u8 = 0xff;
/// All memory, bytes.
pub(super) const TOTAL: usize = 2 << 30;

/// The arrays that live.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Bytes of each array by its address.
    arrays: BTreeMap<Address, usize>,
    used: usize,
}

fn layout(bytes: usize) -> Layout {
    let bytes = bytes.next_multiple_of(FENCE) + 2 * FENCE;
    Layout::from_size_align(bytes, FENCE).expect("no array is as large as the address space")
}

impl Memory {
    /// Bytes that are free.
    pub(super) fn free_bytes(&self) -> usize {
        TOTAL - self.used
    }

    pub(super) fn allocate(&mut self, bytes: usize, fill: u8) -> Outcome<Address> {
        let bytes = bytes.max(1);
        if bytes > self.free_bytes() {
            return Err(Refusal("CUDA_ERROR_OUT_OF_MEMORY (out of memory)".to_owned()));
        }
        let layout = layout(bytes);
        // SAFETY: the layout is not empty, and the ranges are inside the block.
        let address = unsafe {
            let block = alloc(layout);
            assert!(!block.is_null(), "no memory of the host for {bytes} bytes of the device");
            block.write_bytes(POISON, layout.size());
            block.add(FENCE).write_bytes(fill, bytes);
            (block.expose_provenance() + FENCE) as Address
        };
        self.arrays.insert(address, bytes);
        self.used += bytes;
        Ok(address)
    }

    pub(super) fn free(&mut self, address: Address) {
        let bytes = self.arrays.remove(&address).expect("an address of this device, freed once");
        self.used -= bytes;
        let layout = layout(bytes);
        let block: *mut u8 = pointer(address - FENCE as Address);
        // SAFETY: the block was allocated with this layout. Who goes on reading it finds NaN.
        unsafe {
            block.write_bytes(POISON, layout.size());
            dealloc(block, layout);
        }
    }

    /// The array with this address in it, and the bytes from there to its end.
    pub(super) fn array_at(&self, address: Address) -> Option<(Address, usize)> {
        let (&first, &bytes) = self.arrays.range(..=address).next_back()?;
        let before = (address - first) as usize;
        (before < bytes).then_some((first, bytes - before))
    }

    /// An error unless a range lies inside one array.
    pub(super) fn check_range(&self, address: Address, bytes: usize) -> Outcome<()> {
        match self.array_at(address) {
            Some((_, there)) if bytes <= there => Ok(()),
            _ => Err(Refusal(format!(
                "CUDA_ERROR_INVALID_VALUE ({bytes} bytes at {address:#x} are not inside an array)"
            ))),
        }
    }

    /// Bytes that `who` has written outside of an array.
    pub(super) fn check_fences(&self, who: &str) -> Outcome<()> {
        for (&address, &bytes) in &self.arrays {
            let block: *const u8 = pointer(address - FENCE as Address);
            // SAFETY: the block is alive, and nothing writes to it now.
            let all = unsafe { std::slice::from_raw_parts(block, layout(bytes).size()) };
            let (before, behind) = (&all[..FENCE], &all[FENCE + bytes..]);
            if before.iter().chain(behind).any(|&byte| byte != POISON) {
                return Err(Refusal(format!(
                    "CUDA_ERROR_ILLEGAL_ADDRESS ({who} has written outside of an array of {bytes} bytes)"
                )));
            }
        }
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        while let Some((&address, _)) = self.arrays.first_key_value() {
            self.free(address);
        }
    }
}

/// The pointer of an address.
pub(super) fn pointer<T>(address: Address) -> *mut T {
    std::ptr::with_exposed_provenance_mut(address as usize)
}
