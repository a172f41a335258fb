//! Zarr stores whose shards are written by all ranks: the files of one process, and whole frames whatever happens.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use super::signals::{children, endless, signal};
use super::{Ended, Launcher, PATIENCE, Place, place};

/// The files of a folder, by their names within it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            let inside = files(&path).into_iter();
            found.extend(inside.map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else {
            found.insert(name, fs::read(&path).expect("a file"));
        }
    }
    found
}

/// Fails unless a store can be read at all of its times.
#[track_caller]
pub(super) fn check_whole(place: &Place, store: &str) {
    // Every time is looked at before the first step.
    let words = ["run", "-q", "--input", store, "--backend", "cpu", "--steps", "1"];
    place.command(&[&words[..], &["--output", "again.nc"]].concat()).good();
}

#[test]
fn the_store_of_ranks_is_that_of_one_file_by_file() {
    let Some(launcher) = Launcher::take() else { return };
    for more in [&[][..], &["--keepbits", "auto", "--precision", "f64"]] {
        let place = place();
        let words = ["run", "-q", "--input", "small.nc", "--dt", "30", "--steps", "3"];
        let words = [&words[..], &["--output-interval", "30"], more].concat();
        let one = [&words[..], &["--backend", "cpu", "--output", "one.zarr"]].concat();
        place.command(&one).good();
        launcher.run(&place, 4, &[&words[..], &["--output", "four.zarr"]].concat()).good();
        let [one, four] = ["one.zarr", "four.zarr"].map(|name| files(&place.path(name)));
        assert!(one.keys().eq(four.keys()), "{more:?}");
        for (name, bytes) in one.iter().filter(|(name, _)| *name != "zarr.json") {
            assert!(*bytes == four[name], "{name} {more:?}");
        }
        let ended = place.command(&["diff", "one.zarr", "four.zarr"]).good();
        assert!(ended.stdout.contains("The same bit by bit"), "{}", ended.stdout);
        assert_eq!(place.files(), ["four.zarr", "one.zarr", "small.nc"]);
    }
}

#[test]
fn a_killed_rank_leaves_whole_frames() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    let child = endless(&launcher, &place, "out.zarr");
    signal("-KILL", children(child.id())[1]);
    let start = Instant::now();
    let ended = Ended::of(child);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    assert_ne!(ended.code, Some(0), "{ended:?}");
    check_whole(&place, "out.zarr");
}

#[test]
fn a_signal_leaves_whole_frames_and_a_restart_file() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    let child = endless(&launcher, &place, "out.zarr");
    signal("-TERM", child.id());
    let ended = Ended::of(child);
    assert!(ended.stderr.contains("--restart r.nc"), "{ended:?}");
    check_whole(&place, "out.zarr");
    place.command(&["run", "-q", "--restart", "r.nc", "--steps", "1", "--output", "on.nc"]).good();
}
