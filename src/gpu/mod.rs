//! Launchers for several subjects at once on the [device](crate::device): the end of a step, sums, and the catalogue of
//! all kernels. Other launchers are in the modules `gpu` of their subjects.

#![allow(unsafe_code, reason = "the launcher of a kernel is responsible for its arguments")]

pub mod arguments;
pub mod budget;
pub mod column_profiles;
pub mod device_status;
mod kernel_list;
pub mod margins;
pub mod prelude;
pub mod step_end;
pub mod summary;
pub mod tuning;

pub use kernel_list::{DOUBLE_SUMS, Entry, catalogue, catalogue_of};
