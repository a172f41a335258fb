//! Files of samples of the fields of a run, which the thread of the output writes.

use std::fmt;
use std::ops::Range;

use crate::error::Result;
use crate::frame::{ColumnFrame, PointSample};
use crate::io::store::writer::Stored;

/// A file besides the output, of columns or of products of operators and fields.
pub(crate) trait AuxOutput<R: Stored>: fmt::Debug + Send {
    /// Writes the columns.
    fn columns(&mut self, _columns: &ColumnFrame<R>) -> Result<()> {
        Ok(())
    }

    /// Begins the columns of a time, `seconds` after the start of the run.
    fn begin_columns(&mut self, _seconds: f64) -> Result<()> {
        Ok(())
    }

    /// Writes some rows of list number `list` of [`ColumnFrame::lists`].
    fn rows_of_columns(&mut self, _list: usize, _rows: Range<usize>, _values: &[R]) -> Result<()> {
        Ok(())
    }

    /// Writes the product of the fields and operator number `operator`.
    fn sample(&mut self, _operator: usize, _sample: &PointSample<R>) -> Result<()> {
        Ok(())
    }

    /// Copies the file as it is now to its final name.
    fn publish(&mut self) -> Result<()>;

    /// Completes the file and renames it to its final name.
    fn commit(self: Box<Self>) -> Result<()>;
}
