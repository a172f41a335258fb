//! Writing files: names that appear when a file is complete, chunks, compression, threads.

pub(crate) mod atomic_file;
pub(in crate::io) mod bit_information;
pub(in crate::io) mod chunks;
pub(crate) mod destination;
pub(in crate::io) mod fields;
pub(in crate::io) mod flushing_file;
pub(crate) mod format;
pub(crate) mod frame_slot;
pub(in crate::io) mod frames;
pub(in crate::io) mod hdf5_lock;
pub mod nc_char;
pub(crate) mod netcdf;
pub(in crate::io) mod ordered_pipeline;
pub(in crate::io) mod quantization;
pub(in crate::io) mod rounding_attributes;
pub(crate) mod storage;
pub mod writer;
pub(in crate::io) mod writer_thread;

use std::path::Path;

use crate::error::Result;
use crate::io::store::atomic_file::AtomicFile;
use crate::io::store::format::Store;
use crate::io::store::netcdf::NetcdfStore;

/// An output of frames in the format that its name asks for.
///
/// # Errors
///
/// As [`AtomicFile::new`].
pub(crate) fn of_name(target: &Path, force: bool) -> Result<Box<dyn Store>> {
    Ok(Box::new(NetcdfStore::new(AtomicFile::new(target, force)?)))
}
