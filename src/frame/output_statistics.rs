//! Time that output takes on any thread, and its size in bytes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wall time in which any thread was busy with output, and bytes before and after compression. A clone refers to the
/// same statistics.
#[derive(Clone, Debug, Default)]
pub struct OutputStatistics(Arc<Entries>);

#[derive(Debug, Default)]
struct Entries {
    hours: Mutex<BusyIntervals>,
    raw: AtomicU64,
    stored: AtomicU64,
    /// Fewest bits that any frame has kept of a variable, in the order of writing.
    kept: Mutex<Vec<(&'static str, u32)>>,
}

/// Union of intervals: the time in which at least one thread is busy.
#[derive(Debug, Default)]
struct BusyIntervals {
    busy: usize,
    since: Option<Instant>,
    total: Duration,
}

/// A thread is busy as long as this value lives.
#[derive(Debug)]
#[must_use = "dropped at once it counts no time"]
pub struct BusyTimer(OutputStatistics);

impl OutputStatistics {
    fn change<T>(&self, with: impl FnOnce(&mut BusyIntervals) -> T) -> T {
        with(&mut self.0.hours.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Begins an interval.
    pub fn busy(&self) -> BusyTimer {
        self.change(|hours| {
            if hours.busy == 0 {
                hours.since = Some(Instant::now());
            }
            hours.busy += 1;
        });
        BusyTimer(self.clone())
    }

    /// Wall time until now in which any thread was busy.
    pub fn total(&self) -> Duration {
        self.change(|hours| {
            hours.total + hours.since.map_or(Duration::ZERO, |since| since.elapsed())
        })
    }

    /// Counts bytes of fields: raw and stored.
    pub(crate) fn count(&self, raw: usize, stored: usize) {
        self.0.raw.fetch_add(raw as u64, Ordering::Relaxed);
        self.0.stored.fetch_add(stored as u64, Ordering::Relaxed);
    }

    /// Records that a frame of a variable is rounded to `bits` bits of the significand.
    pub(crate) fn keep(&self, name: &'static str, bits: u32) {
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.iter_mut().find(|(other, _)| *other == name) {
            Some((_, fewest)) => *fewest = bits.min(*fewest),
            None => kept.push((name, bits)),
        }
    }

    /// Rounded variables, and the fewest bits of the significand in any frame.
    pub fn kept(&self) -> Vec<(&'static str, u32)> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Raw bytes of the values of planes and volumes.
    pub fn raw_bytes(&self) -> u64 {
        self.0.raw.load(Ordering::Relaxed)
    }

    /// Stored bytes of these values.
    pub fn stored_bytes(&self) -> u64 {
        self.0.stored.load(Ordering::Relaxed)
    }
}

impl Drop for BusyTimer {
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
        let statistics = OutputStatistics::default();
        let begin = Instant::now();
        let first = statistics.busy();
        let second = statistics.clone().busy();
        sleep(NAP);
        drop(first);
        sleep(NAP);
        drop(second);
        let busy = begin.elapsed();
        sleep(NAP);
        let total = statistics.total();
        assert!(total >= 2 * NAP && total <= busy, "{total:?} {busy:?}");
        statistics.count(10, 3);
        statistics.count(1, 1);
        assert_eq!((statistics.raw_bytes(), statistics.stored_bytes()), (11, 4));
        for (name, bits) in [("T", 9), ("W", 7), ("T", 8), ("T", 12)] {
            statistics.keep(name, bits);
        }
        assert_eq!(statistics.kept(), [("T", 8), ("W", 7)]);
    }

    #[test]
    fn an_interval_under_way_counts_until_now() {
        let statistics = OutputStatistics::default();
        let _busy = statistics.busy();
        sleep(NAP);
        assert!(statistics.total() >= NAP);
    }
}
