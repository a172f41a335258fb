//! Reading files that may be damaged: variables, packed and missing values, texts.

pub(in crate::io) mod damage_guard;
pub(crate) mod dataset;
pub(in crate::io) mod missing_values;
pub(in crate::io) mod netcdf;
pub(crate) mod packing;
pub(crate) mod reader;
pub(crate) mod text;
pub(in crate::io) mod typed_arrays;
pub(crate) mod variables;
#[cfg(feature = "zarr")]
pub(in crate::io) mod zarr;
