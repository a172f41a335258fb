//! Source of the input frames of a run.

use std::fmt::Debug;

use time::PrimitiveDateTime;

use super::Frame;
use crate::calendar;
use crate::domain::Domain;
use crate::error::Result;

/// Frames of the input in the order of their times, read when they are needed, on any thread.
pub trait FrameSource: Debug + Send + Sync {
    /// Number of times, including those before the part that is available.
    fn len(&self) -> usize;

    /// Index of the first time that is available.
    fn first(&self) -> usize {
        0
    }

    /// The reference time, from which the times of a run count.
    fn start(&self) -> PrimitiveDateTime {
        self.when(0)
    }

    /// Date of a time.
    fn when(&self, number: usize) -> PrimitiveDateTime;

    /// The fields of a time on the grid of the run, which is `domain`, with its passive tracers.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) or [`Error::Input`](crate::error::Error::Input) when the frame cannot be
    /// read, or is not one of the domain.
    fn frame(&self, number: usize, domain: &Domain) -> Result<Frame>;

    /// Returns `true` if there are no times.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Date of a time in WRF's format.
    fn time(&self, number: usize) -> String {
        calendar::format(self.when(number))
    }

    /// Time since the reference time, s.
    fn seconds(&self, number: usize) -> f64 {
        (self.when(number) - self.start()).as_seconds_f64()
    }

    /// Index of the first time that is not before `seconds`, or of the last time.
    fn reaching(&self, seconds: f64) -> usize {
        let count = self.len();
        (self.first()..count).find(|&n| self.seconds(n) >= seconds).unwrap_or(count - 1)
    }
}

/// Frames in memory.
impl FrameSource for Vec<Frame> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn when(&self, number: usize) -> PrimitiveDateTime {
        self[number].time
    }

    fn frame(&self, number: usize, _domain: &Domain) -> Result<Frame> {
        Ok(self[number].clone())
    }
}
