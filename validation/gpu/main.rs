//! The GPU compared with the CPU and with the reference data. Without a GPU every test prints a message and passes;
//! with NWP_MINI_GPU=required it fails.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]

mod advection;
mod bench;
mod chemistry;
mod coupled;
mod csr;
mod ensemble;
mod forcing;
mod kessler;
mod lattice;
mod memory;
mod needs;
mod reduce;
mod restart;
mod runtime;
mod samples;
mod solver;
mod storm;
mod summary;
mod tracers;
mod transpose;
mod tuning;
mod wsm5;

use nwp_mini_support as support;
use nwp_mini_support::advection::{case, random_cases};
use nwp_mini_support::run::small;
use nwp_mini_support::{device, products, random};

use nwp_mini::device::{Gpu, KernelSource};
use rayon::prelude::*;

use device::{gpu, seed};

/// Compiles sources, many at a time, so that each comes from the cache afterwards.
fn prepare(gpu: &Gpu, mut sources: Vec<KernelSource>) {
    sources.sort_by(|a, b| (a.file, &a.prelude).cmp(&(b.file, &b.prelude)));
    sources.dedup_by(|a, b| a.file == b.file && a.prelude == b.prelude);
    sources.into_par_iter().for_each(|source| {
        gpu.module(&source).unwrap_or_else(|error| panic!("{error}"));
    });
}

/// The folder of the project: that of cargo if it runs the test, so that an executable that was built elsewhere finds
/// the data.
fn project() -> String {
    std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned())
}
