//! Small NetCDF output, written at once: each variable gets all its values when it is defined.

use std::path::Path;

use crate::error::Result;
use crate::io::kind::Kind;
use crate::io::store::atomic_file::AtomicFile;
use crate::io::store::blocks;
use crate::io::store::format::{BlockStore, Definition, Done, HeldValues, Schema, Values};
use crate::io::store::storage::Bits;
use crate::real::Real;

/// A type of numbers that files can store.
pub trait Element: Copy {
    /// Type of the values.
    #[doc(hidden)]
    const KIND: Kind;

    /// The values, of their type.
    #[doc(hidden)]
    fn of_kind(values: &[Self]) -> Values<'_>;

    /// The same of values that are handed over.
    #[doc(hidden)]
    fn held(values: Vec<Self>) -> HeldValues;
}

macro_rules! element {
    ($number:ty, $kind:ident, $values:ident) => {
        impl Element for $number {
            const KIND: Kind = Kind::$kind;

            fn of_kind(values: &[Self]) -> Values<'_> {
                Values::$values(values)
            }

            fn held(values: Vec<Self>) -> HeldValues {
                HeldValues::$values(values)
            }
        }
    };
}

element!(f32, Float, Single);
element!(f64, Double, Double);
element!(i32, Int, Whole);

/// A precision that files can store.
pub trait Stored: Real + Element + Bits {}

impl Stored for f32 {}

impl Stored for f64 {}

/// A NetCDF file being written, under a temporary name until [`Writer::commit`].
#[derive(Debug)]
pub struct Writer(Box<dyn BlockStore>);

impl Writer {
    /// Starts a NetCDF-4 file.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`](crate::error::Error::Exists), [`Error::Input`](crate::error::Error::Input) or
    /// [`Error::Io`](crate::error::Error::Io) when a file of this name cannot be written.
    pub fn create(target: &Path, force: bool) -> Result<Self> {
        let mut file = blocks(AtomicFile::new(target, force)?);
        file.create().map_err(|e| file.failed(e))?;
        Ok(Self(file))
    }

    fn define(&mut self, add: impl FnOnce(&mut dyn Schema) -> Done) -> Result<()> {
        add(&mut *self.0).map_err(|e| self.0.failed(e))
    }

    /// Adds a dimension.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when the library refuses, as in the functions below.
    pub fn dimension(&mut self, name: &str, length: usize) -> Result<()> {
        self.define(|file| file.dimension(name, Some(length)))
    }

    /// Adds a global text attribute.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io).
    pub fn text(&mut self, name: &str, value: &str) -> Result<()> {
        self.define(|file| file.attribute(None, name, value.into()))
    }

    /// Adds a global numeric attribute.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io).
    pub fn number(&mut self, name: &str, value: f64) -> Result<()> {
        self.define(|file| file.attribute(None, name, value.into()))
    }

    /// Adds a variable with all its values, units and a description.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io).
    pub fn variable<T: Element>(
        &mut self,
        name: &str,
        dimensions: &[&str],
        [units, long_name]: [&str; 2],
        values: &[T],
    ) -> Result<()> {
        self.define(|file| {
            file.variable(&Definition::small(name, T::KIND, dimensions))?;
            file.attribute(Some(name), "units", units.into())?;
            file.attribute(Some(name), "long_name", long_name.into())?;
            file.fill(name, T::of_kind(values))
        })
    }

    /// Closes the file and renames it to its final name.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when it cannot be completed, [`Error::Exists`](crate::error::Error::Exists)
    /// when another program has written a file of this name meanwhile.
    pub fn commit(self) -> Result<()> {
        self.0.commit()
    }
}
