//! Sinks of the outputs of a run.

use std::sync::Arc;

use super::Frames;
use crate::frame::{
    ColumnFrame, PointSample, Saved, Snapshot, output_statistics::OutputStatistics,
};
use crate::primitives::csr::Csr;

/// Sink of the outputs of a run.
pub trait OutputSink<R> {
    /// Takes a frame of output, made after so many steps; where it says no, the run ends.
    fn frame(&mut self, step: usize, frame: Snapshot<R>) -> bool;

    /// True when it takes a frame at once.
    fn is_free(&self) -> bool {
        true
    }

    /// Waits until it takes a frame at once.
    fn wait(&self) {}

    /// Time, bytes and kept bits of the output.
    fn statistics(&self) -> OutputStatistics {
        OutputStatistics::default()
    }

    /// Operators of the samples; called once, before the run.
    fn probes(&self) -> Vec<Probe<R>> {
        Vec::new()
    }

    /// Takes a sample, with the number of its probe; where it says no, the run ends.
    fn sample(&mut self, _probe: usize, _sample: PointSample<R>) -> bool {
        true
    }

    /// When it wants to have the columns, if it does; asked once, before the run.
    fn columns(&self) -> Option<Frames> {
        None
    }

    /// Takes the columns; where it says no, the run ends.
    fn take_columns(&mut self, _columns: ColumnFrame<R>) -> bool {
        true
    }

    /// When it wants to know where the run stands, but for the start, if it does; asked once, before
    /// the run.
    fn restarts(&self) -> Option<Frames> {
        None
    }

    /// Takes where the run stands, after all that was made until then; where it says no, the run
    /// ends.
    fn take_restart(&mut self, _saved: Saved<R>) -> bool {
        true
    }
}

/// Frames alone.
impl<R, F: FnMut(usize, Snapshot<R>) -> bool> OutputSink<R> for F {
    fn frame(&mut self, step: usize, frame: Snapshot<R>) -> bool {
        self(step, frame)
    }
}

/// Takes everything and keeps nothing.
#[derive(Clone, Copy, Debug)]
pub struct NullSink;

impl<R> OutputSink<R> for NullSink {
    fn frame(&mut self, _step: usize, _frame: Snapshot<R>) -> bool {
        true
    }
}

/// An operator to be applied to the fields every now and then.
#[derive(Clone, Debug)]
pub struct Probe<R> {
    /// Takes a level of the grid to some places.
    pub operator: Arc<Csr<R>>,
    /// When.
    pub frames: Frames,
}
