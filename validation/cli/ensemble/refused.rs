//! Combinations of options that `run --ensemble` rejects; errors in the file itself are tested in
//! `src/ensemble/file.rs`.

use std::fs;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::Backend;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::error::Error;
use nwp_mini::io::wrf;
use nwp_mini::model::RunInput;
use nwp_mini::physics::registry;

use super::ensemble;
use super::place::Place;
use super::small::Small;

const USAGE: i32 = 2;

#[test]
fn options_of_single_runs_are_refused() {
    let place = ensemble(3, "");
    for options in [
        &["--backend", "both"][..],
        &["--restart-output", "r.nc"],
        &["--restart-interval", "60"],
        &["--regrid", "w.nc"],
        &["--points", "p.csv"],
        &["--profiles"],
        &["--report", "r.html"],
    ] {
        let ended = place.run_small(&[&["--ensemble", "e.toml"], options].concat());
        ended.refused(USAGE, &["--ensemble cannot be combined with", options[0]]);
    }
    let ended = place.run_small(&["--ensemble", "e.toml", "--json", "e.toml", "--force"]);
    ended.refused(USAGE, &["--json is the file of --ensemble"]);
    assert_eq!(place.files(), ["e.toml", "small.nc"]);
}

#[test]
fn files_that_do_not_fit_are_refused_and_leave_nothing() {
    let place = Place::with(&Small::new());
    place.run_small(&["--ensemble", "e.toml"]).refused(3, &["e.toml", "No such file"]);
    for (text, words) in [
        ("members = 0", &["e.toml: members = 0"][..]),
        ("members = 3\n[initial.T]\namplitude = 1\nlevels = [0, 9]", &["[initial.T]", "8 levels"]),
        (
            "members = 3\n[initial.T]\namplitude = 1\nlength = 1e6",
            &["length = 1000000", "240000 m"],
        ),
        ("members = 3\n[parameters]\nn0r = { factor = [1, 1e9] }", &["n0r: 8e15", "1e3 and 1e11"]),
    ] {
        fs::write(place.path("e.toml"), text).expect("a file");
        place.run_small(&["--ensemble", "e.toml"]).refused(USAGE, words);
        assert_eq!(place.files(), ["e.toml", "small.nc"]);
    }
}

/// Numerical instability is reported with the member; complete frames stay.
#[test]
fn a_member_that_blows_up_is_named() {
    let place = Place::with(&Small::new());
    let (domain, frame) = wrf::read(&place.path("small.nc"), None).expect("an input");
    let mut case = RunInput::<f32>::new(domain, frame).expect("a case");
    let state = case.take_state();
    let starts = (0..4).map(|member| {
        let mut state = state.clone();
        if member == 2 {
            state.named_mut("qi")[[3, 4, 5]] = f32::NAN;
        }
        (registry::usual(), state)
    });
    let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
    let limiter = Limiter::PositiveDefinite;
    let mut members = Cpu::of_members(grid, coordinate, limiter, &case.forcing, starts);
    let error = members.check(7, true).expect_err("not a number");
    assert_eq!(error.exit_code(), 5);
    let text = error.to_string();
    assert!(text.starts_with("member 2: qi became NaN in cell i=5 j=4 k=3 at step 7"), "{text}");
    assert!(matches!(error, Error::Member { member: 2, .. }));
}
