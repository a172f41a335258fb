//! Files: NetCDF in and out. Everything here works on host memory.

pub mod pending;
pub mod reader;
pub mod transport;
pub mod writer;
