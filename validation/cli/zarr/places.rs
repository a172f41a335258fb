//! The name of a store: what it replaces, and what a run that is killed leaves.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::place::Place;
use super::small::Small;
use super::{document, same};

/// Longest wait for something that takes a moment.
const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn force_replaces_a_store_and_nothing_else() {
    let place = Place::with(&Small::new());
    let run = |more: &[&str]| {
        place.run_small(&[&["-q", "--steps", "2", "-o", "a.zarr"][..], more].concat())
    };
    run(&[]).good();
    run(&[]).refused(3, &["a.zarr", "exists", "--force"]);
    run(&["--force", "--output-vars", "T"]).good();
    assert!(!place.path("a.zarr/QVAPOR").exists(), "the old store is gone");
    assert_eq!(place.files(), ["a.zarr", "small.nc"]);

    fs::write(place.path("a.zarr/notes.txt"), "mine").expect("a file");
    run(&["--force"]).refused(3, &["a.zarr", "notes.txt", "no part of a store"]);
    fs::remove_file(place.path("a.zarr/notes.txt")).expect("a file");
    fs::create_dir(place.path("a.zarr/photographs")).expect("a folder");
    run(&["--force"]).refused(3, &["photographs"]);
    assert!(place.path("a.zarr/T/zarr.json").exists(), "nothing is lost");

    fs::remove_dir_all(place.path("a.zarr")).expect("a store");
    fs::create_dir(place.path("a.zarr")).expect("a folder");
    run(&["--force"]).refused(3, &["a.zarr", "without zarr.json"]);
    fs::remove_dir(place.path("a.zarr")).expect("a folder");
    fs::write(place.path("a.zarr"), "a file").expect("a file");
    run(&["--force"]).refused(3, &["a.zarr", "is not a folder"]);
    fs::remove_file(place.path("a.zarr")).expect("a file");
    std::os::unix::fs::symlink(place.path("elsewhere"), place.path("a.zarr")).expect("a link");
    run(&["--force"]).refused(3, &["a.zarr", "is a link"]);
    place.run_small(&["-q", "-o", "none/a.zarr"]).refused(3, &["none", "does not exist"]);
}

#[test]
fn a_killed_run_leaves_whole_frames() {
    let place = Place::with(&Small::new());
    let endless = ["run", "-q", "-i", "small.nc", "--hours", "1e6", "--dt", "60", "-o", "a.zarr"];
    let mut child = place
        .program(&[&endless[..], &["--output-interval", "60"]].concat())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let begin = Instant::now();
    let root = place.path("a.zarr/zarr.json");
    let frames = || {
        let text = fs::read_to_string(&root).ok()?;
        let root: serde_json::Value = serde_json::from_str(&text).expect("whole at any time");
        root["consolidated_metadata"]["metadata"]["T"]["shape"][0].as_u64()
    };
    while frames().is_none_or(|n| n < 5) && begin.elapsed() < PATIENCE {
        sleep(Duration::from_millis(1));
    }
    child.kill().expect("the program is running");
    child.wait().expect("an end");
    let found = frames().expect("a store");
    assert!(found >= 5, "{found}");
    // Its frames are those of a run that ends by itself.
    let steps = (found - 1).to_string();
    let whole = ["-q", "--dt", "60", "--steps", &steps, "--output-interval", "60", "-o", "b.nc"];
    place.run_small(&whole).good();
    same(&place, "a.zarr", "b.nc");
    let again = ["-q", "--steps", "1", "-o", "a.zarr", "--force"];
    place.run_small(&again).good();
    assert_eq!(document(&place, "a.zarr/T/zarr.json")["shape"][0], 2);
    assert_eq!(place.files(), ["a.zarr", "b.nc", "small.nc"]);
}

#[test]
fn nothing_is_left_of_a_run_without_a_frame() {
    let place = Place::with(&Small::new());
    place.run_small(&["-q", "--dry-run", "-o", "a.zarr"]).good();
    assert_eq!(place.files(), ["small.nc"]);
}

/// Restart files and other outputs stay NetCDF.
#[test]
fn other_outputs_stand_beside_it() {
    let place = Place::with(&Small::new());
    let more = ["--profiles", "--restart-interval", "120", "--restart-output", "r.nc"];
    place
        .run_small(&[&["-q", "--dt", "60", "--steps", "4", "-o", "a.zarr"][..], &more].concat())
        .good();
    assert_eq!(place.files(), ["a.profiles.nc", "a.zarr", "r.nc", "small.nc"]);
    place.run(&["-q", "--restart", "r.nc", "--steps", "2", "-o", "b.zarr"]).good();
    place.run(&["-q", "--restart", "r.nc", "--steps", "2", "-o", "b.nc"]).good();
    same(&place, "b.zarr", "b.nc");
    // Only the output of a run is a store.
    for option in ["--json", "--restart-output"] {
        let file = ["-q", "--steps", "1", "-o", "c.nc", option, "c.zarr"];
        place.run_small(&file).refused(3, &["c.zarr", "is a file"]);
    }
    place.run(&["--restart", "a.zarr"]).refused(3, &["a.zarr", "not a restart file"]);
}
