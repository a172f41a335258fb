//! Files: NetCDF in and out. Everything here works on host memory.

pub mod columns;
mod layout;
mod mapping;
pub mod nc_char;
pub mod output;
pub mod pending;
pub mod reader;
pub mod transport;
pub mod variables;
pub mod wrf;
pub mod writer;
