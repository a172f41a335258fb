//! Every division of the grid and of an ensemble has the bits of one process.

use std::fs;

use nwp_mini_support::project;

use super::{Launcher, Place, check_figures, check_file, place};

/// Numbers of ranks, with the options of each.
type Divisions<'a> = [(usize, &'a [&'a str])];

/// Runs in one process and on ranks, and compares files and figures.
fn check(launcher: &Launcher, place: &Place, arguments: &[&str], divisions: &Divisions<'_>) {
    let run = |stem: &str, more: &[&str]| {
        let names = [format!("{stem}.nc"), format!("{stem}.json")];
        let fixed = ["run", "-q", "--force", "--input", "small.nc", "--backend", "cpu"];
        let files = ["--output", &names[0], "--json", &names[1]];
        [&fixed[..], &files, arguments, more].concat().iter().map(|x| (*x).to_owned()).collect()
    };
    let words: Vec<String> = run("one", &[]);
    place.command(&words.iter().map(String::as_str).collect::<Vec<_>>()).good();
    for (ranks, more) in divisions {
        let about = format!("{arguments:?} on {ranks} ranks, {more:?}");
        let words: Vec<String> = run("several", more);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        launcher.run(place, *ranks, &words).good();
        check_file(&about, place, ["one.nc", "several.nc"]);
        check_figures(&about, &place.json("one.json"), &place.json("several.json"), *ranks);
    }
}

const STEPS: [&str; 4] = ["--steps", "3", "--dt", "30"];

#[test]
fn a_grid_in_parts_on_any_sides_with_any_limiter() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    let cases: [([&str; 3], &Divisions<'_>); 6] = [
        (["specified", "pd", "f32"], &[(2, &["--ranks", "2x1"]), (6, &["--ranks", "3x2"])]),
        (["periodic", "none", "f64"], &[(2, &["--ranks", "1x2"]), (4, &["--ranks", "2x2"])]),
        (["open", "monotonic", "f32"], &[(4, &[]), (3, &[])]),
        (["periodic,open", "pd", "f64"], &[(6, &[])]),
        (["open,specified", "monotonic", "f64"], &[(3, &["--ranks", "3x1"])]),
        (["specified,periodic", "pd", "f32"], &[(4, &["--ranks", "2x2"])]),
    ];
    for ([boundary, limiter, precision], divisions) in cases {
        let scheme = ["--boundary", boundary, "--limiter", limiter, "--precision", precision];
        check(&launcher, &place, &[&STEPS[..], &scheme].concat(), divisions);
    }
}

#[test]
fn every_scheme_with_tracers_that_decay() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    let tracers = "[[tracer]]\nname = \"smoke\"\nunits = \"ug kg-1\"\n\
                   initial = { kind = \"constant\", value = 1e9 }\ndecay = 3600.0\n\
                   [[tracer]]\nname = \"dust\"\nunits = \"1\"\ninitial = { kind = \"constant\", value = 1e-25 }\n";
    fs::write(place.path("t.toml"), tracers).expect("a file");
    let schemes: [&[&str]; 4] =
        [&["--physics", "wsm6"], &["--physics", "kessler"], &["--fallout", "substepped"], &[]];
    for scheme in schemes {
        let arguments = [&STEPS[..], &["--tracers", "t.toml"], scheme].concat();
        check(&launcher, &place, &arguments, &[(4, &[])]);
    }
}

#[test]
fn chemistry_whose_cells_keep_their_steps() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    let radm2 = project().join("data/chemistry/radm2.kpp").display().to_string();
    let by_day = ["--chemistry", &radm2, "--date", "2005-06-21_12:00:00"];
    check(&launcher, &place, &[&["--steps", "2", "--dt", "30"][..], &by_day].concat(), &[(2, &[])]);
}

#[test]
fn members_of_an_ensemble() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    let ensemble = "members = 5\nseed = 3\n[parameters]\nn0r = { factor = [0.5, 2.0] }\n\
                    [initial.QVAPOR]\namplitude = 0.03\nlength = 90e3\n";
    fs::write(place.path("e.toml"), ensemble).expect("a file");
    check(
        &launcher,
        &place,
        &[&STEPS[..], &["--ensemble", "e.toml"]].concat(),
        &[(2, &[]), (3, &[])],
    );
    let words = ["run", "--input", "small.nc", "--ensemble", "e.toml", "--steps", "1"];
    let too_many = launcher.run(&place, 6, &words);
    too_many.refused(2, &["e.toml", "5 members", "6 ranks", "at most 5"]);
    let divided = launcher.run(&place, 2, &[&words[..], &["--ranks", "2x1"]].concat());
    divided.refused(2, &["--ranks", "--ensemble"]);
}
