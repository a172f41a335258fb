//! The microphysics on the GPU, compared with WRF and with the CPU, and its properties.
#![allow(unreachable_pub, reason = "the modules of a test have no users outside it")]

mod engine;
mod fresh;
mod levels;
mod places;
mod reference;
mod stand_in;
mod times;

use nwp_mini_support::wsm5::{
    agreement, case, columns, difference, judge, parameters, report, substepped, variant, weather,
};
