//! Failures on several ranks: one message, the exit codes of one process, whole files or none, and no rank that hangs.

use std::fs;
use std::process::Command;
use std::time::Instant;

use nwp_mini_support::skip::skipped;

use super::small::Small;
use super::{Launcher, PATIENCE, Place, SHAPE, place};

const USAGE: i32 = 2;
const FILES: i32 = 3;
const BLOW_UP: i32 = 5;
const PANICKED: i32 = 101;

#[test]
fn wrong_options_and_input() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    fs::write(place.path("bad.nc"), b"not a file of any kind").expect("a file");
    fs::write(place.path("there.nc"), b"").expect("a file");
    let cases: [(&[&str], i32, &[&str]); 7] = [
        (&["--input", "small.nc", "--stepss", "3"], USAGE, &["--stepss"]),
        (&["--input", "small.nc", "--dt", "-3"], USAGE, &["--dt -3"]),
        (&["--input", "small.nc", "--ranks", "3x2"], USAGE, &["3x2 needs 6", "there are 3"]),
        (&["--input", "small.nc", "--ranks", "1x3"], USAGE, &["35x27", "as 1x3", "10"]),
        (&["--input", "small.nc", "--backend", "both"], USAGE, &["--backend both", "one process"]),
        (&["--input", "bad.nc"], FILES, &["bad.nc"]),
        (&["--input", "small.nc", "--output", "there.nc"], FILES, &["there.nc exists", "--force"]),
    ];
    for (arguments, code, words) in cases {
        let start = Instant::now();
        let ended = launcher.run(&place, 3, &[&["run"], arguments].concat());
        assert!(start.elapsed() < PATIENCE, "{arguments:?}: {:?}", start.elapsed());
        ended.refused(code, words);
        assert!(ended.stdout.is_empty(), "{ended:?}");
        assert_eq!(place.files(), ["bad.nc", "small.nc", "there.nc"]);
    }
}

#[test]
fn a_value_that_is_not_finite_is_that_of_one_process() {
    let Some(launcher) = Launcher::take() else { return };
    let mut small = Small::of(SHAPE, true);
    for name in ["QCLOUD", "QRAIN", "QICE", "QSNOW"] {
        small.values(name).fill(0.0);
    }
    small.values("FNM")[[1]] = 600.0;
    small.values("FNP")[[1]] = -599.0;
    let place = Place::with(&small);
    let words = [
        "run",
        "--input",
        "small.nc",
        "--steps",
        "500",
        "--output-interval",
        "600",
        "--dt",
        "300",
        "--json",
        "out.json",
    ];
    let one = place.command(&[&words[..], &["--backend", "cpu", "--output", "one.nc"]].concat());
    assert_eq!(one.code, Some(BLOW_UP), "{one:?}");
    let error = one.stderr.lines().find(|line| line.starts_with("error: ")).expect("an error");
    let several = launcher.run(&place, 4, &[&words[..], &["--output", "four.nc"]].concat());
    several.refused(BLOW_UP, &[error]);
    assert_eq!(place.files(), ["four.nc", "one.nc", "small.nc"]);
    super::check_file("frames before the end", &place, ["one.nc", "four.nc"]);
}

#[test]
fn a_panic_ends_all_ranks() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    let start = Instant::now();
    let words = ["run", "-q", "--input", "small.nc", "--dt", "30", "--hours", "1e6"];
    let ended = launcher.run(&place, 3, &[&words[..], &["--panic-at-step", "3"]].concat());
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    assert_eq!(ended.code, Some(PANICKED), "{ended:?}");
    assert_eq!(ended.stderr.matches("panicked at").count(), 1, "{ended:?}");
    assert!(!place.files().contains(&"small.out.nc".to_owned()), "{:?}", place.files());
}

/// A run of three ranks whose output goes to a disk that it fills; `None` where none can be made. Returns what is left of
/// it, after `look` has looked at it.
fn on_a_small_disk(
    launcher: &Launcher,
    place: &Place,
    output: &str,
    look: impl FnOnce(&Place),
) -> Option<Vec<String>> {
    let disk = place.path("disk");
    fs::create_dir(&disk).expect("a folder");
    let mount = ["-t", "tmpfs", "-o", "size=1500k", "tmpfs"];
    let made = Command::new("mount").args(mount).arg(&disk).output();
    if !made.as_ref().is_ok_and(|made| made.status.success()) {
        skipped(&format!("no small disk can be made here: {made:?}"));
        return None;
    }
    let words = ["run", "-q", "--input", "small.nc", "--dt", "30", "--hours", "1e4"];
    let more = ["--output-interval", "30", "--output", output];
    let start = Instant::now();
    let ended = launcher.run(place, 3, &[&words[..], &more].concat());
    look(place);
    let left = fs::read_dir(&disk)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let left = left.collect();
    let gone = Command::new("umount").arg("-l").arg(&disk).status();
    assert!(gone.is_ok_and(|status| status.success()), "{} stays mounted", disk.display());
    assert!(start.elapsed() < 2 * PATIENCE, "{:?}", start.elapsed());
    ended.refused(FILES, &[output, "No space left"]);
    Some(left)
}

#[test]
fn a_full_disk_ends_all_ranks() {
    let Some(launcher) = Launcher::take() else { return };
    let left = on_a_small_disk(&launcher, &place(), "disk/out.nc", |_| ());
    assert!(left.is_none_or(|left| left.is_empty()));
}

#[cfg(feature = "zarr")]
#[test]
fn a_store_on_a_full_disk_has_whole_frames() {
    let Some(launcher) = Launcher::take() else { return };
    let look = |place: &Place| super::shards::check_whole(place, "disk/out.zarr");
    let left = on_a_small_disk(&launcher, &place(), "disk/out.zarr", look);
    assert!(left.is_none_or(|left| left == ["out.zarr"]));
}
