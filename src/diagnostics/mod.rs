//! Diagnostics of runs: budget, precipitation, comparisons, samples.

pub(crate) mod atoms;
pub(crate) mod budget;
pub(crate) mod column_ops;
pub(crate) mod comparison;
pub mod difference;
pub(crate) mod extent;
pub(crate) mod frame;
pub(crate) mod locate;
pub mod pair;
pub mod regrid;
pub(crate) mod section;
pub mod sounding;
pub(crate) mod stations;
pub(crate) mod tolerance;
pub(crate) mod totals;
mod unit_pair;
