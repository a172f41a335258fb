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

#[path = "emulated/agreement.rs"]
mod agreement;
#[path = "emulated/clouds.rs"]
mod clouds;
#[path = "emulated/columns.rs"]
mod columns;
#[path = "emulated/diagnosis.rs"]
mod diagnosis;
#[path = "emulated/difference.rs"]
mod difference;
#[path = "emulated/faults.rs"]
mod faults;
#[path = "emulated/flaws.rs"]
mod flaws;
#[path = "emulated/places.rs"]
mod places;
#[path = "support/random.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod random;
#[path = "wsm5/report.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod report;
#[path = "emulated/same.rs"]
mod same;
#[path = "wsm5/weather.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod weather;
