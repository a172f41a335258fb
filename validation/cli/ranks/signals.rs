//! Ranks that are killed, or asked to stop.

use std::fs;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Ended, Launcher, PATIENCE, Place, place};

const INTERRUPTED: i32 = 130;

/// Size at which the unfinished file has several frames: one has about 200 kB.
const SEVERAL_FRAMES: u64 = 1_000_000;

/// Returns `true` if a run to this output, a file or a store, is amid its steps.
fn has_frames(place: &Place, output: &str) -> bool {
    fs::metadata(place.path(&format!(".{output}.part")))
        .is_ok_and(|about| about.is_file() && about.len() > SEVERAL_FRAMES)
        || place.path(output).join("T/c/3").is_dir()
}

/// Starts a run without end, and waits until it writes.
pub(super) fn endless(launcher: &Launcher, place: &Place, output: &str) -> Child {
    let words = ["run", "-q", "--input", "small.nc", "--dt", "30", "--hours", "1e6"];
    let files = ["--output", output, "--restart-output", "r.nc", "--output-interval", "30"];
    let child = launcher.program(place, 3, &[&words[..], &files].concat()).spawn();
    let mut child = child.expect("mpirun starts");
    let start = Instant::now();
    while !has_frames(place, output) {
        let ended = child.try_wait().expect("a child");
        assert!(start.elapsed() < 2 * PATIENCE && ended.is_none(), "no output: {ended:?}");
        sleep(Duration::from_millis(10));
    }
    child
}

/// The processes that a process has started.
pub(super) fn children(parent: u32) -> Vec<u32> {
    let said = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    said.expect("a process").split_whitespace().map(|id| id.parse().expect("a number")).collect()
}

pub(super) fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args([name, &process.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "{name}");
}

#[test]
fn a_killed_rank_takes_the_others_with_it() {
    let Some(launcher) = Launcher::take() else { return };
    let place = place();
    let child = endless(&launcher, &place, "out.nc");
    let ranks = children(child.id());
    assert_eq!(ranks.len(), 3);
    signal("-KILL", ranks[1]);
    let start = Instant::now();
    let ended = Ended::of(child);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    assert_ne!(ended.code, Some(0), "{ended:?}");
    let files = place.files();
    // Under their final names files are complete; what is left of others is overwritten by the next run.
    assert!(files.iter().all(|name| name == "small.nc" || name.starts_with('.')), "{files:?}");
    let again = ["run", "-q", "--input", "small.nc", "--steps", "1", "--output", "out.nc"];
    place.command(&again).good();
}

/// Stops a run by a signal to its launcher or to one of its ranks.
fn stopped(name: &str, is_to_rank: bool) -> Ended {
    let launcher = Launcher::take().expect("checked by the caller");
    let place = place();
    let child = endless(&launcher, &place, "out.nc");
    let to = if is_to_rank { children(child.id())[2] } else { child.id() };
    signal(name, to);
    let start = Instant::now();
    let ended = Ended::of(child);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    let errors: Vec<_> = ended.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    let [error] = errors[..] else { panic!("one error: {ended:?}") };
    assert!(error.contains("stopped after step") && error.contains("--restart r.nc"), "{error}");
    assert_eq!(place.files(), ["out.nc", "r.nc", "small.nc"]);
    place.command(&["run", "-q", "--restart", "r.nc", "--steps", "1", "--output", "on.nc"]).good();
    ended
}

#[test]
fn a_signal_stops_all_ranks_with_a_restart_file() {
    if Launcher::take().is_none() {
        return;
    }
    for is_to_rank in [false, true] {
        let ended = stopped("-USR1", is_to_rank);
        assert_eq!(ended.code, Some(INTERRUPTED), "{ended:?}");
    }
    // Open MPI sends its ranks SIGTERM, and ends by a code of its own.
    for name in ["-TERM", "-INT"] {
        stopped(name, false);
    }
}

#[test]
fn the_batch_system_may_send_its_signal_to_one_process_too() {
    let place = place();
    let words = ["run", "-q", "--input", "small.nc", "--dt", "30", "--hours", "1e6"];
    let files = ["--output", "out.nc", "--restart-output", "r.nc", "--output-interval", "30"];
    let child = place
        .program(&[&words[..], &files, &["--backend", "cpu"]].concat())
        .spawn()
        .expect("it starts");
    let start = Instant::now();
    while !has_frames(&place, "out.nc") {
        assert!(start.elapsed() < 2 * PATIENCE, "no output");
        sleep(Duration::from_millis(10));
    }
    signal("-USR1", child.id());
    assert_eq!(Ended::of_alone(child), Some(INTERRUPTED));
    assert_eq!(place.files(), ["out.nc", "r.nc", "small.nc"]);
}
