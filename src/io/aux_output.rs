//! Outputs besides the frames of a run, written by the same thread.

use std::path::Path;

use crate::error::Result;
use crate::io::samples::{ColumnFrame, PointSample};
use crate::io::writer::Stored;

/// A file besides the output, of columns or of products of operators and fields.
pub trait AuxOutput<R: Stored>: Send {
    /// The final name of the file.
    fn target(&self) -> &Path;

    /// Writes the columns.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when they cannot be written.
    fn columns(&mut self, _columns: &ColumnFrame<R>) -> Result<()> {
        Ok(())
    }

    /// Writes the product of the fields and operator number `operator`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when it cannot be written.
    fn sample(&mut self, _operator: usize, _sample: &PointSample<R>) -> Result<()> {
        Ok(())
    }

    /// Copies the file as it is now to its final name.
    ///
    /// # Errors
    ///
    /// As [`AuxOutput::commit`].
    fn publish(&mut self) -> Result<()>;

    /// Completes the file and renames it to its final name.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when it cannot be written, and those of
    /// [`AtomicFile::commit`](crate::io::atomic_file::AtomicFile::commit).
    fn commit(self: Box<Self>) -> Result<()>;
}
