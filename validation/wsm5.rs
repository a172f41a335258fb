//! Cloud microphysics against WRF's own results, process by process and as a whole, and the
//! properties it promises.

#![allow(unreachable_pub, reason = "the modules of a test have no users outside it")]
#![allow(clippy::print_stdout, reason = "figures of a test, shown when it fails or is asked")]

#[path = "support/mod.rs"]
#[allow(dead_code, reason = "shared with tests that need other parts of it")]
mod support;

#[path = "wsm5/abreast.rs"]
mod abreast;
#[path = "wsm5/case.rs"]
mod case;
#[path = "wsm5/command.rs"]
mod command;
#[path = "wsm5/comparison.rs"]
mod comparison;
#[path = "wsm5/fall.rs"]
mod fall;
#[path = "wsm5/judge.rs"]
mod judge;
#[path = "wsm5/levels.rs"]
mod levels;
#[path = "wsm5/parameters.rs"]
mod parameters;
#[path = "wsm5/processes.rs"]
mod processes;
#[path = "wsm5/properties.rs"]
mod properties;
#[path = "wsm5/rates.rs"]
mod rates;
#[path = "wsm5/reference.rs"]
mod reference;
#[path = "wsm5/refused.rs"]
mod refused;
#[path = "wsm5/report.rs"]
mod report;
#[path = "wsm5/stored.rs"]
mod stored;
#[path = "wsm5/values.rs"]
mod values;
#[path = "wsm5/weather.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod weather;
#[path = "wsm5/yardstick.rs"]
mod yardstick;
