//! The kernels of the transport, run on the host, against the CPU version and WRF's results.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]
#![allow(clippy::float_cmp, reason = "equal bits are what some tests are about")]

#[path = "support/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "all tests share it")]
mod support;

#[path = "advection/case.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod case;
#[path = "support/emulator.rs"]
mod emulator;
#[path = "emulated_advection/host.rs"]
mod host;
#[path = "advection/made_up.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod made_up;
#[path = "emulated_advection/reference.rs"]
mod reference;
#[path = "emulated_advection/same_bits.rs"]
mod same_bits;

use nwp_mini::gpu::advection::{Block, Shares};

/// Shares with small blocks of two sizes.
fn shares(cells: usize, levels: usize) -> Shares {
    let block = |threads| Block { threads, resident: 1 };
    Shares {
        stage: block(64),
        limited: block(96),
        cells,
        levels,
        in_turn: false,
        width: 3,
        tiled: false,
        stages_tiled: false,
    }
}
