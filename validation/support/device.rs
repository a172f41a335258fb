//! The GPU of the tests.

use std::io::{Write, stderr};

use nwp_mini::device::{Gpu, Options, driver};

use crate::emulated_device;

/// Returns `true` if the tests run on the emulated device: NWP_MINI_GPU=emulated.
pub fn is_emulated() -> bool {
    std::env::var("NWP_MINI_GPU").is_ok_and(|value| value == "emulated")
}

/// The GPU; `None` without one, with a line that states the reason.
pub fn gpu(fast_math: bool) -> Option<Gpu> {
    if is_emulated() {
        driver::install(emulated_device::open);
    }
    match Gpu::open(&Options { fast_math, ..Options::default() }) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            let required = std::env::var("NWP_MINI_GPU").is_ok_and(|value| value == "required");
            assert!(!required, "NWP_MINI_GPU=required, but {error}");
            // Past the capture of the test's output: a test that was left out should be seen.
            let _ = writeln!(stderr(), "skipped: {error}");
            None
        }
    }
}

/// A seed that is another in every run, printed so that a failure can be had again with
/// NWP_MINI_SEED.
pub fn seed() -> u64 {
    let given = std::env::var("NWP_MINI_SEED").ok().and_then(|text| text.parse().ok());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = given.unwrap_or_else(|| now.map_or(0, |time| time.as_nanos() as u64));
    println!("NWP_MINI_SEED={seed}");
    seed
}
