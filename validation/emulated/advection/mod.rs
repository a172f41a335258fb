//! The kernels of the transport, run on the host, against the CPU version and WRF's results.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]
#![allow(clippy::float_cmp, reason = "equal bits are what some tests are about")]

pub(crate) mod host;
mod reference;
mod same_bits;

use nwp_mini_support as support;
use nwp_mini_support::advection::{case, random_cases};
use nwp_mini_support::emulator;

use nwp_mini::advection::gpu::{LaunchBounds, LaunchConfig};

/// A launch configuration with small blocks of two sizes.
pub(crate) fn launch_config(cells: usize, levels: usize) -> LaunchConfig {
    let block = |threads| LaunchBounds { threads, resident: 1 };
    LaunchConfig {
        stage: block(64),
        limited: block(96),
        cells,
        levels,
        linear_indexing: false,
        parts: 1,
        width: 3,
        tiled: false,
        stages_tiled: false,
    }
}
