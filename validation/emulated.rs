//! Kernels of the microphysics, run on the host thread by thread.
//!
//! In double precision they give what the CPU version gives; in single precision they are as near to
//! that as the CPU version in single precision.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]
#![allow(unreachable_pub, reason = "the modules of a test have no users outside it")]

#[path = "wsm5/case.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod case;
#[path = "support/emulator.rs"]
mod emulator;
#[path = "support/mod.rs"]
#[allow(dead_code, reason = "all tests share it")]
mod support;

#[path = "emulated/clouds.rs"]
mod clouds;
#[path = "emulated/diagnosis.rs"]
mod diagnosis;
#[path = "emulated/difference.rs"]
mod difference;
#[path = "emulated/faults.rs"]
mod faults;
#[path = "emulated/places.rs"]
mod places;
#[path = "emulated/same.rs"]
mod same;
#[path = "emulated/weather.rs"]
mod weather;
