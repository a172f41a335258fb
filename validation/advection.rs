//! Transport of tracers against WRF's own results, and the properties it promises.
#![allow(clippy::print_stdout, reason = "measured errors are worth reading")]
#![allow(clippy::float_cmp, reason = "equal bits are what some tests are about")]
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small indices")]

#[path = "support/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "all tests share it")]
mod support;

#[path = "advection/case.rs"]
mod case;
#[path = "advection/command.rs"]
mod command;
#[path = "advection/made_up.rs"]
mod made_up;
#[path = "advection/properties.rs"]
mod properties;
#[path = "advection/reference.rs"]
mod reference;
#[path = "advection/small.rs"]
mod small;
#[path = "advection/wrf_form.rs"]
mod wrf_form;
