//! Outputs beside the frames of a run, written by the same thread.

use std::path::Path;

use crate::error::Result;
use crate::io::sampled::{ColumnFrame, Sample};
use crate::io::writer::Stored;

/// A file beside the output that is made of the columns, or of the products of operators and fields.
pub trait Companion<R: Stored>: Send {
    /// The name that the file will get.
    fn target(&self) -> &Path;

    /// Takes the columns.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when they cannot be written.
    fn columns(&mut self, _columns: &ColumnFrame<R>) -> Result<()> {
        Ok(())
    }

    /// Takes the product of the operator of this number and the fields.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when it cannot be written.
    fn sample(&mut self, _operator: usize, _sample: &Sample<R>) -> Result<()> {
        Ok(())
    }

    /// Gives a copy of the file so far its name.
    ///
    /// # Errors
    ///
    /// As [`Companion::commit`].
    fn show(&mut self) -> Result<()>;

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when it cannot be written, and those of [`Pending::commit`](crate::io::pending::Pending::commit).
    fn commit(self: Box<Self>) -> Result<()>;
}
