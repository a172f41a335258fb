//! A run that is killed at any moment leaves complete files, from which the next one continues.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Instant;

use super::place::Place;
use super::random::Random;
use super::result::Output;
use super::same_frames;
use super::small::Small;

/// Moments at which a run is killed.
const MOMENTS: usize = 50;

/// Steps of the run: enough to be killed in the middle of something.
const STEPS: usize = 48;

/// Steps between frames of output.
const BETWEEN: usize = 4;

const RUN: [&str; 9] = [
    "run",
    "-q",
    "--output-interval",
    "240",
    "--restart-interval",
    "480",
    "--threads",
    "1",
    "--force",
];

/// File names, without those of runs in progress and of killed runs.
fn complete(place: &Place) -> Vec<String> {
    let is_left = |name: &String| {
        let left = [".part", ".lock", ".copy"];
        name.starts_with('.') && left.iter().any(|end| name.ends_with(end))
    };
    place.files().into_iter().filter(|name| !is_left(name)).collect()
}

/// Files of a killed run: they contain the frames of the whole run, and a run that continues from its restart file, or
/// from the input if there is none, ends like the whole run; returns the number of steps in the restart file.
fn look_and_go_on(place: &Place, whole: &Output, about: &str) -> usize {
    let mut names = complete(place);
    names.retain(|name| !["small.nc", "whole.nc"].contains(&name.as_str()));
    assert!(names.iter().all(|name| ["out.nc", "r.nc"].contains(&name.as_str())), "{names:?}");
    let has = |name: &str| names.iter().any(|other| other == name);
    let mut steps = 0;
    if has("r.nc") {
        steps = place.open("r.nc").number("steps") as usize;
        assert!(has("out.nc"), "{about}: a restart file without the frames before it");
    }
    if has("out.nc") {
        let output = place.open("out.nc");
        same_frames(whole, &output, 0, about);
        // No frame until the restart is missing.
        assert!(
            output.frames() > steps / BETWEEN,
            "{about}: {} frames, {steps} steps",
            output.frames()
        );
    }
    let left = (STEPS - steps).to_string();
    let (from, name) = if steps > 0 {
        (["--restart", "r.nc"], "rest.nc")
    } else {
        (["--input", "small.nc"], "out.nc")
    };
    if steps < STEPS {
        let ended = place.run(&[&RUN[1..], &from, &["--steps", &left, "-o", name]].concat());
        let ended = ended.good();
        assert_eq!(ended.stderr, "", "{about}");
        assert_eq!(place.open(name).last_bits(), whole.last_bits(), "{about}");
    }
    steps
}

#[test]
fn killed_at_fifty_moments() {
    let place = Place::with(&Small::new());
    let all = STEPS.to_string();
    let whole =
        ["--input", "small.nc", "--steps", &all, "-o", "whole.nc", "--restart-output", "r.nc"];
    let start = Instant::now();
    place.run(&[&RUN[1..], &whole].concat()).good();
    let mut length = start.elapsed();
    let whole = place.open("whole.nc");
    assert_eq!(super::times(&whole), STEPS / BETWEEN + 1);
    let mut random = Random::new(50);
    let mut kept = Vec::new();
    for moment in 0..MOMENTS {
        for name in place.files() {
            if !["small.nc", "whole.nc"].contains(&name.as_str()) {
                std::fs::remove_file(place.path(&name)).expect("a file");
            }
        }
        // Spread over the whole run, each at random in its part.
        let part = (moment as f64 + random.between(0.0, 1.0)) / MOMENTS as f64;
        let names =
            ["--input", "small.nc", "--steps", &all, "-o", "out.nc", "--restart-output", "r.nc"];
        let mut program = place.program(&[&RUN[..], &names].concat());
        let mut child = program
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        sleep(length.mul_f64(part));
        child.kill().expect("a child");
        child.wait().expect("it ends");
        let about = format!("killed after {part:.3} of the run");
        let steps = look_and_go_on(&place, &whole, &about);
        kept.push(steps);
        // Load of the machine makes a run longer or shorter than the first one.
        let expected = part * STEPS as f64;
        if (steps as f64) < 0.5 * expected {
            length = length.mul_f64(1.25);
        } else if steps == STEPS && part < 0.9 {
            length = length.mul_f64(0.8);
        }
    }
    // Most of them had come some way, and not all to the end.
    assert!(kept.iter().filter(|steps| **steps > 0).count() > MOMENTS / 4, "{kept:?}");
    assert!(kept.iter().filter(|steps| **steps < STEPS).count() > MOMENTS / 4, "{kept:?}");
}
