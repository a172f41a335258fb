//! Checks of the global heaps of HDF5 files before the library reads them: an object of length 0 makes the library loop
//! forever.

use std::io::Read;

/// Bytes that are searched: heaps hold the descriptions of variables, which precede their values.
const SEARCHED: u64 = 16 << 20;

/// First bytes of a heap: its signature, its version, and three reserved bytes.
const BEGIN: u64 = u64::from_le_bytes(*b"GCOL\x01\0\0\0");

/// Length of the header of a heap, and of that of an object in it, bytes.
const HEAD: usize = 16;

/// Alignment of an object's length, bytes.
const ALIGNED: u64 = 8;

/// Fails if a heap in the first part of an HDF5 file has an endless chain of objects.
pub(in crate::io) fn check(file: impl Read) -> Result<(), String> {
    let mut bytes = Vec::new();
    let read = file.take(SEARCHED).read_to_end(&mut bytes);
    read.map_err(|e| format!("cannot be read ({e})"))?;
    let endless = (0..bytes.len().saturating_sub(HEAD))
        .find(|at| number(&bytes, *at) == Some(BEGIN) && is_endless(&bytes[*at..]));
    endless.map_or(Ok(()), |at| {
        Err(format!(
            "is damaged: the global heap at byte {at} holds an object of length 0; copy or create \
             the file again"
        ))
    })
}

/// The eight bytes at an offset as a number.
fn number(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// Returns `true` if the chain of objects ends neither at the end of the heap nor at the end of the searched part.
///
/// Source: HDF5 file format, version 3.0, section III.E (object 0 is the free space, its head included).
fn is_endless(heap: &[u8]) -> bool {
    let mut at = HEAD;
    let size = number(heap, 8).and_then(|size| usize::try_from(size).ok());
    let end = size.unwrap_or(usize::MAX).min(heap.len());
    while at.saturating_add(HEAD) <= end {
        let index = u16::from_le_bytes([heap[at], heap[at + 1]]);
        let Some(length) = number(heap, at + 8) else { return false };
        // 64-bit arithmetic that wraps around, as in the library.
        let padded = length.wrapping_add(ALIGNED - 1) / ALIGNED * ALIGNED;
        let room = if index == 0 { length } else { padded.wrapping_add(HEAD as u64) };
        if room == 0 {
            return true;
        }
        at = at.saturating_add(usize::try_from(room).unwrap_or(usize::MAX));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A heap of 96 bytes with two objects and free space, behind other bytes.
    fn heap() -> Vec<u8> {
        let mut bytes = vec![7; 5];
        bytes.extend(b"GCOL\x01\0\0\0");
        bytes.extend(96_u64.to_le_bytes());
        for (index, length, room) in [(1_u64, 3_u64, 8), (2, 16, 16), (0, 24, 8)] {
            bytes.extend(index.to_le_bytes());
            bytes.extend(length.to_le_bytes());
            bytes.extend(vec![0; room]);
        }
        bytes
    }

    #[test]
    fn heaps_without_end_are_told() {
        let good = heap();
        assert_eq!(check(&good[..]), Ok(()));
        for cut in 0..good.len() {
            assert_eq!(check(&good[..cut]), Ok(()));
        }
        // Free space of length 0; or an object whose length wraps around to its own start.
        let free = 5 + HEAD + 24 + 32;
        for (at, length) in [(free, 0), (5 + HEAD + 24, u64::MAX - 15)] {
            let mut bad = good.clone();
            bad[at + 8..at + 16].copy_from_slice(&u64::to_le_bytes(length));
            let told = check(&bad[..]).expect_err("no end");
            assert!(told.contains("global heap at byte 5"), "{told}");
        }
    }
}
