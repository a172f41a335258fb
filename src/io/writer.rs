//! Small NetCDF output, written at once: each variable gets all its values when it is defined.

use std::path::Path;

use netcdf::FileMut;
use netcdf::types::NcTypeDescriptor;

use crate::error::{Error, Result};
use crate::io::atomic_file::AtomicFile;
use crate::io::storage::Bits;
use crate::real::Real;

/// A precision that NetCDF can store.
pub trait Stored: Real + NcTypeDescriptor + Bits {
    /// Conversion of values to either precision at run time.
    fn numbers(values: &[Self]) -> Numbers<'_>;
}

impl Stored for f32 {
    fn numbers(values: &[Self]) -> Numbers<'_> {
        Numbers::Single(values)
    }
}

impl Stored for f64 {
    fn numbers(values: &[Self]) -> Numbers<'_> {
        Numbers::Double(values)
    }
}

/// Values of either precision.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    /// Of type float.
    Single(&'a [f32]),
    /// Of type double.
    Double(&'a [f64]),
}

/// A NetCDF file being written, under a temporary name until [`Writer::commit`].
#[derive(Debug)]
pub struct Writer {
    file: FileMut,
    pending: AtomicFile,
}

impl Writer {
    /// Starts a NetCDF-4 file.
    ///
    /// # Errors
    ///
    /// Those of [`AtomicFile::new`].
    pub fn create(target: &Path, force: bool) -> Result<Self> {
        let pending = AtomicFile::new(target, force)?;
        let file = netcdf::create(pending.path()).map_err(|e| pending.failed(e))?;
        Ok(Self { file, pending })
    }

    /// Adds a dimension.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the library refuses, as in the functions below.
    pub fn dimension(&mut self, name: &str, length: usize) -> Result<()> {
        let done = self.file.add_dimension(name, length).map(drop);
        done.map_err(|e| self.error(&e))
    }

    /// Adds a global text attribute.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn text(&mut self, name: &str, value: &str) -> Result<()> {
        let done = self.file.add_attribute(name, value).map(drop);
        done.map_err(|e| self.error(&e))
    }

    /// Adds a global numeric attribute.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn number(&mut self, name: &str, value: f64) -> Result<()> {
        let done = self.file.add_attribute(name, value).map(drop);
        done.map_err(|e| self.error(&e))
    }

    /// Adds a variable with all its values, units and a description.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn variable<T: NcTypeDescriptor>(
        &mut self,
        name: &str,
        dimensions: &[&str],
        [units, long_name]: [&str; 2],
        values: &[T],
    ) -> Result<()> {
        let mut add = || -> netcdf::Result<()> {
            let mut variable = self.file.add_variable::<T>(name, dimensions)?;
            variable.put_attribute("units", units)?;
            variable.put_attribute("long_name", long_name)?;
            variable.put_values(values, ..)
        };
        let done = add();
        done.map_err(|e| self.error(&e))
    }

    /// Closes the file and renames it to its final name.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], and those of [`AtomicFile::commit`].
    pub fn commit(self) -> Result<()> {
        let Self { file, pending } = self;
        file.close().map_err(|e| pending.failed(e))?;
        pending.commit()
    }

    fn error(&self, error: &netcdf::Error) -> Error {
        self.pending.failed(error)
    }
}
