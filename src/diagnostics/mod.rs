//! Diagnostics of runs: budget, precipitation, comparisons, samples.

pub mod atoms;
pub mod budget;
pub mod column_ops;
pub mod comparison;
pub mod difference;
pub mod extent;
pub mod frame;
pub mod locate;
pub mod pair;
pub mod regrid;
pub mod section;
pub mod sounding;
pub mod stations;
pub mod tolerance;
pub mod totals;
