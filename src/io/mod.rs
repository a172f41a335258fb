//! Files: NetCDF input and output. Everything here works on host memory.
//!
//! # Decisions
//!
//! **The NetCDF library defines the output, the HDF5 library fills it** (`frames`, `chunks`). One thread in the deflate
//! of the NetCDF library took nine tenths of a large run. Chunks of about 1 MB, whole levels or whole rows, are
//! shuffled and deflated on all threads (`storage`) and stored in order, so that a file does not depend on the number
//! of threads. The NetCDF library closes the file before the HDF5 library opens it; time is extended in every dataset
//! and in the dimension scale alike, and the library caches nothing that is stored this way. While one frame is
//! written, the next ones stay with the backend (`frame_slot`), on a GPU in the pinned memory of their download. Fields that
//! are the same in all frames are compressed once; their chunks, a few bytes a cell, are kept for the next frames. The
//! file is defined when the first frame arrives: until then the run has all processors.
//!
//! **Large deflated variables are inflated on all threads** (`inflate`), if they are floats in deflated chunks. On any
//! error there, the NetCDF library reads the variable again and reports the error, so that each error has one text.
//!
//! **Bits are dropped according to the information that neighbours share** (`bit_information`). The number of bits is
//! chosen frame by frame. Attributes state the error of the frame that keeps the fewest bits, and are written when the
//! file is complete. Restart files are not rounded.
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
//! checked first (`classic_header`); the metadata of HDF5 files is read once with panics caught (`damage_guard`); the first 16 MB of
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

pub(crate) mod append_file;
pub(crate) mod atomic_file;
mod bit_information;
pub(crate) mod chemistry;
mod chunks;
mod classic_header;
pub mod columns;
mod damage_guard;
pub(crate) mod destination;
pub(crate) mod ensemble;
mod fields;
mod filters;
mod flushing_file;
pub(crate) mod frame_slot;
mod frames;
pub(crate) mod grid_north;
mod hdf5_heap;
pub(crate) mod ideal_input;
mod inflate;
pub(crate) mod lattice;
mod layout;
pub(crate) mod mapping;
mod missing_values;
pub mod nc_char;
mod ordered_pipeline;
pub mod output;
mod packing;
pub(crate) mod profiles;
pub(crate) mod reader;
pub(crate) mod regridded;
pub mod restart;
mod rounding_attributes;
pub mod samples;
pub(crate) mod selection;
pub(crate) mod station_series;
pub(crate) mod stations;
pub(crate) mod storage;
pub(crate) mod text;
pub mod transport;
mod typed_arrays;
pub(crate) mod variables;
pub mod weights;
pub mod wrf;
pub mod writer;
mod writer_thread;
