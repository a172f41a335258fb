//! Small NetCDF output, written at once: each variable gets all its values when it is defined.

use std::path::Path;

use netcdf::FileMut;
use netcdf::types::NcTypeDescriptor;

use crate::error::Result;
use crate::io::store::atomic_file::AtomicFile;
use crate::io::store::format::{Kind, Values};
use crate::io::store::storage::Bits;
use crate::real::Real;

/// A precision that files can store.
pub trait Stored: Real + NcTypeDescriptor + Bits {
    /// Type of the values.
    #[doc(hidden)]
    const KIND: Kind;

    /// The values, of their type.
    #[doc(hidden)]
    fn of_kind(values: &[Self]) -> Values<'_>;
}

impl Stored for f32 {
    const KIND: Kind = Kind::Single;

    fn of_kind(values: &[Self]) -> Values<'_> {
        Values::Single(values)
    }
}

impl Stored for f64 {
    const KIND: Kind = Kind::Double;

    fn of_kind(values: &[Self]) -> Values<'_> {
        Values::Double(values)
    }
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
    /// [`Error::Exists`](crate::error::Error::Exists), [`Error::Input`](crate::error::Error::Input) or
    /// [`Error::Io`](crate::error::Error::Io) when a file of this name cannot be written.
    pub fn create(target: &Path, force: bool) -> Result<Self> {
        let pending = AtomicFile::new(target, force)?;
        let file = netcdf::create(pending.path()).map_err(|e| pending.failed(e))?;
        Ok(Self { file, pending })
    }

    /// Adds a dimension.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when the library refuses, as in the functions below.
    pub fn dimension(&mut self, name: &str, length: usize) -> Result<()> {
        self.file.add_dimension(name, length).map(drop).map_err(|e| self.pending.failed(e))
    }

    /// Adds a global text attribute.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io).
    pub fn text(&mut self, name: &str, value: &str) -> Result<()> {
        self.file.add_attribute(name, value).map(drop).map_err(|e| self.pending.failed(e))
    }

    /// Adds a global numeric attribute.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io).
    pub fn number(&mut self, name: &str, value: f64) -> Result<()> {
        self.file.add_attribute(name, value).map(drop).map_err(|e| self.pending.failed(e))
    }

    /// Adds a variable with all its values, units and a description.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io).
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
        add().map_err(|e| self.pending.failed(e))
    }

    /// Closes the file and renames it to its final name.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when it cannot be completed, [`Error::Exists`](crate::error::Error::Exists)
    /// when another program has written a file of this name meanwhile.
    pub fn commit(self) -> Result<()> {
        let Self { file, pending } = self;
        file.close().map_err(|e| pending.failed(e))?;
        pending.commit()
    }
}
