//! A NetCDF file that grows, and is flushed by closing and reopening it.
//!
//! # Decisions
//!
//! **Files filled by the NetCDF library are closed and reopened every 32 MB of values.** These are the files of
//! ensembles, and the files besides the output. The library buffers up to 64 MB of every variable until the file is
//! closed, and the crate has no way to limit that; with the 60 variables of an output, 150 frames of `soc.nc` took 1.2
//! GB of memory. Reopening reduces that to 0.1 GB, and the files hold the same values.

use std::path::{Path, PathBuf};

use netcdf::FileMut;

/// Bytes of values after which a file is closed and reopened. The library buffers up to 64 MB of every variable until
/// the file is closed.
const MOST_KEPT: usize = 32 << 20;

/// A file being written that is closed and reopened from time to time.
#[derive(Debug)]
pub(in crate::io) struct FlushingFile {
    path: PathBuf,
    /// `None` if it could not be reopened.
    file: Option<FileMut>,
    /// Bytes of values written since it was opened.
    kept: usize,
}

impl FlushingFile {
    /// Starts a file.
    pub(in crate::io) fn create(path: &Path) -> netcdf::Result<Self> {
        Ok(Self { path: path.to_owned(), file: Some(netcdf::create(path)?), kept: 0 })
    }

    /// The open file.
    pub(in crate::io) fn file(&mut self) -> netcdf::Result<&mut FileMut> {
        self.file.as_mut().ok_or_else(|| "the file could not be opened again".into())
    }

    /// Must be called after values are written, with their size in bytes.
    pub(in crate::io) fn count_written(&mut self, bytes: usize) -> netcdf::Result<()> {
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
    pub(in crate::io) fn sync(&mut self) -> netcdf::Result<()> {
        self.file()?.sync()
    }

    /// Completes the file.
    pub(in crate::io) fn close(self) -> netcdf::Result<()> {
        self.file.map_or(Ok(()), FileMut::close)
    }
}
