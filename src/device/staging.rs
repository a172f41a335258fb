//! Pinned memory through which large arrays go to the device and back, piece by piece: the device copies from it several
//! times as fast as from other memory, and one piece is filled while the one before it travels.

use std::sync::Arc;

use super::driver::{Direction, Driver, Handle, Outcome, Transfer};
use super::stream::Stream;

/// Bytes of a piece: enough for the full speed of the bus, and few enough to be pinned at once; pinning a gigabyte takes a
/// second, in which other threads wait for new memory.
pub(super) const PIECE: usize = 8 << 20;

/// Two pieces, which are used in turn.
#[derive(Debug)]
pub(super) struct Staging {
    driver: Arc<dyn Driver>,
    address: u64,
    /// The copies out of either piece, or into it, are done.
    done: [Handle; 2],
    turn: usize,
}

impl Staging {
    pub(super) fn new(driver: &Arc<dyn Driver>) -> Outcome<Self> {
        let done = [driver.event(false)?, driver.event(false)?];
        let address = driver.pin(2 * PIECE)?;
        Ok(Self { driver: Arc::clone(driver), address, done, turn: 0 })
    }

    /// Fills a piece of `bytes` bytes and queues its copy to an address of the device.
    ///
    /// # Safety
    ///
    /// The device has as many bytes there, which live until the stream is done.
    pub(super) unsafe fn send(
        &mut self,
        (to, bytes): (u64, usize),
        stream: &Stream,
        fill: impl FnOnce(&mut [u8]),
    ) -> Outcome<()> {
        assert!(bytes <= PIECE, "{bytes} bytes of a piece");
        let (done, from) = self.piece(self.turn);
        self.turn = 1 - self.turn;
        // An event that was never recorded has been reached.
        self.driver.wait(done)?;
        let values = std::ptr::with_exposed_provenance_mut(from as usize);
        // SAFETY: the piece has so many bytes, which began as zeros; its last copy is done, and nothing else has it.
        fill(unsafe { std::slice::from_raw_parts_mut(values, bytes) });
        let copy = Transfer::contiguous(Direction::Upload, to, from, bytes);
        // SAFETY: the piece lives as long as this value, whose end waits for its copies; the rest is promised.
        unsafe { self.driver.copy(stream.handle(), copy)? };
        self.driver.record(done, stream.handle(), false)
    }

    /// Fetches `bytes` bytes from an address of the device and hands them to `take` piece by piece, each with the place
    /// of its first byte.
    ///
    /// # Safety
    ///
    /// The device has as many bytes there.
    pub(super) unsafe fn fetch(
        &mut self,
        (from, bytes): (u64, usize),
        stream: &Stream,
        mut take: impl FnMut(usize, &[u8]),
    ) -> Outcome<()> {
        let len = |begin: usize| PIECE.min(bytes - begin);
        let pieces = bytes.div_ceil(PIECE);
        for number in 0..=pieces {
            if number < pieces {
                let (begin, (done, to)) = (number * PIECE, self.piece(number % 2));
                self.driver.wait(done)?;
                let copy =
                    Transfer::contiguous(Direction::Download, to, from + begin as u64, len(begin));
                // SAFETY: as above; the piece was handed over two turns ago.
                unsafe { self.driver.copy(stream.handle(), copy)? };
                self.driver.record(done, stream.handle(), false)?;
            }
            if let Some(before) = number.checked_sub(1) {
                let (begin, (done, at)) = (before * PIECE, self.piece(before % 2));
                self.driver.wait(done)?;
                let values = std::ptr::with_exposed_provenance(at as usize);
                // SAFETY: the piece has so many bytes, and its copy is done.
                take(begin, unsafe { std::slice::from_raw_parts(values, len(begin)) });
            }
        }
        Ok(())
    }

    /// The event of a piece, and its address.
    fn piece(&self, number: usize) -> (Handle, u64) {
        (self.done[number], self.address + (number * PIECE) as u64)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        for done in self.done {
            // A failed device copies no more.
            let _ = self.driver.wait(done);
            self.driver.end_event(done);
        }
        // SAFETY: the address came from the allocator and is freed once.
        unsafe { self.driver.unpin(self.address) };
    }
}
