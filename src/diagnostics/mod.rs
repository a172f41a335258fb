//! Diagnostics of runs: budget, precipitation, comparisons, samples.

pub(crate) mod atoms;
pub(crate) mod budget;
pub(crate) mod column_ops;
#[cfg(feature = "netcdf")]
pub(crate) mod comparison;
pub mod difference;
#[cfg(feature = "netcdf")]
pub(crate) mod extent;
pub(crate) mod frame;
#[cfg(feature = "netcdf")]
pub(crate) mod locate;
pub mod pair;
#[cfg(feature = "netcdf")]
pub mod regrid;
#[cfg(feature = "netcdf")]
pub(crate) mod section;
pub mod sounding;
#[cfg(feature = "netcdf")]
pub(crate) mod stations;
#[cfg(feature = "netcdf")]
pub(crate) mod tolerance;
#[cfg(feature = "netcdf")]
pub(crate) mod totals;
#[cfg(feature = "netcdf")]
mod unit_pair;
