//! The microphysics with sub-stepped fall: against WRF of July 2008 where its results are at hand,
//! against two published columns, and the properties it promises.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]
#![allow(unreachable_pub, reason = "the modules of a test have no users outside it")]

#[path = "support/mod.rs"]
#[allow(dead_code, reason = "all tests share it")]
mod support;

#[path = "wsm5_substepped/case.rs"]
mod case;
#[path = "wsm5_substepped/command.rs"]
mod command;
#[path = "wsm5_substepped/properties.rs"]
mod properties;
#[path = "wsm5_substepped/reference.rs"]
mod reference;
#[path = "wsm5_substepped/values.rs"]
mod values;
