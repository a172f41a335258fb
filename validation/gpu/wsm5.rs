//! The microphysics on the GPU: as WRF's own, as on the CPU, and what it promises.
#![allow(unreachable_pub, reason = "the modules of a test have no users outside it")]
#![allow(dead_code, reason = "some of these modules are shared with tests that use more of them")]

#[path = "../emulated/agreement.rs"]
mod agreement;
#[path = "../wsm5/case.rs"]
mod case;
#[path = "../emulated/columns.rs"]
mod columns;
#[path = "../emulated/difference.rs"]
mod difference;
#[path = "wsm5/engine.rs"]
mod engine;
#[path = "wsm5/fresh.rs"]
mod fresh;
#[path = "../wsm5/judge.rs"]
mod judge;
#[path = "wsm5/levels.rs"]
mod levels;
#[path = "../wsm5/parameters.rs"]
mod parameters;
#[path = "wsm5/places.rs"]
mod places;
#[path = "wsm5/reference.rs"]
mod reference;
#[path = "../wsm5/report.rs"]
mod report;
#[path = "wsm5/stand_in.rs"]
mod stand_in;
#[path = "../wsm5_substepped/judge.rs"]
mod substepped;
#[path = "wsm5/times.rs"]
mod times;
#[path = "../wsm5_substepped/variant.rs"]
mod variant;
#[path = "../wsm5/weather.rs"]
mod weather;
#[path = "../wsm5/yardstick.rs"]
mod yardstick;
