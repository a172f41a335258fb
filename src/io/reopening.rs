//! A NetCDF file that grows, and is flushed by closing and opening it again.
//!
//! # Decisions
//!
//! **Files filled by the NetCDF library are closed and opened again every 32 MB of values.** These are the files of
//! ensembles, and those beside the output. The library keeps up to 64 MB of every variable until the file is closed,
//! and the crate has no way to limit that; with the 60 variables of an output, 150 frames of `soc.nc` made 1.2 GB
//! resident. Now it is 0.1 GB, and the files hold the same values.

use std::path::{Path, PathBuf};

use netcdf::FileMut;

/// Bytes of values after which a file is closed and opened again. The library keeps up to 64 MB of every
/// variable, and lets go of them only with the file.
const MOST_KEPT: usize = 32 << 20;

/// A file in the making that is closed and opened again now and then.
#[derive(Debug)]
pub(super) struct Reopening {
    path: PathBuf,
    /// Absent when it could not be opened again.
    file: Option<FileMut>,
    /// Bytes of values that were written since it was opened.
    kept: usize,
}

impl Reopening {
    /// Starts a file.
    pub(super) fn create(path: &Path) -> netcdf::Result<Self> {
        Ok(Self { path: path.to_owned(), file: Some(netcdf::create(path)?), kept: 0 })
    }

    /// The file, open.
    pub(super) fn file(&mut self) -> netcdf::Result<&mut FileMut> {
        self.file.as_mut().ok_or_else(|| "the file could not be opened again".into())
    }

    /// To be told of values that were written, and of how many bytes they have.
    pub(super) fn wrote(&mut self, bytes: usize) -> netcdf::Result<()> {
        self.kept += bytes;
        if self.kept < MOST_KEPT {
            return Ok(());
        }
        self.kept = 0;
        if let Some(file) = self.file.take() {
            file.close()?;
        }
        self.file = Some(netcdf::append(&self.path)?);
        Ok(())
    }

    /// Flushes the file to the system.
    pub(super) fn sync(&mut self) -> netcdf::Result<()> {
        self.file()?.sync()
    }

    /// Completes the file.
    pub(super) fn close(self) -> netcdf::Result<()> {
        self.file.map_or(Ok(()), FileMut::close)
    }
}
