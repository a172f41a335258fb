//! A run that is stopped leaves a valid file with its results so far.
#![cfg(unix)]

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::place::Place;
use super::small::Small;

const INTERRUPTED: i32 = 130;

/// Longest wait for something that takes a moment.
const PATIENCE: Duration = Duration::from_mins(1);

/// Size at which the unfinished file has several frames: one has about 100 kB, less with compression, and the metadata
/// have about as much.
const SEVERAL_FRAMES: u64 = 1_000_000;

/// Size of the unfinished output, if there is one.
fn unfinished(place: &Place) -> Option<u64> {
    let name = place.files().into_iter().find(|name| name.ends_with(".out.nc.part"))?;
    Some(fs::metadata(place.path(&name)).ok()?.len())
}

/// Waits until a condition holds; a child that does not fulfil it is killed, since it would not end by itself.
fn wait_until(child: &mut Child, what: &str, mut is_so: impl FnMut(&mut Child) -> bool) {
    let start = Instant::now();
    while !is_so(child) {
        if start.elapsed() > PATIENCE {
            child.kill().expect("the program is running");
            child.wait().expect("the program ends");
            panic!("no {what} after {PATIENCE:?}");
        }
        sleep(Duration::from_millis(5));
    }
}

/// Starts a run without end, stops it by a signal when the unfinished output has this size, and checks the files that
/// remain; returns the number of frames.
fn stopped_by(signal: &str, size: u64, arguments: &[&str]) -> usize {
    let place = Place::with(&Small::new());
    let endless = [
        "run",
        "--input",
        "small.nc",
        "--json",
        "out.json",
        "--hours",
        "1e6",
        "--precision",
        "f64",
    ];
    let mut child = place
        .program(&[&endless, arguments].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    wait_until(&mut child, "output", |_| unfinished(&place).is_some_and(|now| now >= size));
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.expect("kill starts").success());
    wait_until(&mut child, "end", |child| child.try_wait().expect("a child").is_some());
    let ended = child.wait_with_output().expect("the program ends");
    let stderr = String::from_utf8(ended.stderr).expect("UTF-8");
    assert_eq!(ended.status.code(), Some(INTERRUPTED), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert_eq!(place.files(), ["out.json", "small.nc", "small.out.nc"]);

    let (output, figures) = (place.open("small.out.nc"), place.json("out.json"));
    let (frames, steps) = (output.frames(), figures["steps"].as_u64().expect("a number"));
    let said = format!("error: stopped after step {steps} of 60000000; small.out.nc contains");
    let said = format!("{said} {frames} frame");
    assert!(stderr.contains(&said), "{said:?} is not in {stderr:?}");
    assert_eq!(output.times().len(), frames);
    assert!(output.times().iter().all(|time| time.starts_with("20")), "{:?}", output.times());
    for name in output.names().iter().filter(|name| *name != "Times") {
        assert!(output.values(name).iter().all(|x| x.is_finite()), "{name}");
    }
    // The budget of the completed steps is closed too, in double precision for any number of steps.
    assert!(figures["water"]["closure_rel"].as_f64().expect("a number").abs() < 1e-10, "{figures}");
    frames
}

#[test]
fn an_interrupt_leaves_the_finished_frames() {
    let frames = stopped_by("-INT", SEVERAL_FRAMES, &["--output-interval", "60"]);
    assert!(frames > 2, "{frames}");
}

#[test]
fn a_request_to_end_leaves_the_finished_frames() {
    let frames = stopped_by("-TERM", SEVERAL_FRAMES, &["--output-interval", "60"]);
    assert!(frames > 2, "{frames}");
}

/// Even at once, before the first step, there is the initial state.
#[test]
fn an_early_interrupt_leaves_the_initial_state() {
    assert_eq!(stopped_by("-INT", 0, &[]), 1);
}
