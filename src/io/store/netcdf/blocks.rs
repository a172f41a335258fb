//! A NetCDF file whose variables are filled block by block, by the library.
//!
//! # Decisions
//!
//! **Such files are closed and reopened every 32 MB of values.** These are the files of ensembles, and the files
//! besides the output. The library buffers up to 64 MB of every variable until the file is closed, and the crate has no
//! way to limit that; with the 60 variables of an output, 150 frames of `soc.nc` took 1.2 GB of memory. Reopening
//! reduces that to 0.1 GB, and the files hold the same values.

use std::ops::Range;
use std::path::Path;

use netcdf::FileMut;

use super::digest::digest;
use super::nc_char::NcChar;
use super::{existing, message};
use crate::error::{Error, Result};
use crate::io::attribute::AttributeValue;
use crate::io::store::atomic_file::AtomicFile;
use crate::io::store::format::{BlockStore, Definition, Done, Schema, Values};

/// Bytes of values after which a file is closed and reopened. The library buffers up to 64 MB of every variable until
/// the file is closed.
const MOST_KEPT: usize = 32 << 20;

/// A NetCDF file, under a temporary name until it is complete.
#[derive(Debug)]
pub(in crate::io) struct NetcdfBlocks {
    pending: AtomicFile,
    /// `None` before it is created, and if it could not be reopened.
    file: Option<FileMut>,
    /// Bytes of values counted since it was opened.
    kept: usize,
}

impl NetcdfBlocks {
    /// A file of this name.
    pub(in crate::io) fn new(pending: AtomicFile) -> Self {
        Self { pending, file: None, kept: 0 }
    }

    fn file(&mut self) -> std::result::Result<&mut FileMut, String> {
        self.file.as_mut().ok_or_else(|| "the file could not be opened again".to_owned())
    }

    fn close(&mut self) -> Done {
        self.file.take().map_or(Ok(()), FileMut::close).map_err(message)
    }
}

impl Schema for NetcdfBlocks {
    fn dimension(&mut self, name: &str, length: Option<usize>) -> Done {
        self.file()?.dimension(name, length)
    }

    fn length_of(&self, dimension: &str) -> Option<usize> {
        self.file.as_ref()?.length_of(dimension)
    }

    fn variable(&mut self, about: &Definition<'_>) -> Done {
        Schema::variable(self.file()?, about)
    }

    fn has(&self, variable: &str) -> bool {
        self.file.as_ref().is_some_and(|file| file.has(variable))
    }

    fn attribute(&mut self, of: Option<&str>, name: &str, value: AttributeValue) -> Done {
        Schema::attribute(self.file()?, of, name, value)
    }

    fn text_of(&self, variable: &str, name: &str) -> Option<String> {
        self.file.as_ref()?.text_of(variable, name)
    }

    fn fill(&mut self, name: &str, values: Values<'_>) -> Done {
        self.file()?.fill(name, values)
    }
}

impl BlockStore for NetcdfBlocks {
    fn target(&self) -> &Path {
        self.pending.target()
    }

    fn failed(&self, reason: String) -> Error {
        self.pending.failed(reason)
    }

    fn create(&mut self) -> Done {
        self.file = Some(netcdf::create(self.pending.path()).map_err(message)?);
        self.kept = 0;
        Ok(())
    }

    fn put(&mut self, name: &str, block: &[Range<usize>], values: Values<'_>) -> Done {
        let mut variable = existing(self.file()?, name).map_err(message)?;
        match values {
            Values::Single(values) => variable.put_values(values, block.to_vec()),
            Values::Double(values) => variable.put_values(values, block.to_vec()),
            Values::Whole(values) => variable.put_values(values, block.to_vec()),
            Values::Text(text) => variable.put_values(&NcChar::of(text), block.to_vec()),
        }
        .map_err(message)
    }

    fn relieve(&mut self, bytes: usize) -> Done {
        self.kept += bytes;
        if self.kept < MOST_KEPT {
            return Ok(());
        }
        self.kept = 0;
        self.close()?;
        self.file = Some(netcdf::append(self.pending.path()).map_err(message)?);
        Ok(())
    }

    fn digest(&mut self, except: &str) -> std::result::Result<String, String> {
        let file = self.file()?;
        file.sync().map_err(message)?;
        digest(file, except).map_err(message)
    }

    fn publish(&mut self) -> Result<()> {
        let synced = self.file().and_then(|file| file.sync().map_err(message));
        synced.map_err(|e| self.pending.failed(e))?;
        self.pending.publish()
    }

    fn deliver(&mut self) -> Result<()> {
        self.close().map_err(|e| self.pending.failed(e))?;
        self.pending.deliver()
    }

    fn commit(mut self: Box<Self>) -> Result<()> {
        self.close().map_err(|e| self.pending.failed(e))?;
        self.pending.commit()
    }
}
