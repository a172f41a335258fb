//! Bad input of the harder kind: no room, hardly any grid, names that are no files,
//! and numbers that are valid and absurd.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::place::{Ended, Place};
use super::small::Small;

const USAGE: i32 = 2;
const FILES: i32 = 3;

/// Longest wait for something that takes a moment.
const PATIENCE: Duration = Duration::from_mins(1);

/// Runs a changed small file; it must be rejected with these words, and no file may be left.
#[track_caller]
fn refuses(code: i32, change: impl Fn(&mut Small), arguments: &[&str], words: &[&str]) {
    let mut small = Small::new();
    change(&mut small);
    let place = Place::with(&small);
    let ended = place.run_small(&[&["--json", "out.json", "--steps", "1"], arguments].concat());
    ended.refused(code, words);
    assert_eq!(place.files(), ["small.nc"]);
}

#[track_caller]
fn refuses_options(arguments: &[&str], words: &[&str]) {
    let place = Place::with(&Small::new());
    place.run_small(arguments).refused(USAGE, words);
    assert_eq!(place.files(), ["small.nc"], "{arguments:?}");
}

/// Runs the changed small file for two steps, which must go well; returns the figures.
#[track_caller]
fn runs(small: &Small, arguments: &[&str]) -> serde_json::Value {
    let place = Place::with(small);
    let (figures, output) = place.figures(&[&["--steps", "2"], arguments].concat());
    for name in ["T", "QVAPOR", "U", "W"] {
        assert!(output.values(name).iter().all(|x| x.is_finite()), "{name}");
    }
    figures
}

fn ended(output: std::process::Output) -> Ended {
    let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Runs the small file under a limit of file sizes, in blocks of 512 bytes or of a kibibyte, as
/// the shell has it.
fn run_within(place: &Place, blocks: u32, arguments: &[&str]) -> Ended {
    let program = place.program(&[&["run", "-q", "--input", "small.nc"], arguments].concat());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("ulimit -f {blocks}; exec \"$0\" \"$@\""));
    shell.arg(program.get_program()).args(program.get_args());
    shell.current_dir(place.path(""));
    ended(shell.output().expect("the shell starts"))
}

/// From no room at all to room for some frames of many.
#[test]
fn a_full_disk_is_reported_and_leaves_nothing() {
    let place = Place::with(&Small::new());
    let many = ["--steps", "40", "--output-interval", "60"];
    for blocks in [0, 40, 400, 1000] {
        let ended = run_within(&place, blocks, &many);
        ended.refused(FILES, &["cannot write to small.out.nc", "File too large", "free space"]);
        assert_eq!(place.files(), ["small.nc"], "{blocks}");
    }
    // Existing files stay.
    fs::write(place.path("old.nc"), "old").expect("a file");
    let force = [&many[..], &["--force", "--output", "old.nc"]].concat();
    run_within(&place, 400, &force).refused(FILES, &["cannot write to old.nc", "File too large"]);
    assert_eq!(fs::read_to_string(place.path("old.nc")).expect("a file"), "old");
    assert_eq!(place.files(), ["old.nc", "small.nc"]);
    // With enough space, the same run succeeds.
    let ended = run_within(&place, 1_000_000, &many).good();
    assert_eq!(ended.stderr, "");
    assert_eq!(place.open("small.out.nc").frames(), 41);
}

/// The summary does not get out; the output does.
#[test]
fn a_standard_output_without_room_is_reported() {
    let place = Place::with(&Small::new());
    let full = fs::File::options().write(true).open("/dev/full").expect("a full device");
    let mut program = place.program(&["run", "--input", "small.nc", "--steps", "1"]);
    let ended = ended(program.stdout(full).output().expect("the program starts"));
    ended.refused(FILES, &["cannot write to standard output", "No space left"]);
    assert_eq!(place.files(), ["small.nc", "small.out.nc"]);
    assert_eq!(place.open("small.out.nc").frames(), 2);
}

#[test]
fn hardly_any_grid() {
    for shape in [[1, 10, 8], [2, 10, 8], [12, 1, 8], [12, 2, 8], [1, 1, 8]] {
        let place = Place::with(&Small::of(shape, false));
        let [nx, ny, nz] = shape;
        let words = ["small.nc", &format!("has {nx}x{ny}x{nz} cells"), "at least 4 are needed"];
        place.run_small(&["--steps", "1"]).refused(FILES, &words);
        assert_eq!(place.files(), ["small.nc"]);
    }
    for shape in [[4, 10, 8], [12, 4, 8], [4, 4, 4]] {
        for boundary in ["specified", "open", "periodic"] {
            let figures = runs(&Small::of(shape, false), &["--boundary", boundary]);
            assert_eq!(figures["steps"], 2, "{shape:?} {boundary}");
        }
    }
}

#[test]
fn names_that_are_no_files() {
    let place = Place::with(&Small::new());
    fs::create_dir(place.path("folder")).expect("a folder");
    symlink("nowhere", place.path("link")).expect("a link");
    let made = Command::new("mkfifo").arg(place.path("pipe")).status();
    assert!(made.expect("mkfifo starts").success());
    let before = place.files();
    for (name, word) in [
        ("folder", "is a folder"),
        ("pipe", "is a device or a pipe"),
        ("/dev/null", "is a device or a pipe"),
        ("link", "No such file"),
    ] {
        for arguments in [&["run", "-o", "out.nc", "--input", name][..], &["info", name]] {
            let ended = ended(place.program(arguments).output().expect("the program starts"));
            ended.refused(FILES, &[name, word]);
        }
        // As the second of two as well.
        place.run(&["--input", "small.nc", name, "--steps", "1"]).refused(FILES, &[name, word]);
        assert_eq!(place.files(), before);
    }
    // A run would put its file in the place of the pipe.
    for option in ["--output", "--json"] {
        let words = ["pipe: is a device or a pipe", "name of a file"];
        place.run_small(&["--force", option, "pipe"]).refused(FILES, &words);
    }
    assert_eq!(place.files(), before);
}

#[test]
fn an_input_that_may_not_be_read() {
    let place = Place::with(&Small::new());
    let locked = fs::Permissions::from_mode(0o000);
    fs::set_permissions(place.path("small.nc"), locked).expect("permissions");
    let Some(ended) = place.run_small_bound(&["--steps", "1"]) else { return };
    ended.refused(FILES, &["cannot read small.nc", "ermission denied"]);
    assert_eq!(place.files(), ["small.nc"]);
}

/// An input that goes while the run is under way: the frames until then are kept.
#[test]
fn a_file_that_vanishes() {
    let place = Place::empty();
    for (name, stamp) in [
        ("a.nc", "2005-08-28_18:00:00"),
        ("b.nc", "2005-08-29_06:00:00"),
        ("c.nc", "2005-08-29_18:00:00"),
        ("d.nc", "2005-08-30_06:00:00"),
    ] {
        let mut small = Small::new();
        small.stamp = stamp;
        small.write(&place.path(name));
    }
    let arguments =
        ["run", "-i", "a.nc", "b.nc", "c.nc", "d.nc", "--hours", "30", "--json", "out.json"];
    let every_step = ["--dt", "60", "--output-interval", "60", "-o", "out.nc"];
    let mut program = place.program(&[&arguments[..], &every_step].concat());
    let mut child =
        program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let start = Instant::now();
    // Something is in it only after all that the run needs has been looked at.
    let is_under_way = || {
        let mut names = place.files().into_iter();
        let unfinished = names.find(|name| name.contains(".out.nc.") && name.contains(".part"));
        let about = unfinished.and_then(|name| fs::metadata(place.path(&name)).ok());
        about.is_some_and(|about| about.len() > 0)
    };
    while !is_under_way() {
        if start.elapsed() > PATIENCE {
            child.kill().expect("the program is running");
            child.wait().expect("the program ends");
            panic!("no output after {PATIENCE:?}");
        }
        sleep(Duration::from_millis(1));
    }
    // The third frame is read ahead.
    fs::remove_file(place.path("d.nc")).expect("a file");
    let ended = ended(child.wait_with_output().expect("the program ends"));
    ended.refused(FILES, &["cannot read d.nc", "No such file"]);
    assert_eq!(place.files(), ["a.nc", "b.nc", "c.nc", "out.nc"]);
    let frames = place.open("out.nc").frames();
    assert!((1..=1441).contains(&frames), "{frames}");
    assert!(ended.stderr.contains(&format!("out.nc contains the {frames} frames")), "{ended:?}");
}

/// The file's time step is a proposal; invalid ones are ignored or rejected.
#[test]
fn time_steps_of_the_file() {
    for dt in [0.0, -60.0] {
        let mut small = Small::new();
        small.set("DT", dt);
        assert_eq!(runs(&small, &[])["dt"], 60.0, "{dt}");
    }
    let mut small = Small::new();
    small.set("DT", 1e30);
    let dt = runs(&small, &[])["dt"].as_f64().expect("a number");
    assert!((1.0..10_000.0).contains(&dt), "{dt}");
    let not_finite = ["small.nc", "attribute DT is ", "a number is needed"];
    refuses(FILES, |small| small.set("DT", f32::NAN), &[], &not_finite);
    refuses(FILES, |small| small.set("DT", f32::INFINITY), &[], &not_finite);
    let short = ["the input's DT", "1e-6 s is needed", "--dt"];
    refuses(USAGE, |small| small.set("DT", 1e-30), &[], &short);
}

#[test]
fn attributes_of_the_wrong_kind() {
    for name in ["DX", "DT"] {
        let place = Place::with(&Small::new());
        let words = [&format!("attribute {name} is "), "20 km", "a number is needed"];
        text_attribute(&place.path("small.nc"), name, "20 km").expect("an attribute");
        place.run_small(&["--steps", "1"]).refused(FILES, &words);
        assert_eq!(place.files(), ["small.nc"]);
    }
}

fn text_attribute(path: &Path, name: &str, value: &str) -> netcdf::Result<()> {
    let mut file = netcdf::append(path)?;
    file.add_attribute(name, value)?;
    file.close()
}

#[test]
fn absurd_options() {
    for (hours, dt) in [("1e30", "60"), ("1e305", "60"), ("2", "1e-6"), ("1e6", "0.5")] {
        let words = ["--hours", "more than 4294967295 steps", "--dt"];
        refuses_options(&["--hours", hours, "--dt", dt], &words);
    }
    let short = ["the time step, as asked for", "at least 1e-6 s", "another --dt"];
    refuses_options(&["--dt", "1e-300"], &short);
    refuses_options(&["--dt", "9e-7", "--steps", "2"], &short);
    refuses_options(
        &["--hours", "1e-300"],
        &["1e-300 hours", "at least 1e-6 s", "increase --hours"],
    );
    refuses_options(&["--steps", "99999999999999999999"], &["99999999999999999999", "--steps"]);
    refuses_options(&["--steps", "4294967296"], &["4294967296", "--steps"]);
    let late = ["2005-08-28_18:00:00", "after the year 9999", "reduce"];
    refuses_options(&["--steps", "4294967295", "--dt", "60"], &late);
}

/// The shortest step and run that are taken are computed too.
#[test]
fn the_shortest_step_runs() {
    let figures = runs(&Small::new(), &["--dt", "1e-6"]);
    assert_eq!(figures["steps"], 2);
}

/// An output for every step is the most there can be.
#[test]
fn short_output_intervals() {
    for interval in ["59.9", "1", "1e-300", "5e-324"] {
        let place = Place::with(&Small::new());
        let every = ["--steps", "3", "--dt", "60", "--output-interval", interval];
        assert_eq!(place.figures(&every).1.frames(), 4, "{interval}");
    }
}

#[test]
fn the_end_of_the_calendar() {
    let mut small = Small::new();
    small.stamp = "9999-12-31_23:58:00";
    let place = Place::with(&small);
    let (_, output) = place.figures(&["--steps", "1", "--dt", "60"]);
    assert_eq!(output.times(), ["9999-12-31_23:58:00", "9999-12-31_23:59:00"]);
    let ended = place.run_small(&["--steps", "3", "--dt", "60"]);
    ended.refused(USAGE, &["9999-12-31_23:58:00", "after the year 9999", "reduce --steps"]);
}

#[test]
fn a_place_that_is_none() {
    for value in [f32::NAN, f32::INFINITY] {
        for name in ["MAPFAC_MX", "MAPFAC_VY", "XLAT"] {
            let words = [&format!("variable {name} is "), "south_north", "must be finite"];
            refuses(FILES, |small| small.values(name)[[3, 4]] = value, &[], &words);
        }
    }
    // Passed on only.
    let mut small = Small::new();
    small.values("P_TOP")[[]] = -5000.0;
    runs(&small, &[]);
    // One latitude for all rows, or none of the globe, is no place for cells of 18 km.
    for latitude in [90.0, -90.0, 1000.0, 1e30] {
        for projection in [1.0, 2.0, 3.0, 6.0, 99.0] {
            let change = |small: &mut Small| {
                small.values("XLAT").fill(latitude);
                small.set("MAP_PROJ", projection);
            };
            refuses(FILES, change, &[], &["XLAT"]);
        }
    }
}
