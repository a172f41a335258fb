//! The command `nwp-mini` with the emulated device as its GPU, for tests.

use std::process::ExitCode;

use nwp_mini::device::driver;
use nwp_mini_support::emulated_device;

fn main() -> ExitCode {
    driver::install(emulated_device::open);
    nwp_mini::cli::main()
}
