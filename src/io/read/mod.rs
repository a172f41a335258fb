//! Reading files that may be damaged: variables, packed and missing values, texts.

pub(in crate::io) mod classic_header;
pub(in crate::io) mod damage_guard;
pub(crate) mod dataset;
pub(in crate::io) mod filters;
pub(in crate::io) mod hdf5_heap;
pub(in crate::io) mod inflate;
pub(in crate::io) mod missing_values;
pub(in crate::io) mod netcdf;
pub(in crate::io) mod packing;
pub(crate) mod reader;
pub(crate) mod text;
pub(in crate::io) mod typed_arrays;
pub(crate) mod variables;
#[cfg(feature = "zarr")]
pub(in crate::io) mod zarr;
