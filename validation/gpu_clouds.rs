//! The microphysics on the GPU: against WRF, against the CPU version, and in any place. Every test
//! says so and passes where there is no GPU; with NWP_MINI_GPU=required it fails there.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]
#![allow(unreachable_pub, reason = "the modules of a test have no users outside it")]

#[path = "wsm5/case.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod case;
#[path = "support/device.rs"]
mod device;
#[path = "wsm5/judge.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod judge;
#[path = "gpu_clouds/pairs.rs"]
mod pairs;
#[path = "support/random.rs"]
mod random;
#[path = "gpu_clouds/reference.rs"]
mod reference;
#[path = "gpu_clouds/run.rs"]
mod run;
#[path = "support/mod.rs"]
#[allow(dead_code, reason = "all tests share it")]
mod support;
#[path = "gpu_clouds/times.rs"]
mod times;
#[path = "wsm5/yardstick.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod yardstick;
