//! A disk that is really full.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use nwp_mini_support::skip::skipped;

use super::place::{Ended, Place};
use super::same_frames;
use super::small::Small;

const FILES: i32 = 3;

/// A separate file system of limited size, which is unmounted on drop.
struct Disk(PathBuf);

impl Disk {
    /// Mounts it at a new folder; `None`, with a line that states the reason, if that is not allowed.
    fn of(place: &Place, name: &str, kilobytes: usize) -> Option<Self> {
        let path = place.path(name);
        fs::create_dir(&path).expect("a folder");
        let size = format!("size={kilobytes}k");
        let made =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&path).output();
        match made {
            Ok(made) if made.status.success() => Some(Self(path)),
            other => {
                let why = other.map_or_else(
                    |e| e.to_string(),
                    |made| String::from_utf8_lossy(&made.stderr).trim().to_owned(),
                );
                skipped(&format!("no small disk can be made here: {why}"));
                None
            }
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a program that another test has just started may still have inherited files open.
        let gone = Command::new("umount").arg("-l").arg(&self.0).status();
        assert!(gone.is_ok_and(|status| status.success()), "{} stays mounted", self.0.display());
    }
}

fn run(place: &Place, output: &str, restart: &str) -> Ended {
    let steps = ["-q", "--dt", "60", "--steps", "60", "--output-interval", "60"];
    let names = ["-o", output, "--restart-output", restart, "--restart-interval", "300"];
    place.run_small(&[&steps[..], &names].concat())
}

/// All files in a folder.
fn names(place: &Place, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(place.path(folder)).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into())
        .collect();
    names.sort();
    names
}

#[test]
fn no_room_for_more_frames_or_for_restarts() {
    let place = Place::with(&Small::new());
    run(&place, "whole.nc", "whole_r.nc").good();
    let size = |name: &str| fs::metadata(place.path(name)).expect("a file").len() as usize / 1024;
    let (frames, restart) = (size("whole.nc"), size("whole_r.nc"));
    let whole = place.open("whole.nc");
    // From hardly any room to nearly enough, for the frames and a copy of them.
    for (number, room) in [8, frames / 3, frames, 2 * frames - frames / 4].into_iter().enumerate() {
        let name = format!("disk{number}");
        let Some(disk) = Disk::of(&place, &name, room) else { return };
        let (output, kept) = (format!("{name}/out.nc"), format!("r{number}.nc"));
        let ended = run(&place, &output, &kept);
        ended.refused(FILES, &["cannot write", "out.nc", "No space left", "free space"]);
        let left = names(&place, &name);
        assert!(left.iter().all(|name| name == "out.nc"), "{left:?}");
        if !left.is_empty() {
            same_frames(&whole, &place.open(&output), 0, &name);
        }
        // The restart files are elsewhere and stay valid.
        assert_eq!(left.is_empty(), !place.path(&kept).exists(), "{name}");
        if place.path(&kept).exists() {
            let steps = (60.0 - place.open(&kept).number("steps")).to_string();
            let rest = format!("rest{number}.nc");
            place.run(&["-q", "--restart", &kept, "--steps", &steps, "-o", &rest]).good();
            assert_eq!(place.open(&rest).last_bits(), whole.last_bits());
        }
        drop(disk);
    }
    // Without space for a second restart file the first one stays, and so do the frames.
    for (number, room) in [restart / 2, restart + restart / 2].into_iter().enumerate() {
        let name = format!("small{number}");
        let Some(disk) = Disk::of(&place, &name, room) else { return };
        let (output, kept) = (format!("out{number}.nc"), format!("{name}/r.nc"));
        let ended = run(&place, &output, &kept);
        ended.refused(FILES, &["cannot write", "r.nc", "No space left"]);
        assert_eq!(names(&place, &name), if number == 0 { &[][..] } else { &["r.nc"] });
        same_frames(&whole, &place.open(&output), 0, &name);
        if number > 0 {
            place.run(&["-q", "--restart", &kept, "--steps", "55", "-o", "end.nc"]).good();
            assert_eq!(place.open("end.nc").last_bits(), whole.last_bits());
        }
        drop(disk);
    }
}
