//! `nwp-mini run --ensemble`: members compared with single runs, mean and spread, rejected options.

mod alone;
mod file;
mod refused;

use nwp_mini_support::run::{place, result, small};

use place::Place;
use small::Small;

/// Perturbations of most tests here: parameters of both kinds of precision, and two fields.
const CHANGES: &str = "
seed = 7
[parameters]
n0r = { factor = [0.3, 3] }
alpha = { range = [0.05, 0.2] }
[initial.QVAPOR]
amplitude = 0.05
length = 40e3
levels = [0, 5]
[initial.T]
amplitude = 0.5
";

/// A folder with `small.nc` and a description of an ensemble as `e.toml`.
fn ensemble(members: usize, more: &str) -> Place {
    let place = Place::with(&Small::new());
    let text = format!("members = {members}\n{more}{CHANGES}");
    std::fs::write(place.path("e.toml"), text).expect("a file");
    place
}
