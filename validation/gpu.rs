//! The GPU against the CPU and against the reference data. Every test says so and passes where
//! there is no GPU; with NWP_MINI_GPU=required it fails there.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]

#[path = "gpu/advection.rs"]
mod advection;
#[path = "gpu/bench.rs"]
mod bench;
#[path = "advection/case.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod case;
#[path = "gpu/csr.rs"]
mod csr;
#[path = "support/device.rs"]
mod device;
#[path = "gpu/ensemble.rs"]
mod ensemble;
#[path = "gpu/forcing.rs"]
mod forcing;
#[path = "advection/made_up.rs"]
mod made_up;
#[path = "gpu/memory.rs"]
mod memory;
#[path = "support/products.rs"]
mod products;
#[path = "support/random.rs"]
mod random;
#[path = "gpu/reduce.rs"]
mod reduce;
#[path = "gpu/restart.rs"]
mod restart;
#[path = "gpu/runtime.rs"]
mod runtime;
#[path = "gpu/samples.rs"]
mod samples;
#[path = "run/small.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod small;
#[path = "gpu/solver.rs"]
mod solver;
#[path = "gpu/storm.rs"]
mod storm;
#[path = "gpu/summary.rs"]
mod summary;
#[path = "support/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "all tests share it")]
mod support;
#[path = "gpu/transpose.rs"]
mod transpose;
#[path = "gpu/tuning.rs"]
mod tuning;
#[path = "gpu/wsm5.rs"]
mod wsm5;

use nwp_mini::gpu::{Gpu, Source};
use rayon::prelude::*;

use device::{gpu, seed};

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
