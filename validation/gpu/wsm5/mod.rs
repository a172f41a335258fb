//! The microphysics on the GPU, compared with WRF and with the CPU, and its properties.
#![allow(unreachable_pub, reason = "the modules of a test have no users outside it")]

pub mod engine;
mod fresh;
mod levels;
mod notes;
mod places;
mod reference;
pub mod same_bits;
mod stand_in;
mod times;

use nwp_mini_support::wsm5::{
    agreement, case, columns, difference, judge, parameters, report, substepped, variant, weather,
};
