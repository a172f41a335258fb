//! Files: NetCDF in and out. Everything here works on host memory.
//!
//! # Decisions
//!
//! **The NetCDF library defines the output, the HDF5 library fills it** (`frames`, `chunks`). One thread in the deflate
//! of the NetCDF library took nine tenths of a large run. Chunks of about 1 MB, whole levels or whole rows, are
//! shuffled and deflated on all threads (`storage`) and stored in their order as they are, so that a file does not
//! depend on the number of threads. The one library closes the file before the other opens it; time grows in every
//! dataset and in the scale of the dimension alike, and the library caches nothing that is stored this way. One frame
//! is written while the next ones stay with the backend (`desk`), on a GPU in the pinned memory that they arrive in.
//! Fields that are the same in all frames are compressed once; their chunks, a few bytes a cell, are kept for the next
//! frames. The file is defined when the first frame is there: until then the run has the processors.
//!
//! **Large deflated variables are inflated on all threads** (`inflate`). This holds for large variables of floats in
//! deflated chunks. If anything is wrong there, the NetCDF library reads the variable again and reports the error:
//! there is one text for each error.
//!
//! **Bits are dropped by the information that neighbours share** (`information`). The number of bits is chosen frame by
//! frame; attributes state the error of the frame that keeps the fewest bits, and are written when the file is
//! complete. Restart files are not affected.
//!
//! **Restart files are written by the thread of the output.** It first hands over what was queued before: a copy of the
//! output so far takes its name, then the restart file does. So the frames on disk never end before the restart. The
//! run waits for the state; that is rare.
//!
//! **The HDF5 and NetCDF libraries are built into the program.** So it runs where neither is installed. The price is a
//! CMake of at least 3.26 and some minutes at the first build.
//!
//! **A NetCDF file is checked before it is trusted.** The library allocates whatever a header says, takes zeros for the
//! part that is cut off a classic file, and its crate panics if a name is not text. So headers of classic files are
//! checked first (`classic`), the metadata of HDF5 files is read once with panics caught (`guard`), global heaps of
//! HDF5 whose objects take no room, on which the library loops for ever, are searched for in the first 16 MB (`heap`),
//! and no variable is read that is larger than its file can hold, a byte of deflate standing for 1032. A memory fault
//! inside the HDF5 library would still end the program; `validation/cli/hostile` has met none.
//!
//! **Series at places are two files.** One holds the ground and one the profiles: the CF conventions allow one feature
//! type in a file.
//!
//! **Mean and spread of an ensemble are called `_ENSEMBLE_MEAN` and `_ENSEMBLE_SPREAD`** (`ensemble`). `T_MEAN` is the
//! mean over a level in every output. The file is written member by member, with mean and squares kept in double
//! precision, so that few members are in memory at a time. Fields that all members share (winds, pressure, grid) are
//! written once.

pub mod benchmark;
pub mod chemistry;
mod chunks;
mod classic;
pub mod columns;
pub mod companion;
pub mod desk;
pub mod destination;
pub mod ensemble;
mod exact;
mod fields;
mod filters;
mod form;
pub mod fortran;
mod frames;
mod geometry;
pub mod grid_north;
pub mod growing;
mod guard;
mod heap;
mod holes;
mod in_order;
mod inflate;
mod information;
pub mod initial;
pub mod lattice;
mod layout;
pub mod ledger;
pub mod mapping;
pub mod nc_char;
pub mod output;
mod packing;
pub mod pending;
pub mod points;
pub mod profiles;
pub mod reader;
pub mod regridded;
mod reopening;
pub mod restart;
mod rounding;
pub mod sampled;
pub mod selection;
pub mod stations;
pub mod storage;
pub mod text;
pub mod transport;
pub mod variables;
pub mod weights;
pub mod wrf;
pub mod writer;
