//! Passive tracers: from their file to the output, restart files, ensembles, places and budgets.

use std::path::PathBuf;

use serde_json::Value;

use super::place::Place;
use super::result::Output;
use super::small::Small;
use super::tracers_file::{NAMES, TRACERS};

fn place() -> Place {
    let place = Place::with(&Small::new());
    std::fs::write(place.path("t.toml"), TRACERS).expect("a file");
    place
}

/// The budget of a tracer.
fn budget<'a>(figures: &'a Value, name: &str) -> &'a Value {
    let all = figures["tracers"].as_array().expect("budgets");
    all.iter().find(|budget| budget["name"] == name).unwrap_or_else(|| panic!("{name}: {figures}"))
}

fn term(figures: &Value, name: &str, term: &str) -> f64 {
    budget(figures, name)[term].as_f64().expect("a number")
}

fn most(output: &Output, name: &str, time: usize) -> [f64; 2] {
    let values = output.frame(name, time);
    values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(*x), b.max(*x)])
}

/// The program does not know the names of these tracers, and they do not affect the water.
#[test]
fn they_are_carried_with_the_water() {
    let place = place();
    // The winds conserve mass up to the residual of the projection, and a constant stays constant up to that.
    for (precision, close, constant) in [("f32", 1e-6, 1e-5), ("f64", 1e-12, 1e-9)] {
        let options = ["--steps", "6", "--dt", "60", "--precision", precision];
        let (_, alone) = place.figures(&options);
        let bits_alone = alone.bits();
        drop(alone);
        let (figures, output) = place.figures(&[&options[..], &["--tracers", "t.toml"]].concat());
        let bits = output.bits();
        assert!(bits_alone.iter().all(|of_one| bits.contains(of_one)), "{precision}: the water");
        for (name, units) in NAMES.into_iter().zip(["1", "kg kg-1", "ppbv", "ug m-3", "Pa", "1"]) {
            assert_eq!(output.text_of(name, "units"), units);
            assert_eq!(output.text_of(name, "coordinates"), "XLONG XLAT XTIME");
            let left = term(&figures, name, "closure_rel");
            assert!(left.abs() < close, "{precision} {name}: {left:e} unexplained");
        }
        assert_eq!(output.text_of("pressure_wave", "description"), "what the pressure was");
        let ends = most(&output, "smoke", 1);
        assert!(ends.iter().all(|x| (x - 1.0).abs() < constant), "{precision}: {ends:?}");
        // Limited from above too, and e times less in ten minutes.
        let [first, last] = [0, 1].map(|time| most(&output, "hill", time));
        let left = (-360.0_f64 / 600.0).exp();
        assert!(last[1] <= first[1] * left * (1.0 + 1e-5) && last[0] >= 0.0, "{first:?} {last:?}");
        assert!(last[1] > 0.5 * first[1] * left, "{first:?} {last:?}");
        let lost = term(&figures, "hill", "decayed") / term(&figures, "hill", "start");
        assert!((lost + 1.0 - left).abs() < 0.05, "{lost}");
        assert_eq!(term(&figures, "echo", "decayed"), 0.0);
        assert_eq!(output.frame("echo", 0), output.frame("hill", 0));
        assert_eq!(output.frame("vapour", 0), output.frame("QVAPOR", 0));
        assert_eq!(output.frame("pressure_wave", 0), output.frame("P", 0));
    }
}

#[test]
fn a_restart_goes_on_with_them_to_the_bit() {
    let place = place();
    let run = |arguments: &[&str]| place.run(&[&["-q", "--force"], arguments].concat()).good();
    let begin = ["--input", "small.nc", "--dt", "60", "--tracers", "t.toml"];
    run(&[&begin[..], &["--steps", "5", "--output", "whole.nc", "--json", "whole.json"]].concat());
    let halfway = ["--steps", "2", "--output", "a.nc", "--restart-output", "r.nc"];
    run(&[&begin[..], &halfway].concat());
    run(&["--restart", "r.nc", "--steps", "3", "--output", "b.nc", "--json", "b.json"]);
    assert_eq!(place.open("whole.nc").last_bits(), place.open("b.nc").last_bits());
    assert_eq!(place.json("whole.json")["tracers"], place.json("b.json")["tracers"]);
    place
        .run(&["--restart", "r.nc", "--steps", "1", "--tracers", "t.toml", "--output", "c.nc"])
        .refused(2, &["--tracers", "--restart"]);
}

#[test]
fn places_profiles_other_grids_and_ensembles_have_them() {
    let place = place();
    std::fs::write(place.path("p.csv"), "name,x,y\nhere,30000,20000\n").expect("a file");
    let aux = ["--points", "p.csv", "--profiles", "--output", "o.nc", "--output-vars", "smoke,T"];
    let run = ["-q", "--input", "small.nc", "--steps", "2", "--tracers", "t.toml"];
    place.run(&[&run[..], &aux].concat()).good();
    let names = place.open("o.nc").names();
    assert!(
        names.contains(&"smoke".to_owned()) && !names.contains(&"hill".to_owned()),
        "{names:?}"
    );
    for file in ["o.points.profiles.nc", "o.profiles.nc"] {
        let output = netcdf::open(place.path(file)).expect("a file beside the output");
        for name in NAMES {
            let variable = output.variable(name).unwrap_or_else(|| panic!("{file}: {name}"));
            let values: Vec<f64> = variable.get_values(..).expect("values");
            assert!(
                values.iter().all(|x| x.is_finite()) && values.iter().any(|x| *x != 0.0),
                "{name}"
            );
        }
    }
    let text = "members = 2\n[initial.QVAPOR]\namplitude = 0.05\n";
    std::fs::write(place.path("e.toml"), text).expect("a file");
    place.run(&[&run[..], &["--ensemble", "e.toml", "--output", "e.nc"]].concat()).good();
    let ensemble = place.open("e.nc");
    for name in NAMES {
        assert_eq!(ensemble.variable(name).dimensions()[1].name(), "member");
        let mean = ensemble.last(&format!("{name}_ENSEMBLE_MEAN"));
        let spread = ensemble.last(&format!("{name}_ENSEMBLE_SPREAD"));
        assert!(mean.iter().any(|x| *x != 0.0), "{name}");
        // The winds are those of all members, and so are the tracers.
        assert!(spread.iter().all(|x| x.abs() < 1e-3), "{name}");
    }
    let plot = |name: &str| {
        let only = format!("tracer:{name}");
        let arguments = ["plot", "o.nc", "--only", &only, "--output", "pictures", "-q"];
        place.program(&arguments).output().expect("it starts")
    };
    assert!(plot("smoke").status.success());
    assert!(place.path("pictures/tracer-smoke.png").is_file());
    let refused = plot("soot");
    assert_eq!(refused.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("soot"), "{refused:?}");
}

/// The file that is shipped with the project.
#[test]
fn the_example_runs() {
    let place = Place::empty();
    let file = nwp_mini_support::project().join("data/tracers.toml");
    let file = file.to_str().expect("a path in UTF-8");
    let run = ["-q", "--steps", "2", "--dt", "60", "--tracers", file, "--output", "o.nc"];
    place.run_storm(&run).good();
    let output = place.open("o.nc");
    assert!(most(&output, "one", 1).iter().all(|x| (x - 1.0).abs() < 1e-5));
    // Shapes are at the positions in the file: a layer of 1,000 m, and a hill in its middle.
    assert_eq!(most(&output, "smoke", 0), [0.5, 10.0]);
    assert!(most(&output, "puff", 0)[1] > 0.8 && most(&output, "tower", 0) == [0.0, 1.0]);
}

/// On a finer grid the shapes are those of the finer grid, and a number adds tracers for benchmarks.
#[test]
fn finer_grids_and_numbers() {
    let place = place();
    let (figures, output) =
        place.figures(&["--steps", "1", "--refine", "2", "--tracers", "t.toml"]);
    let low = output.frame("low", 0);
    assert!(low.iter().all(|x| *x == 0.0 || *x == 1.0), "a layer has sharp sides");
    assert!(term(&figures, "low", "closure_rel").abs() < 1e-6);
    let (figures, output) = place.figures(&["--steps", "1", "--tracers", "30"]);
    assert_eq!(figures["tracers"].as_array().map(Vec::len), Some(30));
    assert!(output.names().contains(&"tracer_30".to_owned()));
}

#[test]
fn what_is_wrong_is_reported_before_anything_is_written() {
    let place = Place::with(&Small::new());
    let before = place.files();
    let line = "units = \"1\"\ninitial = { kind = \"constant\", value = 1 }\n";
    let one = |name: &str| format!("[[tracer]]\nname = \"{name}\"\n{line}");
    for (text, words) in [
        ("[[tracer]".to_owned(), &["t.toml", "line 1"][..]),
        (one("smoke").replace("\"1\"", "\"furlongs\""), &["t.toml", "smoke", "furlongs"]),
        (one("smoke") + &one("smoke"), &["smoke", "twice"]),
        (one("QVAPOR"), &["QVAPOR", "field of the model"]),
        (one("refl_10cm"), &["refl_10cm", "the output has"]),
        (one("XLAT"), &["XLAT", "a variable"]),
    ] {
        let name: PathBuf = place.path("t.toml");
        std::fs::write(&name, &text).expect("a file");
        place
            .run(&["--input", "small.nc", "--steps", "1", "--tracers", "t.toml"])
            .refused(2, words);
        std::fs::remove_file(name).expect("the file");
    }
    let text =
        one("a").replace("kind = \"constant\", value = 1", "kind = \"field\", variable = \"SOOT\"");
    std::fs::write(place.path("t.toml"), text).expect("a file");
    let run = ["--input", "small.nc", "--steps", "1", "--output", "o.nc", "--tracers"];
    place.run(&[&run[..], &["t.toml"]].concat()).refused(3, &["SOOT", "small.nc"]);
    std::fs::remove_file(place.path("t.toml")).expect("the file");
    place.run(&[&run[..], &["70000"]].concat()).refused(2, &["70000", "4000"]);
    place.run(&[&run[..], &["-3"]].concat()).refused(2, &["-3"]);
    place.run(&[&run[..], &["none.toml"]].concat()).refused(3, &["none.toml"]);
    assert_eq!(place.files(), before);
}
