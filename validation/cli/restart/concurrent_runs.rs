//! Runs that meet: one name is written by one of them, different names by all of them at once.

use std::fs;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::place::Place;
use super::small::Small;

const FILES: i32 = 3;

/// Longest wait for something that takes a moment.
const PATIENCE: Duration = Duration::from_mins(1);

/// A run without end that has begun to write `out.nc`; it is ended when this goes.
struct Endless(Child);

impl Endless {
    fn start(place: &Place, more: &[&str]) -> Self {
        let endless =
            ["run", "-q", "-i", "small.nc", "--hours", "1e6", "--dt", "60", "-o", "out.nc"];
        let mut program = place.program(&[&endless[..], more].concat());
        let child = program.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let endless = Self(child.expect("the program starts"));
        let start = Instant::now();
        let has_begun =
            || fs::metadata(place.path(".out.nc.part")).is_ok_and(|about| about.len() > 0);
        while !has_begun() {
            assert!(start.elapsed() < PATIENCE, "no output");
            sleep(Duration::from_millis(2));
        }
        endless
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.0.kill().expect("the program is running");
        self.0.wait().expect("the program ends");
    }
}

#[test]
fn the_second_run_to_one_name_refuses() {
    let place = Place::with(&Small::new());
    let names = ["--json", "out.json", "--restart-output", "r.nc"];
    let first = Endless::start(&place, &names);
    let who = format!("process {}", first.0.id());
    let during = place.files();
    for name in ["out.nc", "out.json", "r.nc"] {
        let words = [&format!("{name}: is being written by another run")[..], &who, "another name"];
        for option in ["--output", "--json", "--restart-output"] {
            // Before any input is read, even with --force.
            let input = ["-q", "--input", "absent.nc", option, name];
            place.run(&input).refused(FILES, &words);
            place.run(&[&input[..], &["--force"]].concat()).refused(FILES, &words);
        }
    }
    // Other commands keep off as well.
    let info = place.program(&["info", "--json", "out.json"]).output().expect("it starts");
    assert_eq!(info.status.code(), Some(FILES));
    assert_eq!(place.files(), during);
    // Also by another path to the same folder.
    std::os::unix::fs::symlink(place.path(""), place.path("way")).expect("a link");
    let ended = place.run_small(&["-q", "--output", "way/out.nc"]);
    ended.refused(FILES, &["is being written by another run"]);
    // Another name is free.
    place.run_small(&["-q", "--steps", "2", "-o", "other.nc"]).good();
    drop(first);
    // Temporary files that it has left do not stop the next run, and are removed.
    let left = place.files();
    assert!(left.iter().any(|name| name == ".out.nc.part"), "{left:?}");
    place.run_small(&[&["-q", "--steps", "2", "-o", "out.nc"], &names[..]].concat()).good();
    let after = ["other.nc", "out.json", "out.nc", "r.nc", "small.nc", "way"];
    assert_eq!(place.files(), after);
    assert_eq!(place.open("out.nc").frames(), 2);
}

/// Many start at once: one gets the name.
#[test]
fn one_of_many_gets_the_name() {
    let place = Place::with(&Small::new());
    let arguments = ["run", "-q", "-i", "small.nc", "--steps", "40", "--dt", "60", "-o", "out.nc"];
    let start = || {
        let mut program = place.program(&arguments);
        program.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts")
    };
    let runs: Vec<Child> = (0..8).map(|_| start()).collect();
    let ended = runs.into_iter().map(|run| run.wait_with_output().expect("the program ends"));
    let (good, bad): (Vec<_>, Vec<_>) = ended.partition(|run| run.status.success());
    assert_eq!(good.len(), 1);
    for run in bad {
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(FILES), "{said}");
        let is_refusal =
            said.contains("is being written by another run") || said.contains("exists");
        assert!(is_refusal, "{said}");
    }
    assert_eq!(place.files(), ["out.nc", "small.nc"]);
    assert_eq!(place.open("out.nc").frames(), 2);
}

/// Different names in one folder, from one input and from one restart file: as if each run were the only one.
#[test]
fn runs_to_different_names_do_not_meet() {
    let place = Place::with(&Small::new());
    let first = ["-q", "--dt", "60", "--steps", "3", "-o", "a.nc", "--restart-output", "r.nc"];
    place.run_small(&first).good();
    let input = ["run", "-q", "-i", "small.nc", "--dt", "60", "--steps", "9"];
    let restart = ["run", "-q", "--restart", "r.nc", "--steps", "6"];
    let start = |number: usize| {
        let (output, kept) = (format!("{number}.nc"), format!("r{number}.nc"));
        let names = ["-o", &output, "--restart-output", &kept, "--restart-interval", "60"];
        let from: &[&str] = if number < 3 { &input } else { &restart };
        let mut program = place.program(&[from, &names].concat());
        program.stdout(Stdio::null()).spawn().expect("the program starts")
    };
    let runs: Vec<Child> = (0..6).map(start).collect();
    for mut run in runs {
        assert!(run.wait().expect("the program ends").success());
    }
    let bits = place.open("0.nc").last_bits();
    for number in 1..6 {
        assert_eq!(place.open(&format!("{number}.nc")).last_bits(), bits, "{number}");
    }
    assert!(place.files().iter().all(|name| !name.starts_with('.')), "{:?}", place.files());
}

/// A link in place of a file that a run writes beside its output is not followed.
#[test]
fn links_in_the_way() {
    let place = Place::with(&Small::new());
    fs::write(place.path("precious"), "precious").expect("a file");
    for name in [".out.nc.part", ".out.nc.lock"] {
        std::os::unix::fs::symlink("precious", place.path(name)).expect("a link");
        let ended = place.run_small(&["-q", "--steps", "1", "-o", "out.nc", "--force"]);
        if name.ends_with("lock") {
            ended.refused(FILES, &[".out.nc.lock", "is a symbolic link", "remove it"]);
        } else {
            ended.good();
        }
        assert_eq!(fs::read_to_string(place.path("precious")).expect("a file"), "precious");
    }
}
