//! Memory that a run takes.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use super::place::{Place, storm};

/// Resident memory of the storm with one frame in memory and as much as the library may keep, KiB; 22
/// frames have 180 MB of values.
const MOST: u64 = 150 << 10;

/// The library keeps written data in memory, up to 64 MB of each of 60 variables, until the file is closed.
#[test]
fn frames_of_output_do_not_stay_in_memory() {
    let place = Place::empty();
    let storm = storm();
    let storm = storm.to_str().expect("a path in UTF-8");
    let every_step = ["--steps", "21", "--dt", "60", "--output-interval", "60", "--threads", "1"];
    let files = ["-q", "run", "--backend", "cpu", "--input", storm, "--output", "out.nc"];
    let mut program = place.program(&[&files[..], &every_step].concat());
    let mut child = program.stdout(Stdio::null()).spawn().expect("the program starts");
    let mut most = 0;
    let status = loop {
        let about = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = about.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
        most = most.max(peak.unwrap_or(0));
        if let Some(status) = child.try_wait().expect("a child to wait for") {
            break status;
        }
        sleep(Duration::from_millis(5));
    };
    assert!(status.success(), "{status}");
    assert!(most > 10 << 10, "{most} KiB is no program");
    assert!(most < MOST, "{most} KiB resident, {MOST} at most are expected");
    assert_eq!(place.open("out.nc").file.dimension_len("Time"), Some(22));
}
