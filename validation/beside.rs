//! What a run writes beside its output: fields on another grid, series at places, profiles; and the
//! weights that lead there.
#![allow(clippy::print_stdout, reason = "tells what was left out")]

#[path = "beside/fields.rs"]
mod fields;
#[path = "beside/forms.rs"]
mod forms;
#[path = "beside/made.rs"]
mod made;
#[path = "run/place.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod place;
#[path = "beside/points.rs"]
mod points;
#[path = "beside/profiles.rs"]
mod profiles;
#[path = "support/random.rs"]
mod random;
#[path = "support/real.rs"]
mod real;
#[path = "beside/refused.rs"]
mod refused;
#[path = "run/result.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod result;
#[path = "run/small.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod small;
#[path = "beside/weights.rs"]
mod weights;
