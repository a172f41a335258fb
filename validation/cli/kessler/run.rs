//! `nwp-mini run --physics kessler`: water, files, restarts and ensembles.

use std::fs;

use netcdf::types::NcVariableType;

use nwp_mini_support::run::place::{Ended, Place};
use nwp_mini_support::run::result::Output;
use nwp_mini_support::run::small::Small;

const USAGE: i32 = 2;
/// Variables that the output does not have.
const FROZEN: [&str; 3] = ["QICE", "QSNOW", "SNOWNC"];
const SCHEME: [&str; 2] = ["--physics", "kessler"];
/// The precisions and the parts of all water that may stay unexplained.
const PROMISED: [(&str, f64); 2] = [("f32", 1e-6), ("f64", 1e-10)];

/// An input without ice, as the scheme itself writes it.
fn warm() -> Small {
    let mut small = Small::hybrid();
    for name in ["QICE", "QSNOW"] {
        small.remove(name);
    }
    small
}

fn run(place: &Place, options: &[&str]) -> Ended {
    let output: &[&str] = if options.contains(&"--output") { &[] } else { &["--output", "out.nc"] };
    let fixed = ["--force", "--json", "out.json"];
    place.run_small(&[&SCHEME[..], &fixed, output, options].concat()).good()
}

/// Names of the variables of ice and snow, including sums and means.
fn of_ice(output: &Output) -> Vec<String> {
    let mut names = output.names();
    names.retain(|name| FROZEN.iter().any(|frozen| name.starts_with(frozen)));
    names.sort();
    names
}

/// With all boundaries, both limiters and both precisions, for steps that the fall divides too.
#[test]
fn water_closes() {
    let place = Place::with(&Small::hybrid());
    for (precision, promised) in PROMISED {
        for boundary in ["specified", "periodic", "open,specified"] {
            for (limiter, dt) in [("pd", "90"), ("monotonic", "20"), ("none", "90")] {
                let about = format!("{precision} {boundary} {limiter}");
                let options = ["--boundary", boundary, "--limiter", limiter, "--dt", dt];
                run(&place, &[&options[..], &["--steps", "15", "--precision", precision]].concat());
                let figures = place.json("out.json");
                let term = |name: &str| figures["water"][name].as_f64().expect("a term");
                let closure = term("closure_rel");
                assert!(closure.abs() < promised, "{about}: {closure:e}");
                assert!(term("fallen") > 1e-4 * term("start"), "{about}: {figures}");
                // The fall conserves rain by other weights.
                assert!(term("fallout_residual").abs() > 1e-3 * term("fallen"), "{about}");
                assert!(term("mass_mismatch").abs() > 0.0, "{about}");
                let clipped = term("clipped") / term("start");
                if limiter == "none" {
                    assert!(clipped > 1e-7, "{about}: {clipped:e}");
                }
                let rain = place.open("out.nc").last("RAINNC");
                assert!(rain.iter().all(|mm| *mm >= 0.0) && rain.iter().any(|mm| *mm > 0.1));
                assert_eq!(figures["precipitation_frozen_mean_mm"], 0.0, "{about}");
            }
        }
    }
}

/// Ice and snow of the input are left out, with their mass in the log; who wants them carried names them as tracers.
#[test]
fn ice_and_snow_are_left_out() {
    let place = Place::with(&Small::new());
    let ended = run(&place, &["--steps", "2"]);
    for name in ["QICE", "QSNOW"] {
        let words = format!("{name} is not a species of Kessler and is ignored (");
        assert!(ended.stderr.contains(&words), "{}", ended.stderr);
    }
    let output = place.open("out.nc");
    assert_eq!(output.number("MP_PHYSICS"), 1.0);
    assert_eq!(of_ice(&output), Vec::<String>::new());
    let names = output.names();
    assert!(names.iter().all(|name| !name.starts_with("RE_") && name != "SR"), "{names:?}");
    assert!(output.last("REFL_10CM").iter().any(|dbz| *dbz > 20.0));
    drop(output);
    let ice = "[[tracer]]\nname = \"QICE\"\nunits = \"kg kg-1\"\ninitial = { kind = \"field\", variable = \"QICE\" }\n";
    fs::write(place.path("t.toml"), ice).expect("a file");
    run(&place, &["--steps", "2", "--tracers", "t.toml"]);
    let output = place.open("out.nc");
    let [first, last] = [0, 1].map(|time| output.frame("QICE", time));
    assert!(last.iter().any(|q| *q > 0.0) && first != last);
    drop(output);

    let place = Place::with(&warm());
    fs::write(place.path("p.csv"), "name,x,y\nhere,100000,90000\n").expect("places");
    let weights = ["weights", "--input", "small.nc", "--target", "xy", "--spacing", "30000"];
    let made = place.program(&weights).args(["--output", "w.nc"]).output().expect("it starts");
    assert!(made.status.success(), "{made:?}");
    run(&place, &["--steps", "2", "--regrid", "w.nc", "--points", "p.csv", "--profiles"]);
    for name in
        ["out.nc", "out.regrid.nc", "out.points.nc", "out.points.profiles.nc", "out.profiles.nc"]
    {
        let output = place.open(name);
        assert_eq!(of_ice(&output), Vec::<String>::new(), "{name}");
        let numbers = output
            .names()
            .into_iter()
            .filter(|name| !matches!(output.variable(name).vartype(), NcVariableType::Char));
        for name in numbers {
            assert!(output.values(&name).iter().all(|x| x.is_finite()), "{name}");
        }
    }
    // With WSM5 all variables are there, and the file of Kessler is valid input.
    place.run(&["-q", "--input", "out.nc", "--steps", "1", "--output", "wsm5.nc"]).good();
    let output = place.open("wsm5.nc");
    assert_eq!(output.number("MP_PHYSICS"), 4.0);
    assert!(FROZEN.iter().all(|name| of_ice(&output).contains(&(*name).to_owned())));
}

/// The scheme is reported: in the summary, in the figures, on the page, and if the input is of another one.
#[test]
fn the_scheme_is_reported() {
    let mut small = Small::new();
    small.set("MP_PHYSICS", 8.0);
    let place = Place::with(&small);
    let message = run(&place, &["--steps", "1", "--report", "out.html"]);
    assert!(message.stdout.contains("\nmicrophysics   Kessler\n"), "{}", message.stdout);
    for words in ["MP_PHYSICS 8", "Kessler (1)", "--physics"] {
        assert!(message.stderr.contains(words), "{}", message.stderr);
    }
    let figures = place.json("out.json");
    assert_eq!(figures["physics"], "Kessler");
    assert!(figures.get("fallout").is_none(), "{figures}");
    let page = fs::read_to_string(place.path("out.html")).expect("a page");
    assert!(page.contains("Kessler") && !page.contains("WSM5, fall"));

    let message = place.run_small(&["--steps", "1", "--output", "a.nc"]).good();
    assert!(
        message.stdout.contains("\nmicrophysics   WSM5, fallout SemiLagrangian\n"),
        "{}",
        message.stdout
    );
    assert!(message.stderr.contains("WSM5 (4)"), "{}", message.stderr);
    small.set("MP_PHYSICS", 1.0);
    let place = Place::with(&small);
    let message = run(&place, &["--steps", "1"]);
    assert!(!message.stderr.contains("MP_PHYSICS"), "{}", message.stderr);
}

/// A run in two parts has the bits of a whole one, and keeps to its scheme.
#[test]
fn restarts_keep_the_bits_and_the_scheme() {
    for (small, precision) in [(warm(), "f32"), (Small::hybrid(), "f64")] {
        let place = Place::with(&small);
        let made = ["--dt", "60", "--precision", precision];
        run(&place, &[&made[..], &["--steps", "7"]].concat());
        fs::rename(place.path("out.nc"), place.path("whole.nc")).expect("a file");
        let whole = place.json("out.json");
        run(&place, &[&made[..], &["--steps", "3", "--restart-output", "r.nc"]].concat());
        let on = ["-q", "--restart", "r.nc", "--output", "b.nc"];
        let more = ["--steps", "4", "--json", "b.json", "--restart-output", "s.nc"];
        place.run(&[&on[..], &more].concat()).good();
        let [all, part] = ["whole.nc", "b.nc"].map(|name| place.open(name));
        assert_eq!(of_ice(&all), of_ice(&part), "{precision}");
        assert_eq!(all.names(), part.names(), "{precision}");
        for name in ["T", "QVAPOR", "QCLOUD", "QRAIN", "RAINNC", "QRAIN_PATH"] {
            let bits = |output: &Output| -> Vec<u64> {
                output.last(name).iter().map(|x| x.to_bits()).collect()
            };
            assert!(bits(&all) == bits(&part), "{name} {precision}");
        }
        assert_eq!(whole["water"], place.json("b.json")["water"], "{precision}");
        let again = ["-q", "--restart", "s.nc", "--output", "c.nc", "--steps", "1"];
        place.run(&[&again[..], &SCHEME].concat()).good();
        assert_eq!(of_ice(&place.open("c.nc")), of_ice(&all), "{precision}");
        for (option, words) in [
            (["--physics", "wsm5"], ["--physics wsm5", "--physics kessler", "r.nc"]),
            (["--fallout", "substepped"], ["--fallout", "WSM5", "--physics kessler"]),
        ] {
            let refused =
                place.run(&["-q", "--restart", "r.nc", option[0], option[1], "-o", "d.nc"]);
            refused.refused(USAGE, &words);
        }
    }
    // A run of WSM5, whose file says nothing of other schemes.
    let place = Place::with(&Small::new());
    place.run_small(&["-q", "--steps", "1", "-o", "a.nc", "--restart-output", "r.nc"]).good();
    let refused = place.run(&["-q", "--restart", "r.nc", "--physics", "kessler", "-o", "b.nc"]);
    refused.refused(USAGE, &["--physics kessler", "--physics wsm5", "r.nc"]);
    place
        .run(&["-q", "--restart", "r.nc", "--physics", "wsm5", "-o", "b.nc", "--steps", "1"])
        .good();
}

/// Members have the bits of single runs, and differ by their initial states only.
#[test]
fn ensembles_differ_by_their_initial_states() {
    let place = Place::with(&warm());
    let text = "members = 3\n[initial.QVAPOR]\namplitude = 0.05\nlength = 40e3\n";
    fs::write(place.path("e.toml"), text).expect("a file");
    run(&place, &["--steps", "4", "--dt", "60", "--ensemble", "e.toml"]);
    let output = place.open("out.nc");
    assert_eq!(of_ice(&output), Vec::<String>::new());
    let rain = output.last("RAINNC");
    let member = |number: usize| rain.index_axis(ndarray::Axis(0), number).to_owned();
    assert!(member(0) != member(1) && member(1) != member(2));
    run(&place, &["--steps", "4", "--dt", "60", "--output", "alone.nc"]);
    assert_eq!(place.open("alone.nc").last("RAINNC"), member(0), "the control");

    let text = "members = 3\n[parameters]\nn0r = { factor = [0.5, 2] }\n";
    fs::write(place.path("e.toml"), text).expect("a file");
    let refused =
        place.run_small(&["-q", "--physics", "kessler", "--ensemble", "e.toml", "-o", "b.nc"]);
    refused.refused(USAGE, &["e.toml", "n0r is a parameter of WSM5", "[initial.NAME]"]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let place = Place::with(&warm());
    for (options, words) in [
        (&["--fallout", "substepped"][..], &["--fallout applies to WSM5 only", "omit it"][..]),
        (&["--output-vars", "T,QICE"], &["no variable \"QICE\"", "Kessler", "omit it"]),
    ] {
        let refused = place.run_small(&[&["-q", "-o", "b.nc"], &SCHEME[..], options].concat());
        refused.refused(USAGE, words);
        assert_eq!(place.files(), ["small.nc"]);
    }
    let refused = place.run_small(&["-q", "--physics", "wsm7"]);
    refused.refused(USAGE, &["wsm7", "wsm5, kessler, wsm6"]);
}
