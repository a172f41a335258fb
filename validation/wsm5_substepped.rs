//! The microphysics with sub-stepped fall: against WRF of July 2008 where its results are at hand,
//! against two published columns, and the properties it promises.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]
#![allow(unreachable_pub, reason = "the modules of a test have no users outside it")]

#[path = "support/mod.rs"]
#[allow(dead_code, reason = "all tests share it")]
mod support;

#[path = "wsm5/case.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod case;
#[path = "wsm5_substepped/command.rs"]
mod command;
#[path = "wsm5_substepped/judge.rs"]
mod judge;
#[path = "wsm5_substepped/properties.rs"]
mod properties;
#[path = "wsm5_substepped/reference.rs"]
mod reference;
#[path = "wsm5/report.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod report;
#[path = "wsm5_substepped/values.rs"]
mod values;
#[path = "wsm5_substepped/variant.rs"]
mod variant;
#[path = "wsm5/weather.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod weather;
#[path = "wsm5/yardstick.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod yardstick;
