//! The command `nwp-mini`.

use std::process::ExitCode;

fn main() -> ExitCode {
    nwp_mini::cli::main()
}
