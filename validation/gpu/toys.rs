//! Toy schemes from outside the crate in the program: transport, sides, restart, output, budget, ensembles, comparison,
//! pictures and other grids, on both backends.

use std::fs;
use std::path::Path;

use netcdf::Extents;

use nwp_mini_support::run::place::Place;
use nwp_mini_support::run::result::Output;
use nwp_mini_support::run::small::Small;
use nwp_mini_support::toys::drops::PER_KILOGRAM;

use crate::device::is_emulated;
use crate::gpu;

/// Words about a toy.
struct Toy {
    key: &'static str,
    parameter: &'static str,
    /// Variables that its output has, and that it has not.
    has: &'static [&'static str],
    lacks: &'static [&'static str],
}

const SLEET: Toy = Toy {
    key: "sleet",
    parameter: "sleet_rate",
    has: &[
        "T",
        "QVAPOR",
        "QCLOUD",
        "QGRAUP",
        "QGRAUP_PATH",
        "QGRAUP_MEAN",
        "QGRAUP_RMS",
        "RAINNC",
        "GRAUPELNC",
        "RE_GRAUPEL",
    ],
    lacks: &["QRAIN", "QICE", "QSNOW", "SNOWNC", "SR", "REFL_10CM", "RE_CLOUD"],
};

const DROPS: Toy = Toy {
    key: "drops",
    parameter: "drop_rate",
    has: &["QCLOUD", "QRAIN", "QNRAIN", "QNRAIN_MEAN", "QRAIN_PATH", "REFL_10CM"],
    // A number is no mass, and nothing falls.
    lacks: &["QNRAIN_PATH", "QICE", "QSNOW", "QGRAUP", "RAINNC", "SNOWNC", "RE_CLOUD"],
};

const BACKENDS: [&str; 2] = ["cpu", "gpu"];

/// Adds a field of graupel to a file, which enters through the sides too.
fn add_graupel(path: &Path) {
    let mut file = netcdf::append(path).expect("the file");
    let like = file.variable("QCLOUD").expect("cloud water");
    let along: Vec<String> = like.dimensions().iter().map(netcdf::Dimension::name).collect();
    let along: Vec<&str> = along.iter().map(String::as_str).collect();
    let values: Vec<f32> = like.get_values(Extents::All).expect("values");
    let mut graupel = file.add_variable::<f32>("QGRAUP", &along).expect("a new variable");
    let values: Vec<f32> = values.iter().map(|q| 0.5 * q + 1e-5).collect();
    graupel.put_values(&values, Extents::All).expect("values");
}

fn place(toy: &Toy, has_graupel: bool) -> Place {
    let place = Place::with(&Small::hybrid());
    if has_graupel {
        add_graupel(&place.path("small.nc"));
    }
    fs::write(place.path("p.csv"), "name,x,y\nhere,100000,90000\n").expect("places");
    let weights = ["weights", "--input", "small.nc", "--target", "xy", "--spacing", "30000"];
    let made = place.program(&weights).args(["--output", "w.nc"]).output().expect("it starts");
    assert!(made.status.success(), "{made:?}");
    let text = format!(
        "members = 3\n[parameters]\n{} = {{ factor = [0.5, 2] }}\n[initial.QCLOUD]\namplitude = 0.1\nlength = 4e4\n",
        toy.parameter
    );
    fs::write(place.path("e.toml"), text).expect("a file");
    place
}

fn run(place: &Place, toy: &Toy, backend: &str, options: &[&str]) {
    let fixed = ["-q", "--force", "--no-compare", "--physics", toy.key, "--backend", backend];
    let ended = place.run_small(&[&fixed[..], &["--dt", "60"], options].concat()).good();
    assert!(!ended.stderr.contains("WSM5"), "{}", ended.stderr);
}

/// Everything of a scheme but its physics, by its name among options alone.
fn check(toy: &Toy, has_graupel: bool) {
    let Some(_) = gpu(true).filter(|_| is_emulated()) else { return };
    let place = place(toy, has_graupel);
    for backend in BACKENDS {
        let name = |file: &str| format!("{backend}.{file}");
        let (whole, json) = (name("nc"), name("json"));
        let aux = ["--regrid", "w.nc", "--points", "p.csv", "--profiles"];
        let files = ["--steps", "6", "-o", &whole, "--json", &json];
        run(&place, toy, backend, &[&files[..], &aux].concat());
        let output = place.open(&whole);
        expect_names(toy, &output);
        for variable in toy.has {
            let values = output.values(variable);
            assert!(values.iter().all(|x| x.is_finite()), "{backend} {variable}");
            assert!(values.iter().any(|x| *x != 0.0), "{backend} {variable}");
        }
        let closure = place.json(&json)["water"]["closure_rel"].as_f64().expect("a number");
        assert!(closure.abs() < 1e-6, "{backend}: {closure:e}");
        for file in ["regrid.nc", "points.profiles.nc", "profiles.nc"] {
            let names = place.open(&format!("{backend}.{file}")).names();
            let cells = toy.has.iter().filter(|name| name.starts_with('Q') && !name.contains('_'));
            for variable in cells {
                assert!(names.iter().any(|other| other == variable), "{file}: {variable}");
            }
        }

        // Two halves have the bits of the whole.
        let (half, other) = (name("a.nc"), name("b.nc"));
        let restart = name("r.nc");
        run(&place, toy, backend, &["--steps", "3", "-o", &half, "--restart-output", &restart]);
        let on = ["-q", "--force", "--no-compare", "--backend", backend, "--restart", &restart];
        place.run(&[&on[..], &["--steps", "3", "-o", &other]].concat()).good();
        let second = place.open(&other);
        for variable in toy.has {
            assert_eq!(output.last(variable), second.last(variable), "{backend} {variable}");
        }

        // The control of an ensemble has the bits of a single run; others have not.
        let members = name("e.nc");
        run(&place, toy, backend, &["--steps", "6", "--ensemble", "e.toml", "-o", &members]);
        let last = place.open(&members).last("QCLOUD");
        let member = |number: usize| last.index_axis(ndarray::Axis(0), number).to_owned();
        assert_eq!(output.last("QCLOUD"), member(0), "{backend}");
        assert!(member(0) != member(1) && member(1) != member(2), "{backend}");
    }

    // Both backends have the same weather, in the eyes of `diff` too, and pictures show it.
    let limits = "[default]\natol = 1e-6\nrtol = 2e-3\noutliers = 0.02\nrms_percent = 1\n";
    fs::write(place.path("limits.toml"), limits).expect("a file");
    let said = place.command(&["diff", "cpu.nc", "gpu.nc", "--tolerance", "limits.toml"]);
    assert!(said.stdout.contains("water"), "{said:?}");
    assert_eq!(said.code, Some(0), "{said:?}");
    let drawn = place.command(&["plot", "cpu.nc", "--output", "plots"]);
    assert_eq!(drawn.code, Some(0), "{drawn:?}");
    let compared = place.command(&["plot", "cpu.nc", "--compare", "gpu.nc", "--output", "both"]);
    assert_eq!(compared.code, Some(0), "{compared:?}");
}

fn expect_names(toy: &Toy, output: &Output) {
    let names = output.names();
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    for name in toy.has {
        assert!(has(name), "{name} is not among {names:?}");
    }
    for name in toy.lacks {
        assert!(!has(name), "{name} is among {names:?}");
    }
}

#[test]
fn a_scheme_with_graupel_needs_its_own_files_only() {
    check(&SLEET, true);
}

#[test]
fn a_scheme_with_a_number_and_the_vertical_wind_needs_its_own_files_only() {
    check(&DROPS, false);
}

/// A number that a file lacks follows from the mass, and is transported apart from it.
#[test]
fn a_number_that_the_input_lacks_follows_from_the_mass() {
    let Some(_) = gpu(true).filter(|_| is_emulated()) else { return };
    let place = place(&DROPS, false);
    run(&place, &DROPS, "cpu", &["--steps", "4", "-o", "out.nc"]);
    let output = place.open("out.nc");
    let [rain, number] = ["QRAIN", "QNRAIN"].map(|name| output.frame(name, 0));
    for (rain, number) in rain.iter().zip(&number) {
        assert!((number - PER_KILOGRAM * rain).abs() <= 1e-6 * number.abs(), "{number} of {rain}");
    }
    let most = |name: &str| output.last(name).iter().copied().fold(0.0, f64::max);
    assert!(most("QNRAIN") > 1e3 * most("QRAIN"));
}

/// Condensates that a scheme does not know are left out with their mass; who wants them carried names them.
#[test]
fn what_a_scheme_does_not_know_is_left_out_or_carried_by_name() {
    let Some(_) = gpu(true).filter(|_| is_emulated()) else { return };
    let place = place(&SLEET, true);
    let with = ["--physics", "sleet", "--backend", "cpu", "--steps", "2", "--dt", "60", "--force"];
    let said = place.run_small(&[&with[..], &["-o", "a.nc"]].concat()).good();
    for name in ["QRAIN", "QICE", "QSNOW"] {
        assert!(said.stderr.contains(&format!("{name} is not a species of Sleet")), "{said:?}");
    }
    let text = "[[tracer]]\nname = \"QSNOW\"\nunits = \"kg kg-1\"\ninitial = { kind = \"field\", variable = \"QSNOW\" }\n";
    fs::write(place.path("t.toml"), text).expect("a file");
    place.run_small(&[&with[..], &["-o", "b.nc", "--tracers", "t.toml"]].concat()).good();
    let snow = place.open("b.nc").last("QSNOW");
    assert!(snow.iter().any(|q| *q > 0.0));
}
