//! The job itself: its output on each stream, its duration and its files.

use super::place::{Ended, Place};
use super::small::Small;

/// The summary's last line that starts with a word, without it.
#[track_caller]
fn line<'a>(ended: &'a Ended, word: &str) -> &'a str {
    let found = ended.stdout.lines().rev().find_map(|line| line.trim_start().strip_prefix(word));
    found.unwrap_or_else(|| panic!("no line {word:?} in {}", ended.stdout)).trim()
}

fn close(value: &serde_json::Value, wanted: f64, tolerance: f64) -> bool {
    (value.as_f64().expect("a number") - wanted).abs() <= tolerance
}

#[test]
fn the_storm_runs_for_an_hour_by_default() {
    let place = Place::empty();
    let ended = place.run_storm(&["--json", "figures.json"]).good();
    assert_eq!(place.files(), ["figures.json", "soc.out.nc"]);

    assert!(line(&ended, "grid").contains("71x58x27"), "{}", ended.stdout);
    assert!(line(&ended, "simulated").contains("3600 s in 24 steps of 150"), "{}", ended.stdout);
    assert!(line(&ended, "speed").contains("steps/s"), "{}", ended.stdout);
    assert!(line(&ended, "precipitation").contains("mm in the mean"), "{}", ended.stdout);
    assert_eq!(line(&ended, "output"), "soc.out.nc, 2 frames");
    for term in
        ["at the start", "fallen", "through the sides", "made by", "at the end", "unexplained"]
    {
        line(&ended, term);
    }
    // Log messages go to standard error only.
    assert!(ended.stderr.contains("INFO wind projection"), "{}", ended.stderr);
    assert!(ended.stderr.contains("step 24 of 24"), "{}", ended.stderr);
    assert!(!ended.stdout.contains("INFO"), "{}", ended.stdout);

    let figures = place.json("figures.json");
    assert_eq!(figures["version"], env!("CARGO_PKG_VERSION"));
    assert!(figures["commit"].as_str().is_some_and(|commit| !commit.is_empty()), "{figures}");
    let machine = &figures["machine"];
    assert!(machine["cores"].as_u64() >= Some(1) && machine["threads"].as_u64() >= Some(1));
    assert!(machine["cpu"].as_str().is_some_and(|cpu| !cpu.is_empty()), "{machine}");
    assert_eq!(figures["backend"], "cpu");
    assert_eq!(figures["precision"], "f32");
    assert_eq!(figures["grid"], serde_json::json!([71, 58, 27]));
    assert_eq!(figures["steps"], 24);
    assert!(close(&figures["dt"], 150.0, 0.0), "{figures}");
    // The input's own figures: an inflow of 147 Pa/h in the mean and a change of u of 0.5 m/s.
    let projection = &figures["projection"];
    assert!(close(&projection["inflow"], -147.0, 1.0), "{projection}");
    assert!(close(&projection["max_du"], 0.5, 0.1), "{projection}");
    assert!(close(&projection["max_dv"], 0.5, 0.1), "{projection}");
    assert!(projection["residual_before"].as_f64() > Some(100.0), "{projection}");
    assert!(projection["residual_after"].as_f64() <= Some(1e-3), "{projection}");
    assert!(projection["iterations"].as_u64() > Some(0), "{projection}");
    assert!(projection["lid"].is_number(), "{projection}");
    let water = &figures["water"];
    for term in ["sides", "fallout_residual", "clipped", "mass_mismatch", "closure_rel"] {
        assert!(water[term].is_number(), "{term} in {water}");
    }
    for term in ["start", "end", "fallen"] {
        assert!(water[term].as_f64() > Some(0.0), "{term} in {water}");
    }
    assert!(close(&water["closure_rel"], 0.0, 1e-6), "{water}");
    for (phase, time) in figures["timing"].as_object().expect("phases") {
        assert!(time["total_s"].as_f64() > Some(0.0), "{phase}: {time}");
        assert!(time["kernel_s"].is_number() && time["transfer_s"].is_null(), "{phase}: {time}");
        assert!(time["cells_per_s"].as_f64() > Some(0.0), "{phase}: {time}");
    }
    assert!(figures["pairs"].is_array() && figures["verdict"].is_array(), "{figures}");
    // A cell holds 1e11 kg to 1e12 kg of air: its outgoing winds of up to 73 m/s allow 150 s.
    let max_dt = figures["max_dt"].as_f64().expect("a time");
    assert!((150.0..30_000.0 / 73.0).contains(&max_dt), "{max_dt}");
}

#[test]
fn a_second_run_needs_force_and_gives_the_same_file() {
    let place = Place::with(&Small::new());
    place.run_small(&["--steps", "2"]).good();
    let first = place.open("small.out.nc").bits();
    place.run_small(&["--steps", "2"]).refused(3, &["small.out.nc", "exists", "--force"]);
    place.run_small(&["--steps", "2", "--force"]).good();
    assert!(place.open("small.out.nc").bits() == first, "the second file differs");
    assert_eq!(place.files(), ["small.nc", "small.out.nc"]);
}

#[test]
fn quiet_prints_nothing_but_errors() {
    let place = Place::with(&Small::new());
    let ended = place.run_small(&["-q", "--steps", "2"]).good();
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
    // The figures stay available, and so does output that was requested.
    place.run_small(&["-q", "--steps", "2", "--force", "--json", "out.json"]).good();
    assert_eq!(place.json("out.json")["steps"], 2);
    let dry = place.run_small(&["-q", "--steps", "2", "--force", "--dry-run"]).good();
    assert!(dry.stdout.contains("2 steps"), "{}", dry.stdout);
    let info = place.program(&["-q", "info", "small.nc"]).output().expect("the program starts");
    let text = String::from_utf8_lossy(&info.stdout);
    assert!(text.lines().any(|line| line.starts_with("input of run   yes")), "{text}");
    // Also in runs with warnings.
    let mut small = Small::new();
    small.set("DT", 5000.0);
    let place = Place::with(&small);
    assert_eq!(place.run_small(&["-q", "--steps", "1"]).good().stderr, "");
}

#[test]
fn the_last_step_is_shortened_to_end_on_the_hour() {
    let place = Place::with(&Small::new());
    let (figures, output) = place.figures(&["--hours", "0.5", "--dt", "70"]);
    assert_eq!(figures["steps"], 26);
    assert!(close(&figures["seconds"], 1800.0, 1e-6), "{figures}");
    assert_eq!(output.times(), ["2005-08-28_18:00:00", "2005-08-28_18:30:00"]);
    let minutes: Vec<f64> = output.values("XTIME").into_iter().collect();
    assert!(minutes[0].abs() < 1e-12 && (minutes[1] - 30.0).abs() < 1e-9, "{minutes:?}");
}

#[test]
fn frames_stand_at_the_first_step_past_every_interval() {
    let place = Place::with(&Small::new());
    let times = |arguments: &[&str]| -> Vec<f64> {
        let (figures, output) = place.figures(arguments);
        assert_eq!(figures["frames"], output.frames());
        assert_eq!(output.times().len(), output.frames());
        output.values("XTIME").iter().map(|minutes| (minutes * 60.0).round()).collect()
    };
    let whole = times(&["--hours", "0.2", "--dt", "60", "--output-interval", "180"]);
    assert_eq!(whole, [0.0, 180.0, 360.0, 540.0, 720.0]);
    let between = times(&["--hours", "0.2", "--dt", "70", "--output-interval", "200"]);
    assert_eq!(between, [0.0, 210.0, 420.0, 630.0, 720.0]);
    let every = times(&["--steps", "3", "--dt", "70", "--output-interval", "1"]);
    assert_eq!(every, [0.0, 70.0, 140.0, 210.0]);
    let beyond = times(&["--steps", "3", "--dt", "70", "--output-interval", "1e6"]);
    assert_eq!(beyond, [0.0, 210.0]);
    // Ten steps of a tenth of a second are a second, however they are rounded.
    let tenths = times(&["--steps", "30", "--dt", "0.1", "--output-interval", "1"]);
    assert_eq!(tenths, [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn steps_count_and_the_step_is_the_files_own() {
    let place = Place::with(&Small::new());
    let (figures, output) = place.figures(&["--steps", "5"]);
    assert_eq!(figures["steps"], 5);
    assert!(close(&figures["dt"], 60.0, 0.0), "{figures}");
    assert_eq!(output.times()[1], "2005-08-28_18:05:00");
    assert!((output.number("DT") - 60.0).abs() < 1e-6);

    let mut small = Small::new();
    small.set("DT", 37.5);
    let (figures, _) = Place::with(&small).figures(&["--steps", "2"]);
    assert!(close(&figures["dt"], 37.5, 0.0), "{figures}");
    // Without one it is a minute.
    small.unset("DT");
    let (figures, _) = Place::with(&small).figures(&["--steps", "2"]);
    assert!(close(&figures["dt"], 60.0, 0.0), "{figures}");
}

#[test]
fn too_long_a_step_of_the_file_is_reduced_with_a_word() {
    let mut small = Small::new();
    small.set("DT", 5000.0);
    let place = Place::with(&small);
    let ended = place.run_small(&["--steps", "2", "--json", "out.json"]).good();
    assert!(ended.stderr.contains("WARN time step reduced from 5000 s to"), "{}", ended.stderr);
    let figures = place.json("out.json");
    let [dt, most] = ["dt", "max_dt"].map(|name| figures[name].as_f64().expect("a time"));
    assert!(dt <= most && dt > most - 1.0, "{dt} {most}");
}

#[test]
fn a_dry_run_checks_everything_and_writes_nothing() {
    let place = Place::with(&Small::new());
    let ended = place.run_small(&["--dry-run", "--steps", "7", "--json", "out.json"]).good();
    assert!(ended.stdout.contains("7 steps of 60 s"), "{}", ended.stdout);
    assert_eq!(place.files(), ["small.nc"]);
    place.run_small(&["--dry-run", "--dt", "1e5"]).refused(2, &["a time step of 100000 s"]);
}

/// Still air has no longest step; nothing divides by it.
#[test]
fn calm_air_runs() {
    let mut small = Small::new();
    small.values("U").fill(0.0);
    small.values("V").fill(0.0);
    let place = Place::with(&small);
    let (figures, output) = place.figures(&["--steps", "3", "--dt", "600"]);
    assert!(figures["max_dt"].is_null(), "{figures}");
    assert!(output.values("QVAPOR").iter().all(|q| q.is_finite()));
    assert!(output.values("W").iter().all(|w| w.abs() == 0.0));
}

#[test]
fn the_smallest_grid_runs_with_all_boundaries() {
    let place = Place::with(&Small::of([4, 4, 4], false));
    for boundary in ["specified", "periodic", "open", "periodic,open", "open,specified"] {
        let (figures, output) = place.figures(&["--steps", "10", "--boundary", boundary]);
        assert_eq!(figures["grid"], serde_json::json!([4, 4, 4]));
        let whole = if boundary.contains(',') {
            boundary.to_owned()
        } else {
            format!("{boundary},{boundary}")
        };
        assert_eq!(figures["boundary"], whole.as_str());
        assert!(output.values("T").iter().all(|t| t.is_finite()), "{boundary}");
    }
}

#[test]
fn figures_are_written_even_when_nobody_reads_the_summary() {
    use std::process::Stdio;
    let place = Place::with(&Small::new());
    let arguments = ["run", "--input", "small.nc", "--steps", "3", "--json", "out.json"];
    let mut child = place
        .program(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // The reader closes the pipe before the first line.
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("the program ends");
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert!(!String::from_utf8_lossy(&ended.stderr).contains("error"), "{ended:?}");
    assert_eq!(place.files(), ["out.json", "small.nc", "small.out.nc"]);
    assert_eq!(place.json("out.json")["steps"], 3);
    assert_eq!(place.open("small.out.nc").frames(), 2);
}
