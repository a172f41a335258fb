//! `nwp-mini run --physics wsm6`: graupel in files, water, restarts, ensembles, and inputs of the scheme.

use std::fs;

use nwp_mini_support::run::place::{Ended, Place};
use nwp_mini_support::run::result::Output;
use nwp_mini_support::run::small::Small;

/// Exit code of wrong usage, as `--help` lists it.
const USAGE: i32 = 2;
const SCHEME: [&str; 2] = ["--physics", "wsm6"];
/// Variables of the output that WSM5 does not have.
const OF_GRAUPEL: [&str; 3] = ["GRAUPELNC", "QGRAUP", "QGRAUP_PATH"];
/// The precisions and the parts of all water that may stay unexplained.
const PROMISED: [(&str, f64); 2] = [("f32", 1e-6), ("f64", 1e-10)];

/// An input of the scheme, with graupel in the middle of the grid.
fn of_wsm6() -> Small {
    let mut small = Small::hybrid();
    small.set("MP_PHYSICS", 6.0);
    let graupel = small.values("QSNOW").mapv(|snow| 2.0 * snow + 1e-4);
    small.add_like("QGRAUP", "QSNOW", graupel);
    small
}

fn run(place: &Place, options: &[&str]) -> Ended {
    let output: &[&str] = if options.contains(&"--output") { &[] } else { &["--output", "out.nc"] };
    place.run_small(&[&["--force", "--json", "out.json"], output, options].concat()).good()
}

fn of_graupel(output: &Output) -> Vec<String> {
    let mut names = output.names();
    names.retain(|name| OF_GRAUPEL.contains(&&**name));
    names.sort();
    names
}

fn bits(output: &Output, name: &str) -> Vec<u64> {
    output.last(name).iter().map(|x| x.to_bits()).collect()
}

/// With all boundaries, both kinds of ice and both precisions, for steps that the scheme divides too.
#[test]
fn water_closes_and_graupel_reaches_the_ground() {
    let place = Place::with(&of_wsm6());
    for (precision, promised) in PROMISED {
        for boundary in ["specified", "periodic", "open,specified"] {
            for (kind, dt) in [("graupel", "150"), ("hail", "20")] {
                let about = format!("{precision} {boundary} {kind}");
                let options = ["--boundary", boundary, "--graupel", kind, "--dt", dt];
                run(&place, &[&options[..], &["--steps", "12", "--precision", precision]].concat());
                let figures = place.json("out.json");
                let term = |name: &str| figures["water"][name].as_f64().expect("a term");
                let closure = term("closure_rel");
                assert!(closure.abs() < promised, "{about}: {closure:e}");
                assert!(term("fallen") > 0.0, "{about}: {figures}");
                let output = place.open("out.nc");
                let [rain, snow, graupel] =
                    ["RAINNC", "SNOWNC", "GRAUPELNC"].map(|name| output.last(name));
                assert!(graupel.iter().any(|mm| *mm > 1e-3), "{about}");
                for ((rain, snow), graupel) in rain.iter().zip(&snow).zip(&graupel) {
                    let frozen = snow + graupel;
                    assert!(*graupel >= 0.0 && frozen <= rain * (1.0 + 1e-5), "{about}: {rain}");
                }
                let mean = figures["precipitation_frozen_mean_mm"].as_f64().expect("a mean");
                assert!(mean > 0.0, "{about}: {figures}");
            }
        }
    }
}

/// MP_PHYSICS of the first input chooses the scheme; an option of WSM5 is then an error, and --physics has the last word.
#[test]
fn inputs_of_the_scheme_choose_it() {
    let place = Place::with(&of_wsm6());
    let ended = run(&place, &["--steps", "2", "--report", "out.html"]);
    assert!(ended.stdout.contains("\nmicrophysics   WSM6, graupel Graupel\n"), "{}", ended.stdout);
    for words in ["MP_PHYSICS 6", "WSM6", "--physics"] {
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
    let figures = place.json("out.json");
    assert_eq!([&figures["physics"], &figures["graupel"]], ["WSM6", "Graupel"]);
    assert!(figures.get("fallout").is_none(), "{figures}");
    let page = fs::read_to_string(place.path("out.html")).expect("a page");
    assert!(page.contains("WSM6, graupel Graupel"));
    let output = place.open("out.nc");
    assert_eq!(output.number("MP_PHYSICS"), 6.0);
    assert_eq!(of_graupel(&output), OF_GRAUPEL);
    for name in ["QGRAUP", "REFL_10CM", "RE_CLOUD", "RE_ICE", "RE_SNOW"] {
        assert!(output.last(name).iter().any(|x| *x > 0.0), "{name}");
    }
    let info = place.program(&["info", "small.nc"]).output().expect("the program starts");
    let info = String::from_utf8_lossy(&info.stdout).into_owned();
    assert!(info.contains("\nmicrophysics   WSM6\n") && info.contains("QGRAUP"), "{info}");

    // The output of a run is an input of the scheme.
    place.run(&["-q", "--input", "out.nc", "--steps", "1", "--output", "on.nc"]).good();
    assert_eq!(place.open("on.nc").number("MP_PHYSICS"), 6.0);

    let refused =
        place.run_small(&["-q", "--fallout", "substepped", "--steps", "1", "--output", "no.nc"]);
    refused.refused(USAGE, &["--fallout", "MP_PHYSICS", "6", "WSM6", "--physics wsm5"]);
    let wsm5 = ["--physics", "wsm5", "--fallout", "substepped"];
    let ended = run(&place, &[&wsm5[..], &["--steps", "1"]].concat());
    assert!(ended.stderr.contains("QGRAUP is not a species of WSM5"), "{}", ended.stderr);
    assert_eq!(place.open("out.nc").number("MP_PHYSICS"), 4.0);

    for number in [0.0, 1.0, 4.0, 8.0, 16.0] {
        let mut small = of_wsm6();
        small.set("MP_PHYSICS", number);
        let place = Place::with(&small);
        run(&place, &["--steps", "1"]);
        assert_eq!(place.json("out.json")["physics"], "WSM5", "MP_PHYSICS {number}");
    }
}

/// A file without graupel begins without it, and the scheme makes some.
#[test]
fn a_file_without_graupel_has_none_at_first() {
    let place = Place::with(&Small::hybrid());
    run(&place, &[&SCHEME[..], &["--steps", "20", "--dt", "60"]].concat());
    let output = place.open("out.nc");
    assert!(output.frame("QGRAUP", 0).iter().all(|q| *q == 0.0));
    assert!(output.last("QGRAUP").iter().any(|q| *q > 1e-7));
}

/// A run in two parts has the bits of a whole one, and keeps to its scheme and its kind of ice.
#[test]
fn restarts_keep_the_bits_and_the_scheme() {
    let place = Place::with(&of_wsm6());
    for precision in ["f32", "f64"] {
        let made = ["--dt", "60", "--precision", precision, "--graupel", "hail"];
        run(&place, &[&made[..], &["--steps", "7"]].concat());
        fs::rename(place.path("out.nc"), place.path("whole.nc")).expect("a file");
        let whole = place.json("out.json");
        run(&place, &[&made[..], &["--steps", "3", "--restart-output", "r.nc"]].concat());
        let on = ["-q", "--force", "--restart", "r.nc", "--output", "b.nc"];
        place.run(&[&on[..], &["--steps", "4", "--json", "b.json"]].concat()).good();
        let [all, part] = ["whole.nc", "b.nc"].map(|name| place.open(name));
        assert_eq!(all.names(), part.names(), "{precision}");
        for name in ["T", "QVAPOR", "QGRAUP", "RAINNC", "SNOWNC", "GRAUPELNC", "REFL_10CM"] {
            assert!(bits(&all, name) == bits(&part, name), "{name} {precision}");
        }
        let part = place.json("b.json");
        assert_eq!(whole["water"], part["water"], "{precision}");
        assert_eq!([&part["physics"], &part["graupel"]], ["WSM6", "Hail"]);
        for (option, words) in [
            (["--physics", "wsm5"], ["--physics wsm5", "--physics wsm6", "r.nc"]),
            (["--graupel", "graupel"], ["--graupel graupel", "--graupel hail", "r.nc"]),
            (["--fallout", "substepped"], ["--fallout", "WSM5", "--physics wsm6"]),
        ] {
            let refused =
                place.run(&["-q", "--restart", "r.nc", option[0], option[1], "-o", "d.nc"]);
            refused.refused(USAGE, &words);
        }
        fs::remove_file(place.path("r.nc")).expect("a restart file");
    }
}

/// Members differ by parameters of graupel and of snow; the control has the bits of a run alone.
#[test]
fn ensembles_differ_by_its_parameters() {
    let place = Place::with(&of_wsm6());
    let text = "members = 3\n[parameters]\nn0g = { factor = [0.1, 10] }\n\
                fall_graupel = { range = [200, 600] }\nn0s = { factor = [0.5, 2] }\n";
    fs::write(place.path("e.toml"), text).expect("a file");
    run(&place, &["--steps", "4", "--dt", "60", "--ensemble", "e.toml"]);
    let output = place.open("out.nc");
    let graupel = output.last("GRAUPELNC");
    let member = |number: usize| graupel.index_axis(ndarray::Axis(0), number).to_owned();
    assert!(member(0) != member(1) && member(1) != member(2));
    run(&place, &["--steps", "4", "--dt", "60", "--output", "alone.nc"]);
    assert_eq!(place.open("alone.nc").last("GRAUPELNC"), member(0), "the control");

    let refused =
        place.run_small(&["-q", "--physics", "wsm5", "--ensemble", "e.toml", "-o", "b.nc"]);
    refused.refused(USAGE, &["e.toml", "fall_graupel is a parameter of WSM6"]);
}
