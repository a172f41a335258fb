//! The GPU compared with the CPU and with the reference data. Without a GPU every test prints a message and passes;
//! with NWP_MINI_GPU=required it fails.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]

mod advection;
mod bench;
mod chemistry;
mod coupled;
mod csr;
mod embedded;
mod ensemble;
mod faults;
mod forcing;
mod kessler;
mod lattice;
mod memory;
mod needs;
mod parts;
mod reduce;
mod restart;
mod runtime;
mod same_bits;
mod samples;
mod several;
mod solver;
mod storm;
mod summary;
mod toys;
mod tracers;
mod transpose;
mod tuning;
mod user_scheme;
mod wsm5;
mod wsm6;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use nwp_mini_support as support;
use nwp_mini_support::advection::{case, random_cases};
use nwp_mini_support::files::model::{Flavour, Model};
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

/// The larger size or number on a GPU, the smaller one on the emulated device.
fn sized<T>(on_gpu: T, emulated: T) -> T {
    if device::is_emulated() { emulated } else { on_gpu }
}

/// The GPU for a test that the emulated device has no answer to, or none within seconds: there it is skipped, visibly.
fn real_gpu(fast_math: bool, why: &str) -> Option<Gpu> {
    if device::is_emulated() {
        support::skip::left_out(why);
        return None;
    }
    gpu(fast_math)
}

/// The emulated device, for a test of equal bits: a GPU has fused products and functions of its own.
fn emulated_gpu() -> Option<Gpu> {
    if !device::is_emulated() {
        support::skip::left_out_on_a_gpu("a GPU has other roundings than the CPU");
        return None;
    }
    gpu(false)
}

/// Reasons to need a GPU.
const IT_MEASURES: &str = "it measures times";
const IT_IS_LARGE: &str = "it is about large arrays";
const IT_IS_FAST_MATH: &str = "the emulated device has no fast-math";

/// The file of the cyclone; on the emulated device a part of it, with rain, snow and rows of an odd number of cells.
fn storm_file() -> PathBuf {
    static PART: LazyLock<tempfile::TempPath> = LazyLock::new(|| {
        let mut part = Model::read(&Path::new(&project()).join("data/soc.nc"));
        for (name, first, length) in [("west_east", 43, 19), ("south_north", 24, 15)] {
            part.cut(name, first, length);
            part.cut(&format!("{name}_stag"), first, length + 1);
        }
        part.set("WEST-EAST_GRID_DIMENSION", 20);
        part.set("SOUTH-NORTH_GRID_DIMENSION", 16);
        let path = tempfile::Builder::new().suffix(".nc").tempfile().unwrap().into_temp_path();
        part.write(&path, Flavour::Classic).unwrap();
        path
    });
    if device::is_emulated() {
        PART.to_path_buf()
    } else {
        Path::new(&project()).join("data/soc.nc")
    }
}

/// The folder of the project: that of cargo if it runs the test, so that an executable that was built elsewhere finds
/// the data.
fn project() -> String {
    std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned())
}
