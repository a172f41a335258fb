//! The GPU against the CPU and against the reference data. Every test says so and passes where
//! there is no GPU; with NWP_MINI_GPU=required it fails there.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]

#[path = "gpu/advection.rs"]
mod advection;
#[path = "advection/case.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod case;
#[path = "gpu/forcing.rs"]
mod forcing;
#[path = "advection/made_up.rs"]
mod made_up;
#[path = "support/random.rs"]
mod random;
#[path = "gpu/runtime.rs"]
mod runtime;
#[path = "gpu/storm.rs"]
mod storm;
#[path = "support/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "all tests share it")]
mod support;
#[path = "gpu/wsm5.rs"]
mod wsm5;

use std::io::{Write, stderr};

use nwp_mini::gpu::{Gpu, Options, Source};
use rayon::prelude::*;

/// The GPU; `None`, with a line that says why, where there is none.
fn gpu(fast_math: bool) -> Option<Gpu> {
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

/// Compiles sources, many at a time, so that each comes from the cache afterwards.
fn prepare(gpu: &Gpu, mut sources: Vec<Source>) {
    sources.sort_by(|a, b| (a.file, &a.prelude).cmp(&(b.file, &b.prelude)));
    sources.dedup_by(|a, b| a.file == b.file && a.prelude == b.prelude);
    sources.into_par_iter().for_each(|source| {
        gpu.module(&source).unwrap_or_else(|error| panic!("{error}"));
    });
}

/// The folder of the project: that of cargo where it runs the test, so that an executable that was
/// built elsewhere finds the data.
fn project() -> String {
    std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned())
}

/// A seed that is another in every run, printed so that a failure can be had again with
/// NWP_MINI_SEED.
fn seed() -> u64 {
    let given = std::env::var("NWP_MINI_SEED").ok().and_then(|text| text.parse().ok());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = given.unwrap_or_else(|| now.map_or(0, |time| time.as_nanos() as u64));
    println!("NWP_MINI_SEED={seed}");
    seed
}
