//! The command `nwp-mini` with the emulated device as its GPU and with toy schemes in its registry, for tests.

use std::process::ExitCode;

use nwp_mini::device::driver;
use nwp_mini_support::{emulated_device, toys};

fn main() -> ExitCode {
    driver::install(emulated_device::open);
    toys::register();
    nwp_mini::cli::main()
}
