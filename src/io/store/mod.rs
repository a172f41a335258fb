//! Writing files: names that appear when a file is complete, chunks, compression, threads.

pub(crate) mod atomic_file;
pub(in crate::io) mod bit_information;
pub(crate) mod destination;
pub(in crate::io) mod fields;
pub(crate) mod format;
pub(crate) mod frame_slot;
pub mod netcdf;
pub(in crate::io) mod ordered_pipeline;
pub(in crate::io) mod quantization;
#[cfg(test)]
pub(crate) mod raw;
pub(in crate::io) mod rounding_attributes;
pub(crate) mod storage;
pub mod writer;
pub(in crate::io) mod writer_thread;
#[cfg(feature = "zarr")]
pub(in crate::io) mod zarr;

use std::path::Path;

use crate::error::Result;
use crate::grid::{Shape, Slab};
use crate::io::layout::Axes;
use crate::io::store::atomic_file::AtomicFile;
pub(in crate::io) use crate::io::store::destination::is_zarr;
use crate::io::store::format::{BlockStore, Store};
use crate::io::store::netcdf::NetcdfStore;
use crate::io::store::netcdf::blocks::NetcdfBlocks;
use crate::io::store::storage::Blocks;

/// An output of frames in the format that its name asks for.
///
/// # Errors
///
/// As [`AtomicFile::new`].
pub(crate) fn of_name(target: &Path, force: bool) -> Result<Box<dyn Store>> {
    #[cfg(test)]
    if let Some(store) = raw::asked(target) {
        return Ok(Box::new(store));
    }
    if is_zarr(target) {
        #[cfg(feature = "zarr")]
        return Ok(Box::new(zarr::ZarrStore::new(target, force)?));
        #[cfg(not(feature = "zarr"))]
        return Err(crate::error::Error::input(target, WITHOUT_ZARR));
    }
    Ok(Box::new(NetcdfStore::new(AtomicFile::new(target, force)?)))
}

/// An output of frames that another rank defines, to which this one adds fields, in a format of several files; `None` in one
/// of a single file, which the first rank writes alone.
pub(in crate::io) fn joined(target: &Path) -> Option<Box<dyn Store>> {
    #[cfg(feature = "zarr")]
    if is_zarr(target) {
        return Some(Box::new(zarr::ZarrStore::joined(target)));
    }
    let _ = target;
    None
}

/// `true` if any rank may write slabs of an output of this name.
pub(in crate::io) fn is_shared(target: &Path) -> bool {
    is_zarr(target)
}

/// Most bytes of the slabs of a field in a single file, unless a level has more: some chunks for every thread.
const SLAB: usize = 16 << 20;

/// The slabs in which the fields of a variable, with values of `size` bytes, are written one after the other: shards, or whole
/// levels of a single file. None for a variable that is no field.
pub(in crate::io) fn slabs(target: &Path, axes: Axes, shape: Shape, size: usize) -> Vec<Slab> {
    #[cfg(feature = "zarr")]
    if is_zarr(target) {
        let shards = zarr::Shards::of(axes, shape, size);
        return shards.into_iter().flat_map(zarr::Shards::slabs).collect();
    }
    let _ = target;
    Blocks::of(axes, shape, size).map_or_else(Vec::new, |blocks| blocks.slabs(SLAB / size))
}

/// A file that is filled block by block.
pub(crate) fn blocks(pending: AtomicFile) -> Box<dyn BlockStore> {
    #[cfg(test)]
    if let Some(store) = raw::asked(pending.target()) {
        return Box::new(store);
    }
    Box::new(NetcdfBlocks::new(pending))
}

/// What a program that was built without Zarr says about a store.
#[cfg(not(feature = "zarr"))]
pub(in crate::io) const WITHOUT_ZARR: &str = "is a Zarr store by its name, and this program was built without Zarr; \
     build it with the feature zarr (make run FEATURES=zarr), or use a NetCDF file";
