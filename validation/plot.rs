//! `nwp-mini plot` and the page of `run --report`: pictures hold what they should, in numbers, words
//! and colours, and what cannot be drawn is said.

#[path = "plot/files.rs"]
mod files;
#[path = "plot/page.rs"]
mod page;
#[path = "plot/pictures.rs"]
mod pictures;
#[path = "run/place.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod place;
#[path = "plot/refused.rs"]
mod refused;
#[path = "run/result.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod result;
#[path = "run/small.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod small;
