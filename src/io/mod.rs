//! Files: NetCDF in and out. Everything here works on host memory.

pub mod benchmark;
pub mod columns;
pub mod companion;
pub mod fortran;
mod geometry;
pub mod growing;
pub mod initial;
mod layout;
pub mod mapping;
pub mod nc_char;
pub mod output;
pub mod pending;
pub mod points;
pub mod profiles;
pub mod reader;
pub mod regridded;
pub mod restart;
pub mod sampled;
pub mod stations;
pub mod transport;
pub mod variables;
pub mod weights;
pub mod wrf;
pub mod writer;
