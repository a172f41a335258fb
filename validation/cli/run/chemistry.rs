//! Chemistry in a run: from the mechanism to the output, restart files and budgets.

use std::path::Path;

use ndarray::Array1;
use nwp_mini::chemistry::clear_sky::ClearSky;
use nwp_mini::chemistry::zenith::Sun;
use nwp_mini::thermo;
use nwp_mini_support::{program, project};
use serde_json::Value;
use time::macros::datetime;

use super::place::Place;
use super::result::Output;
use super::small::Small;

fn radm2() -> String {
    project().join("data/chemistry/radm2.kpp").display().to_string()
}

fn place() -> Place {
    Place::with(&Small::new())
}

/// A run of the small file with RADM2, at a place and by day.
fn run(place: &Place, output: &str, options: &[&str]) -> Output {
    let radm2 = radm2();
    let fixed = ["-q", "--force", "--output", output, "--json", "figures.json", "--dt", "60"];
    let place_on_earth = ["--latitude", "43.3", "--longitude", "0"];
    let chemistry = ["--chemistry", &radm2, "--backend", "cpu"];
    place.run_small(&[&fixed[..], &chemistry, &place_on_earth, options].concat()).good();
    place.open(output)
}

const BY_DAY: [&str; 2] = ["--date", "2005-06-21_12:00:00"];
const BY_NIGHT: [&str; 2] = ["--date", "2005-06-21_00:00:00"];

/// Names that a mechanism gives to its species in the sections of a text.
fn species(text: &str) -> Vec<String> {
    let begin = text.find("#DEFVAR").expect("species");
    let end = text.find("#DEFFIX").expect("fixed species");
    let lines = text[begin..end].lines().filter_map(|line| line.split_once('='));
    lines.map(|(name, _)| name.trim().to_owned()).collect()
}

/// The cells of a run have the results of `nwp-mini chemistry` for the concentrations after transport.
#[test]
fn a_box_of_a_run_is_one_of_the_chemistry_alone() {
    let place = place();
    let options = ["--steps", "1", "--precision", "f64", BY_DAY[0], BY_DAY[1]];
    let reacted = run(&place, "reacted.nc", &options);
    // A chemistry that is never called leaves the results of transport and microphysics.
    let carried = run(&place, "carried.nc", &[&options[..], &["--chem-dt", "1e9"]].concat());
    let cells = [[0, 4, 5], [3, 2, 7], [6, 8, 3], [7, 5, 9]];
    let at = |output: &Output, name: &str, time: usize| -> Vec<f64> {
        let field = output.frame(name, time);
        cells.iter().map(|cell| field[&cell[..]]).collect()
    };
    let air = |time: usize| -> [Vec<f64>; 3] {
        let pairs = at(&carried, "P", time).into_iter().zip(at(&carried, "PB", time));
        let p: Vec<f64> = pairs.map(|(p, pb)| p + pb).collect();
        let theta = at(&carried, "T", time).into_iter().map(|theta| theta + 300.0).collect();
        [p, theta, at(&carried, "QVAPOR", time)]
    };
    // Density is that of the input, temperature and humidity are those of the moment.
    let [p, theta, qv] = air(0);
    let rho = |n: usize| 1.0 / thermo::specific_volume(theta[n], qv[n], p[n]);
    let density: Vec<f64> = (0..cells.len()).map(rho).collect();
    let m: Vec<f64> = density.iter().map(|rho| 1e-3 / 28.97 * 6.022e23 * rho).collect();
    let [_, theta, qv] = air(1);
    let each = |make: &dyn Fn(usize) -> f64| (0..cells.len()).map(make).collect::<Vec<f64>>();
    let temperature = each(&|n| theta[n] * thermo::exner(p[n]));
    let humidity = |n: usize| {
        let vapour = 611.2 * (17.67 * (temperature[n] - 273.15) / (temperature[n] - 29.65)).exp();
        (qv[n] * (p[n] - vapour) / vapour).clamp(0.0, 1.0)
    };
    let text = std::fs::read_to_string(radm2()).expect("the mechanism");
    let names = species(&text);
    assert!(names.len() == 59 && names.contains(&"ISO".to_owned()), "{names:?}");
    let mut variables: Vec<(String, Vec<f64>)> = Vec::new();
    for name in &names {
        let ppmv = at(&carried, &name.to_lowercase(), 1);
        variables.push((name.clone(), each(&|n| 1e-6 * m[n] * ppmv[n].max(0.0))));
    }
    variables.push(("H2O".to_owned(), each(&|n| 1e-3 / 18.0152 * 6.022e23 * qv[n] * density[n])));
    variables.push(("M".to_owned(), m.clone()));
    variables.push(("c_m".to_owned(), m.clone()));
    variables.push(("temp".to_owned(), temperature.clone()));
    variables.push(("rh".to_owned(), each(&humidity)));
    // The light is that of the middle of the step.
    let sun = Sun::at(datetime!(2005-06-21 12:00:30), 0.0);
    let cosine = sun.cosine(43.3, 0.0);
    assert!((cosine - 0.94).abs() < 0.01, "{cosine}");
    let mut frequencies: Vec<&str> =
        text.split("j(").skip(1).filter_map(|x| x.split(')').next()).collect();
    frequencies.retain(|name| name.starts_with("Pj_"));
    assert_eq!(frequencies.len(), 21);
    for name in frequencies {
        let (sky, _) = ClearSky::standing_for(name).expect(name);
        variables.push((name.to_owned(), vec![sky.frequency(cosine); cells.len()]));
    }
    {
        let mut file = netcdf::create(place.path("cells.nc")).expect("a file");
        file.add_dimension("cell", cells.len()).expect("a dimension");
        for (name, values) in &variables {
            let mut variable = file.add_variable::<f64>(name, &["cell"]).expect("a variable");
            variable.put_values(values, ..).expect("values");
        }
    }
    let radm2 = radm2();
    let solver = ["--method", "ros3", "--hstart", "0.6", "--dt", "60", "--backend", "cpu", "-q"];
    let files = ["chemistry", "--mechanism", &radm2, "--input", "cells.nc", "--output", "boxes.nc"];
    let ended = place.program(&[&files[..], &solver].concat()).output().expect("it starts");
    assert!(ended.status.success(), "{ended:?}");
    let boxes = netcdf::open(place.path("boxes.nc")).expect("cells");
    let mut has_changed = 0;
    for name in &names {
        let alone: Vec<f64> = boxes.variable(name).expect(name).get_values(..).expect(name);
        let in_run = at(&reacted, &name.to_lowercase(), 1);
        let before = at(&carried, &name.to_lowercase(), 1);
        for n in 0..cells.len() {
            let y = 1e-6 * m[n] * in_run[n];
            // Rounding of the conditions, as between KPP with and without fused operations.
            let off = (y - alone[n].max(0.0)).abs();
            assert!(
                off <= 1e-9 * alone[n].abs() + 1e-3,
                "{name} in {:?}: {y:e} {:e}",
                cells[n],
                alone[n]
            );
            has_changed += usize::from(in_run[n] != before[n]);
        }
    }
    assert!(has_changed > 3 * names.len(), "{has_changed}");
}

#[test]
fn day_and_night_look_like_chemistry() {
    let place = place();
    // In the lowest layer, inside: the outermost rows are those of the input.
    let at = |output: &Output, name: &str| output.last(name)[[0, 5, 5]];
    let options = ["--steps", "10", "--chem-dt", "120"];
    let by_day = run(&place, "day.nc", &[&options[..], &BY_DAY].concat());
    let by_night = run(&place, "night.nc", &[&options[..], &BY_NIGHT].concat());
    let dark = run(&place, "dark.nc", &[&options[..], &BY_DAY, &["--photolysis", "none"]].concat());
    for output in [&by_day, &by_night, &dark] {
        assert_eq!(output.text_of("o3", "units"), "ppmv");
        assert!(output.last("o3").iter().all(|x| (0.02..3.0).contains(x)), "ozone");
    }
    // Typical daytime hydroxyl is some tenths of a ppt; apart from alkenes with ozone, only photolysis produces it.
    let oh = at(&by_day, "oh");
    assert!((1e-8..2e-6).contains(&oh), "{oh:e} ppmv");
    assert!(at(&by_night, "oh") < 0.2 * oh && at(&by_night, "o1d") == 0.0);
    // Without light ozone takes NO within minutes, and NO3 lasts.
    assert!(at(&by_night, "no") < 0.05 * at(&by_day, "no"));
    assert!(at(&by_night, "no3") > 10.0 * at(&by_day, "no3"));
    assert_eq!(by_night.last("oh"), dark.last("oh"));
    // By day NO and NO2 are in balance with ozone, with some help of peroxy radicals.
    let ratio = at(&by_day, "no") / at(&by_day, "no2");
    assert!((0.05..1.0).contains(&ratio), "{ratio}");
}

#[test]
fn atoms_are_accounted_for() {
    let place = place();
    for (precision, close) in [("f32", 1e-6), ("f64", 1e-12)] {
        let options = ["--steps", "6", "--precision", precision, BY_DAY[0], BY_DAY[1]];
        run(&place, "o.nc", &options);
        let figures = place.json("figures.json");
        let chemistry = &figures["chemistry"];
        assert_eq!((&chemistry["calls"], &chemistry["failed"]), (&Value::from(6), &Value::from(0)));
        let steps = chemistry["steps_mean"].as_f64().expect("steps");
        let most = chemistry["steps_most"].as_f64().expect("steps");
        assert!(steps > 1.0 && steps < most, "{chemistry}");
        let atoms = chemistry["atoms"].as_array().expect("atoms");
        assert_eq!(atoms.len(), 3);
        for budget in atoms {
            let name = budget["atom"].as_str().expect("a name");
            let term = |name: &str| budget[name].as_f64().expect("a number");
            assert!(term("start") > 0.0 && term("sides") != 0.0, "{budget}");
            assert!(term("closure_rel").abs() < close, "{precision} {name}: {budget}");
            let unbalanced = term("unbalanced_reactions");
            let [made, lost] = ["reacted", "integration"].map(|name| term(name) / term("start"));
            if name == "C" {
                assert!(unbalanced > 0.0 && made.abs() > 1e-12, "{budget}");
            } else {
                assert!(unbalanced == 0.0 && made == 0.0, "{budget}");
            }
            // Rounding of some ten calls, which has a line of its own.
            assert!(lost != 0.0 && lost.abs() < 1e-10, "{budget}");
        }
        // Each species has its own terms: ozone is produced and lost in this hour of the day.
        let all = figures["tracers"].as_array().expect("budgets");
        let of = |name: &str| all.iter().find(|budget| budget["name"] == name).expect("a budget");
        for name in ["o3", "no2", "hno3"] {
            let term = |term: &str| of(name)[term].as_f64().expect("a number");
            assert!(term("reacted") != 0.0 && term("closure_rel").abs() < close, "{}", of(name));
        }
        assert_eq!(of("o3")["decayed"], 0.0);
    }
}

#[test]
fn a_restart_goes_on_with_the_chemistry_to_the_bit() {
    let place = place();
    // Chemistry every two steps, and the restart in between.
    let options = ["--chem-dt", "120", "--chem-output", "O3,no2", BY_DAY[0], BY_DAY[1]];
    let whole = run(&place, "whole.nc", &[&options[..], &["--steps", "7"]].concat());
    let figures = place.json("figures.json");
    let names = whole.names();
    assert!(names.contains(&"no2".to_owned()) && !names.contains(&"no".to_owned()), "{names:?}");
    let halfway = ["--steps", "3", "--restart-output", "r.nc"];
    run(&place, "a.nc", &[&options[..], &halfway].concat());
    let go_on = ["--restart", "r.nc", "--steps", "4", "--output", "b.nc", "--json", "b.json", "-q"];
    place.run(&[&go_on[..], &["--chem-output", "no2,o3", "--backend", "cpu"]].concat()).good();
    assert_eq!(whole.last_bits(), place.open("b.nc").last_bits());
    let again = place.json("b.json");
    assert_eq!(figures["tracers"], again["tracers"]);
    for name in ["calls", "steps_mean", "steps_most", "atoms"] {
        assert_eq!(figures["chemistry"][name], again["chemistry"][name], "{name}");
    }
    let radm2 = radm2();
    let refused = ["--restart", "r.nc", "--steps", "1", "--chemistry", &radm2, "--output", "c.nc"];
    place.run(&refused).refused(2, &["--chemistry", "--restart"]);
}

/// A restart file holds the text with its parts in place of `#INCLUDE`, of any length; no output replaces a part.
#[test]
fn a_restart_goes_on_with_a_mechanism_of_several_files() {
    let place = place();
    // Comments of more than 64 kB, which is the most that a compact attribute of HDF5 holds.
    let padding = "// invented for this test\n".repeat(4_000);
    for (name, text) in [
        ("parts.kpp", "#INCLUDE parts.spc // species\n#INCLUDE parts.eqn\n"),
        ("parts.spc", "#DEFVAR\nO3 = IGNORE; NO = IGNORE;\n#INCLUDE more.spc"),
        ("more.spc", "#DEFVAR NO2 = IGNORE; // the last line has no end"),
        ("parts.eqn", &format!("#EQUATIONS\n<R1> O3 + NO = NO2 : 1.7E-14 ;\n{padding}")),
    ] {
        std::fs::write(place.path(name), text).expect("a file");
    }
    let profile = |name: &str| {
        format!("[[species]]\nname = \"{name}\"\nheight = [0]\nvalue = [0.03]\nsource = \"none\"\n")
    };
    std::fs::write(place.path("b.toml"), profile("O3") + &profile("NO")).expect("a file");
    let fixed = ["-q", "--dt", "60", "--photolysis", "none", "--chem-background", "b.toml"];
    let begin = [&fixed[..], &["--chemistry", "parts.kpp"]].concat();
    let first = ["--steps", "2", "--output", "a.nc", "--restart-output", "r.nc"];
    place.run_small(&[&begin[..], &["--steps", "4", "--output", "whole.nc"]].concat()).good();
    place.run_small(&[&begin[..], &first].concat()).good();
    let replaced = ["--steps", "1", "--force", "--output", "more.spc"];
    place
        .run_small(&[&begin[..], &replaced].concat())
        .refused(2, &["--output", "a file of the chemistry"]);
    for name in ["parts.kpp", "parts.spc", "more.spc"] {
        std::fs::remove_file(place.path(name)).expect("a file");
    }
    place.run(&["-q", "--restart", "r.nc", "--steps", "2", "--output", "b.nc"]).good();
    let whole = place.open("whole.nc");
    assert!(whole.last("no2").iter().any(|no2| *no2 > 0.0));
    assert_eq!(whole.last_bits(), place.open("b.nc").last_bits());
}

/// A call begins with the step that the last one ended with, unless it is to begin as WRF-Chem's do.
#[test]
fn kept_steps_are_fewer_for_the_same_chemistry() {
    let place = place();
    let options = ["--steps", "10", BY_DAY[0], BY_DAY[1]];
    let steps = |place: &Place| {
        place.json("figures.json")["chemistry"]["steps_mean"].as_f64().expect("a number")
    };
    let kept = run(&place, "kept.nc", &options);
    let few = steps(&place);
    let each = run(&place, "each.nc", &[&options[..], &["--hstart", "off"]].concat());
    let many = steps(&place);
    assert!(few < 0.8 * many && few >= 1.0, "{few} {many}");
    for name in ["o3", "no2", "oh"] {
        let (a, b) = (kept.last(name), each.last(name));
        let most = b.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let off = a.iter().zip(&b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        // Both keep to a relative tolerance of 1e-3 in a step.
        assert!(off > 0.0 && off < 1e-3 * most, "{name}: {off:e} of {most:e}");
    }
    place.run_small(&["--steps", "1", "--hstart", "off"]).refused(2, &["--chemistry"]);
}

#[test]
fn fields_of_the_input_and_backgrounds_are_where_species_begin() {
    let mut small = Small::new();
    let field = small.fields["QVAPOR"].clone();
    small.fields.insert("a", field);
    // An idealised case: neither place nor date.
    small.remove("XLAT");
    small.remove("XLONG");
    small.stamp = "0001-01-01_10:00:00";
    let place = Place::with(&small);
    let text = "#DEFVAR A = IGNORE; B = IGNORE; QVAPOR = IGNORE; #DEFFIX C = IGNORE; \
                #EQUATIONS A + C = B : 1e-30; B = A : 1e-9;";
    std::fs::write(place.path("ab.kpp"), text).expect("a file");
    let text = "[[species]]\nname = \"b\"\nheight = [0.0, 2000.0]\nvalue = [1.0, 3.0]\nsource = \"none\"\n";
    std::fs::write(place.path("ab.background.toml"), text).expect("a file");
    let ended = place.run_small(&[
        "--chemistry",
        "ab.kpp",
        "--steps",
        "1",
        "--output",
        "o.nc",
        "--tracers",
        "3",
    ]);
    let ended = ended.good();
    for words in [
        "ab.background.toml",
        "species that start from 0",
        "QVAPOR, C",
        "latitude",
        "2005-06-21_10:00:00",
        "longitude 0",
    ] {
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
    for words in ["emissions, deposition and aerosol are not there", "chemistry"] {
        assert!(ended.stdout.contains(words), "{words}: {}", ended.stdout);
    }
    let output = place.open("o.nc");
    assert_eq!(output.frame("a", 0), output.frame("QVAPOR", 0));
    let b = output.frame("b", 0);
    assert!(b.iter().all(|b| (1.0..=3.0).contains(b)));
    let column: Array1<f64> = (0..8).map(|k| b[[k, 5, 5]]).collect();
    assert!((1.0..2.0).contains(&column[0]) && column[7] == 3.0, "{column}");
    assert!(output.frame("c", 0).iter().all(|c| *c == 0.0));
    // Names that are taken get a prefix; names of variables may differ in case only.
    assert!(output.names().iter().any(|name| name == "qvapor" || name == "chem_qvapor"));
}

#[test]
fn bad_chemistry_is_refused() {
    let place = place();
    let radm2 = radm2();
    let refuses = |code: i32, options: &[&str], words: &[&str]| {
        let fixed = ["--steps", "1", "--output", "o.nc", "--chemistry", &radm2];
        place.run_small(&[&fixed[..], options].concat()).refused(code, words);
        assert!(!place.path("o.nc").exists());
    };
    refuses(2, &["--chem-dt", "-5"], &["--chem-dt -5", "positive"]);
    refuses(2, &["--latitude", "91"], &["--latitude 91", "-90 and 90"]);
    refuses(2, &["--date", "noon"], &["--date", "noon", "2005-06-21_12:00:00"]);
    refuses(2, &["--date", "2021-02-29_00:00:00"], &["--date", "2021-02 has 28 days"]);
    refuses(2, &["--chem-output", "O3,NO4"], &["--chem-output", "NO4", "nearest"]);
    refuses(2, &["--chem-output", "O3,m"], &["\"m\" is a fixed species", "follows from the air"]);
    refuses(3, &["--chem-background", "none.toml"], &["none.toml"]);
    let text = "members = 2\n[initial.QVAPOR]\namplitude = 0.05\n";
    std::fs::write(place.path("e.toml"), text).expect("a file");
    refuses(2, &["--ensemble", "e.toml"], &["--ensemble", "--chemistry"]);
    let text = "[[species]]\nname = \"O4\"\nheight = [0]\nvalue = [1]\nsource = \"none\"\n";
    std::fs::write(place.path("b.toml"), text).expect("a file");
    refuses(2, &["--chem-background", "b.toml"], &["b.toml", "O4", "O3"]);
    std::fs::write(place.path("b.toml"), text.replace("O4", "M")).expect("a file");
    let words = ["b.toml: \"M\" is a fixed species of radm2 that follows from the air", "remove"];
    refuses(2, &["--chem-background", "b.toml"], &words);
    let text = "#DEFVAR A = IGNORE; B = IGNORE; #EQUATIONS A = B : j(Pj_unknown);";
    std::fs::write(place.path("dark.kpp"), text).expect("a file");
    let dark = ["--steps", "1", "--output", "o.nc", "--chemistry", "dark.kpp"];
    place.run_small(&dark).refused(2, &["Pj_unknown", "--photolysis none"]);
    place.run_small(&[&dark[..], &["--photolysis", "none", "-q"]].concat()).good();
    place.run_small(&["--chem-dt", "60"]).refused(2, &["--chemistry"]);
    place.run_small(&["--chem-output", "O3"]).refused(2, &["--chem-output", "--chemistry"]);
}

/// Ozone at the ground, its time series and its section are drawn on request.
#[test]
fn pictures_of_species_are_drawn() {
    let place = place();
    run(&place, "o.nc", &["--steps", "2", "--output-interval", "60"]);
    let only = "tracer:o3,tracer:no2,tracer-series:o3,tracer-section:o3";
    let arguments =
        ["plot", "o.nc", "--only", only, "--output", "pictures", "-q", "--format", "svg"];
    let ended = std::process::Command::new(program())
        .current_dir(place.path("o.nc").parent().unwrap_or(Path::new(".")))
        .args(arguments)
        .output()
        .expect("it starts");
    assert!(ended.status.success(), "{ended:?}");
    for (name, words) in [
        ("tracer-o3", &["o3, ppbv"][..]),
        ("tracer-no2", &["no2, ppbv"]),
        ("tracer-series-o3", &["o3", "ppbv"]),
        ("tracer-section-o3", &["o3, ppbv"]),
    ] {
        let picture =
            std::fs::read_to_string(place.path(&format!("pictures/{name}.svg"))).expect(name);
        for word in words {
            assert!(picture.contains(word), "{name}: {word}");
        }
    }
}
