//! The time that output takes, of whichever thread, and the bytes that come of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wall time in which anybody was busy with output, and bytes before and after compression. Clones are one
/// and the same ledger.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Arc<Entries>);

#[derive(Debug, Default)]
struct Entries {
    hours: Mutex<Hours>,
    raw: AtomicU64,
    stored: AtomicU64,
    /// Fewest bits that any frame has kept of a variable, in the order in which they were written.
    kept: Mutex<Vec<(&'static str, u32)>>,
}

/// A union of intervals: those in which at least one is busy.
#[derive(Debug, Default)]
struct Hours {
    busy: usize,
    since: Option<Instant>,
    total: Duration,
}

/// Somebody is busy as long as this lives.
#[derive(Debug)]
#[must_use = "dropped at once it counts no time"]
pub struct Busy(Ledger);

impl Ledger {
    fn change<T>(&self, with: impl FnOnce(&mut Hours) -> T) -> T {
        with(&mut self.0.hours.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Begins an interval.
    pub fn busy(&self) -> Busy {
        self.change(|hours| {
            if hours.busy == 0 {
                hours.since = Some(Instant::now());
            }
            hours.busy += 1;
        });
        Busy(self.clone())
    }

    /// Wall time until now in which anybody was busy.
    pub fn total(&self) -> Duration {
        self.change(|hours| {
            hours.total + hours.since.map_or(Duration::ZERO, |since| since.elapsed())
        })
    }

    /// Counts values of fields: their bytes, and those that were stored for them.
    pub(super) fn count(&self, raw: usize, stored: usize) {
        self.0.raw.fetch_add(raw as u64, Ordering::Relaxed);
        self.0.stored.fetch_add(stored as u64, Ordering::Relaxed);
    }

    /// Notes that a frame of a variable is rounded to so many bits of the significand.
    pub(super) fn keep(&self, name: &'static str, bits: u32) {
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.iter_mut().find(|(other, _)| *other == name) {
            Some((_, fewest)) => *fewest = bits.min(*fewest),
            None => kept.push((name, bits)),
        }
    }

    /// Variables that were rounded, and the bits of the significand that are left in the frame that has the
    /// fewest.
    pub fn kept(&self) -> Vec<(&'static str, u32)> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Bytes of the values of fields with two dimensions or three.
    pub fn raw_bytes(&self) -> u64 {
        self.0.raw.load(Ordering::Relaxed)
    }

    /// Bytes that were stored for them.
    pub fn stored_bytes(&self) -> u64 {
        self.0.stored.load(Ordering::Relaxed)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.change(|hours| {
            hours.busy -= 1;
            if hours.busy == 0 {
                hours.total += hours.since.take().map_or(Duration::ZERO, |since| since.elapsed());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    const NAP: Duration = Duration::from_millis(20);

    #[test]
    fn intervals_that_overlap_count_once_and_gaps_do_not_count() {
        let ledger = Ledger::default();
        let begin = Instant::now();
        let first = ledger.busy();
        let second = ledger.clone().busy();
        sleep(NAP);
        drop(first);
        sleep(NAP);
        drop(second);
        let busy = begin.elapsed();
        sleep(NAP);
        let total = ledger.total();
        assert!(total >= 2 * NAP && total <= busy, "{total:?} {busy:?}");
        ledger.count(10, 3);
        ledger.count(1, 1);
        assert_eq!((ledger.raw_bytes(), ledger.stored_bytes()), (11, 4));
        for (name, bits) in [("T", 9), ("W", 7), ("T", 8), ("T", 12)] {
            ledger.keep(name, bits);
        }
        assert_eq!(ledger.kept(), [("T", 8), ("W", 7)]);
    }

    #[test]
    fn an_interval_under_way_counts_until_now() {
        let ledger = Ledger::default();
        let _busy = ledger.busy();
        sleep(NAP);
        assert!(ledger.total() >= NAP);
    }
}
