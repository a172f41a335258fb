//! Times and names of restart files, and their effect on the output.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::place::Place;
use super::same_frames;
use super::small::Small;

/// Longest wait for something that takes a moment.
const PATIENCE: Duration = Duration::from_mins(1);

/// Steps and seconds until the restart file.
fn stands(place: &Place, name: &str) -> (f64, f64) {
    let file = place.open(name);
    (file.number("steps"), file.number("seconds"))
}

#[test]
fn the_default_name_and_the_end() {
    let place = Place::with(&Small::new());
    let ended = place.run_small(&["--dt", "60", "--steps", "5", "--restart-interval", "120"]);
    let ended = ended.good();
    assert_eq!(place.files(), ["small.nc", "small.out.nc", "small.restart.nc"]);
    assert_eq!(stands(&place, "small.restart.nc"), (5.0, 300.0));
    assert!(ended.stdout.contains("small.restart.nc"), "{}", ended.stdout);
    // Provenance of the file.
    let file = place.open("small.restart.nc");
    for (name, value) in [
        ("precision", "f32"),
        ("fallout", "semi-lagrangian"),
        ("limiter", "pd"),
        ("boundary", "specified,specified"),
        ("refine", "1"),
        ("projection_residual", "0.001"),
        ("nwp_mini_version", env!("CARGO_PKG_VERSION")),
        ("begin", "2005-08-28_18:00:00"),
        ("time", "2005-08-28_18:05:00"),
        ("input_file", "small.nc"),
    ] {
        assert_eq!(file.text(name), value, "{name}");
    }
    // From there on the names are formed in the same way.
    place
        .run(&["-q", "--restart", "small.restart.nc", "--steps", "1", "--restart-interval", "60"])
        .good();
    let files = place.files();
    for name in ["small.restart.out.nc", "small.restart.restart.nc"] {
        assert!(files.iter().any(|file| file == name), "{files:?}");
    }
    // The file exists already.
    let again = ["-q", "--steps", "1", "-o", "new.nc", "--restart-interval", "60"];
    place.run_small(&again).refused(3, &["small.restart.nc exists", "--force"]);
    place.run_small(&[&again[..], &["--force"]].concat()).good();
}

#[test]
fn a_dry_run_names_it_and_leaves_nothing() {
    let place = Place::with(&Small::new());
    let ended = place.run_small(&["-q", "--dry-run", "--restart-output", "r.nc"]).good();
    assert!(ended.stdout.contains("and r.nc"), "{}", ended.stdout);
    assert_eq!(place.files(), ["small.nc"]);
}

/// Starts a run without end and stops it by a signal once it has written a restart file; returns the number of steps
/// that it reports.
fn stopped(place: &Place, signal: &str) -> usize {
    let endless = ["run", "-q", "-i", "small.nc", "--hours", "1e6", "--dt", "60", "-o", "a.nc"];
    let often =
        ["--output-interval", "60", "--restart-interval", "300", "--restart-output", "r.nc"];
    let mut child = place
        .program(&[&endless[..], &often].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let start = Instant::now();
    while !place.path("r.nc").exists() {
        assert!(start.elapsed() < PATIENCE, "no restart file");
        sleep(Duration::from_millis(3));
    }
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.expect("kill starts").success());
    while child.try_wait().expect("a child").is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().expect("the program is running");
            panic!("it does not end");
        }
        sleep(Duration::from_millis(3));
    }
    let ended = child.wait_with_output().expect("the program ends");
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("continue with --restart r.nc"), "{stderr}");
    let words: Vec<&str> = stderr.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "step").expect("a step");
    words[at + 1].parse().expect("its number")
}

/// The restart file has the state of that moment, and no step is computed twice.
#[test]
fn an_interrupt_is_gone_on_from() {
    for signal in ["-INT", "-TERM"] {
        let place = Place::with(&Small::new());
        let made = stopped(&place, signal);
        assert_eq!(place.files(), ["a.nc", "r.nc", "small.nc"]);
        assert_eq!(stands(&place, "r.nc").0, made as f64);
        let run = ["-q", "--output-interval", "60"];
        place
            .run(&[&run[..], &["--restart", "r.nc", "--steps", "3", "-o", "b.nc"]].concat())
            .good();
        let whole = (made + 3).to_string();
        let whole = ["-o", "whole.nc", "--dt", "60", "--steps", &whole];
        place.run_small(&[&run[..], &whole].concat()).good();
        let [whole, a, b] = ["whole.nc", "a.nc", "b.nc"].map(|name| place.open(name));
        same_frames(&whole, &a, 0, signal);
        same_frames(&whole, &b, made, signal);
        assert_eq!(a.frames(), made + 1);
    }
}

/// A run that fails later has its last restart file, and the frames until then and up to the failure.
#[test]
fn a_failure_leaves_the_last_one() {
    let place = Place::empty();
    for (name, stamp) in [("a.nc", "2005-08-28_18:00:00"), ("b.nc", "2005-08-28_18:05:00")] {
        let mut small = Small::new();
        small.stamp = stamp;
        small.write(&place.path(name));
    }
    let arguments = ["-q", "--dt", "60", "--hours", "1", "--output-interval", "60"];
    let more = ["--restart-interval", "120", "--restart-output", "r.nc", "-o", "out.nc"];
    // Every restart file holds the frame that comes later, so this one is looked for again.
    let program =
        place.program(&[&["run", "--input", "a.nc", "b.nc"], &arguments[..], &more].concat());
    let mut program = program;
    let child = program.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let start = Instant::now();
    while !place.path("r.nc").exists() {
        assert!(start.elapsed() < PATIENCE, "no restart file");
        sleep(Duration::from_millis(1));
    }
    fs::remove_file(place.path("b.nc")).expect("a file");
    let ended = child.wait_with_output().expect("the program ends");
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("cannot read b.nc"), "{stderr}");
    let (steps, _) = stands(&place, "r.nc");
    let frames = place.open("out.nc").frames();
    assert!(steps >= 2.0 && frames as f64 > steps, "{steps} {frames}");
    let left = 6.0_f64.max(8.0 - steps).to_string();
    place.run(&["-q", "--restart", "r.nc", "--steps", &left, "-o", "rest.nc"]).good();
}
