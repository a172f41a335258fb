//! Files: NetCDF and Zarr, in and out. Everything here works on host memory.
//!
//! Two seams keep formats apart from what is read and written: `store::format` (`Schema`, with `Store` for frames and
//! `BlockStore` for everything else) and `read::dataset` (`Dataset`). Behind them are `store::netcdf` and `read::netcdf`,
//! which alone know that library, and with the feature `zarr` `store::zarr` and `read::zarr`. Types and attributes have
//! their own words (`kind`, `attribute`).
//!
//! A module uses those above it in the table.
//!
//! | module | contents |
//! |---|---|
//! | `layout`, `mapping`, `grid_north` | variables of the output, map projections, the direction of north on them |
//! | [`store`] | writing: names that appear when a file is complete, chunks, compression, threads |
//! | `read` | reading files that may be damaged: variables, packed and missing values, texts |
//! | [`cases`] | files of single parts of the model: columns, transport, chemistry, a lattice |
//! | [`weights`] | interpolation weights of SCRIP and ESMF |
//! | [`wrf`] | WRF files as input |
//! | [`restart`] | checkpoints |
//! | [`out`] | outputs of a run: frames, ensembles, other grids, stations, profiles |
//!
//! # Decisions
//!
//! **The NetCDF library defines the output, the HDF5 library fills it** (`frames`, `chunks`). One thread in the deflate
//! of the NetCDF library took nine tenths of a large run. Chunks of about 1 MB, whole levels or whole rows, are
//! shuffled and deflated on all threads (`storage`) and stored in order, so that a file does not depend on the number
//! of threads. The NetCDF library closes the file before the HDF5 library opens it; time is extended in every dataset
//! and in the dimension scale alike, and the library caches nothing that is stored this way. While one frame is
//! written, the next ones stay with the backend (`frame_slot`), on a GPU in its own memory where they are large. Fields that
//! are the same in all frames are compressed once; their chunks, a few bytes a cell, are kept for the next frames. The
//! file is defined when the first frame arrives: until then the run has all processors.
//!
//! **Large deflated variables are inflated on all threads** (`inflate`), if they are floats in deflated chunks. On any
//! error there, the NetCDF library reads the variable again and reports the error, so that each error has one text.
//!
//! **Bits are dropped according to the information that neighbours share** (`bit_information`). The number of bits is
//! chosen frame by frame. Attributes state the error of the frame that keeps the fewest bits, and are written when the
//! file is complete. Pressure and geopotential are not rounded: their differences between levels, a small part of the
//! values, would lose most of their digits. Restart files are not rounded.
//!
//! **Restart files are written by the output thread.** It first completes what was queued before: a copy of the output
//! so far gets its final name, then the restart file does. So the frames on disk never end before the restart. The run
//! waits for the state, which is rare.
//!
//! **The HDF5 and NetCDF libraries are built into the program.** So it runs on machines without them. The price is
//! CMake 3.26 or newer and some minutes for the first build.
//!
//! **A NetCDF file is checked before it is trusted.** The library allocates what a header says and takes zeros for the
//! part that is cut off a classic file, and its crate panics if a name is not text. So headers of classic files are
//! checked first (`classic_header`); the metadata of HDF5 files is read once with panics caught (`metadata`); the first 16 MB of
//! HDF5 files are searched for global heaps with objects of length 0, on which the library loops forever (`hdf5_heap`); and
//! a variable is not read if it is larger than its file can hold, with up to 1032 bytes for a byte of deflate. A memory
//! fault inside the HDF5 library would still end the program; `validation/cli/hostile` has found none.
//!
//! **Series at stations are two files,** one of planes and one of profiles: the CF conventions allow one feature type
//! in a file.
//!
//! **Mean and spread of an ensemble are called `_ENSEMBLE_MEAN` and `_ENSEMBLE_SPREAD`** (`ensemble`). `T_MEAN` is the
//! mean over a level in every output. The file is written member by member, with mean and squares kept in double
//! precision, so that few members are in memory at a time. Fields that all members share (winds, pressure, grid) are
//! written once.

pub(crate) mod attribute;
pub mod cases;
pub(crate) mod grid_north;
pub mod kind;
mod layout;
pub(crate) mod mapping;
pub mod out;
pub(crate) mod read;
pub mod restart;
pub mod store;
pub mod weights;
pub mod wrf;
