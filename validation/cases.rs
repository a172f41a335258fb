//! Idealised cases and imported ones: what `nwp-mini init` and `nwp-mini import` write, and what runs
//! make of it.
#![allow(clippy::print_stdout, reason = "tells the figures that the README has")]

#[path = "cases/clouds.rs"]
mod clouds;
#[path = "cases/import.rs"]
mod import;
#[path = "cases/kinematic.rs"]
mod kinematic;
#[path = "cases/made.rs"]
mod made;
#[path = "run/place.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod place;
#[path = "support/random.rs"]
mod random;
#[path = "cases/refused.rs"]
mod refused;
#[path = "run/result.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod result;
#[path = "run/small.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod small;
#[path = "cases/story.rs"]
mod story;
#[path = "cases/tracers.rs"]
mod tracers;
