//! Common code of the test executables of nwp-mini.
#![allow(clippy::print_stdout, reason = "tests say which data they read and how they fared")]
#![allow(missing_docs, reason = "fields of test cases are named for what they hold")]
#![allow(clippy::must_use_candidate, reason = "results of tests are looked at")]
#![allow(clippy::missing_panics_doc, reason = "tests that meet what they do not expect panic")]

use std::path::{Path, PathBuf};

pub mod advection;
pub mod chemistry;
pub mod column_reference;
pub mod device;
pub mod emulated_device;
pub mod file_locks;
pub mod files;
pub mod kernels;
pub mod kessler;
mod larger;
pub mod parts;
pub mod products;
pub mod random;
pub mod real;
mod reference;
pub mod run;
pub mod skip;
pub mod text;
pub mod toys;
pub mod wsm5;
pub mod wsm6;

pub use reference::{reference, reference_path, yardstick};

/// The folder of the project: that of cargo if it runs the test, so that an executable that was built elsewhere finds
/// the data.
pub fn project() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| here.ancestors().nth(2).expect("validation/support").into(), PathBuf::from)
}

/// The program under test, which cargo builds beside the test executables; on the emulated device, if the tests run on
/// it, the same program above that.
pub fn program() -> PathBuf {
    assert_cmd::cargo::cargo_bin(if device::is_emulated() {
        "nwp-mini-emulated"
    } else {
        "nwp-mini"
    })
}

/// Cargo's folder for files of tests, such as compiled kernels: beside the profile's, in which test executables are in
/// `deps`, and programs are not.
pub fn scratch() -> PathBuf {
    let executable = std::env::current_exe().expect("the path of the test executable");
    let folder = executable.parent().expect("an executable is in a folder");
    let profile = if folder.ends_with("deps") { folder.parent() } else { Some(folder) };
    profile.and_then(Path::parent).expect("target/PROFILE").join("tmp")
}
