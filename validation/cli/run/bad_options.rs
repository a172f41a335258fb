//! Impossible command lines, and folders that are not writable.

use std::fs;
use std::process::Stdio;

use super::place::{Place, storm};
use super::small::Small;

const USAGE: i32 = 2;
const FILES: i32 = 3;
const GPU: i32 = 4;

/// Runs the small file with these arguments; they must be refused in these words.
#[track_caller]
fn refuses(code: i32, arguments: &[&str], words: &[&str]) {
    let place = Place::with(&Small::new());
    place.run_small(arguments).refused(code, words);
    assert_eq!(place.files(), ["small.nc"], "{arguments:?}");
}

#[test]
fn mistyped_options_are_answered_with_the_nearest_one() {
    refuses(USAGE, &["--step", "3"], &["unexpected argument '--step'", "--steps"]);
    refuses(USAGE, &["--outputinterval", "3"], &["--output-interval"]);
    refuses(USAGE, &["--limiter", "monotone"], &["'monotone'", "monotonic"]);
    refuses(USAGE, &["--boundary", "cyclic"], &["cyclic", "periodic, specified or open"]);
    refuses(USAGE, &["--boundary", "open,closed"], &["closed", "periodic, specified or open"]);
    refuses(USAGE, &["--precision", "f16"], &["f16", "f32, f64"]);
    refuses(USAGE, &["--backend", "tpu"], &["tpu", "cpu"]);
    Place::empty().run(&[]).refused(USAGE, &["--input <FILE>"]);
}

#[test]
fn numbers_out_of_range() {
    for option in ["--dt", "--hours", "--output-interval", "--projection-residual"] {
        for (value, said) in [("0", "0"), ("-5", "-5"), ("nan", "NaN"), ("inf", "inf")] {
            let words = format!("{option} {said}: a positive number is needed");
            refuses(USAGE, &[option, value], &[&words]);
        }
        refuses(USAGE, &[option, "soon"], &["soon", option]);
    }
    refuses(USAGE, &["--projection-residual", "2"], &["would not conserve", "at most 1 Pa/h"]);
    let too_small = ["--projection-residual", "1e-20"];
    refuses(FILES, &too_small, &["small.nc", "column i=", "1e-20 Pa/h is needed"]);
    refuses(USAGE, &["--dt", "1e4"], &["a time step of 10000 s", "longest time step", "--dt"]);
    for option in ["--steps", "--threads"] {
        for value in ["0", "-3", "2.5"] {
            refuses(USAGE, &[option, value], &[value, option]);
        }
    }
    refuses(USAGE, &["--hours", "1", "--steps", "2"], &["--hours", "--steps", "cannot be used"]);
}

#[test]
fn a_gpu_that_is_not_there_is_refused_in_one_line() {
    let place = Place::with(&Small::new());
    // A GPU, if there is one, is hidden.
    let run = |arguments: &[&str], backend: Option<&str>| {
        let mut program = place.program(&["run", "--input", "small.nc"]);
        program.args(arguments).env("CUDA_VISIBLE_DEVICES", "");
        if let Some(backend) = backend {
            program.env("NWP_BACKEND", backend);
        }
        let ended = program.output().expect("the program starts");
        assert_eq!(ended.status.code(), Some(GPU), "{ended:?}");
        let said = String::from_utf8(ended.stderr).expect("UTF-8");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
        assert!(
            said.starts_with("error: the GPU cannot be used") && said.contains("CPU"),
            "{said}"
        );
        assert_eq!(place.files(), ["small.nc"]);
    };
    run(&["--backend", "gpu"], None);
    run(&["--backend", "both"], None);
    // By the environment as well.
    run(&[], Some("gpu"));
}

/// Existing files stay, and nothing is computed first: the input is not read.
#[test]
fn existing_files_are_refused_before_anything_is_read() {
    let place = Place::with(&Small::new());
    fs::write(place.path("old"), "old").expect("a file");
    for option in ["--output", "--json"] {
        let ended = place.run(&["--input", "absent.nc", option, "old"]);
        ended.refused(FILES, &["old exists", "--force"]);
        place.run_small(&[option, "old"]).refused(FILES, &["old exists", "--force"]);
        assert_eq!(fs::read_to_string(place.path("old")).expect("a file"), "old");
    }
    assert_eq!(place.files(), ["old", "small.nc"]);
    place.run_small(&["--steps", "1", "--json", "old", "--force"]).good();
    assert_eq!(place.json("old")["steps"], 1);
}

#[test]
fn a_run_that_fails_leaves_the_old_output_alone() {
    let place = Place::with(&Small::new());
    fs::write(place.path("old"), "old").expect("a file");
    place.run_small(&["--force", "--output", "old", "--dt", "1e5"]).refused(USAGE, &["--dt"]);
    assert_eq!(fs::read_to_string(place.path("old")).expect("a file"), "old");
    assert_eq!(place.files(), ["old", "small.nc"]);
}

#[test]
fn places_where_nothing_can_be_written() {
    for option in ["--output", "--json"] {
        refuses(
            FILES,
            &[option, "nowhere/x"],
            &["nowhere/x", "folder", "does not exist", "create"],
        );
        refuses(FILES, &[option, "."], &["is a folder", "give the name of a file"]);
        refuses(USAGE, &[option, ""], &["value is required", option]);
        // A file is no folder.
        refuses(FILES, &[option, "small.nc/x"], &["small.nc", "folder"]);
    }
    let place = Place::with(&Small::new());
    fs::create_dir(place.path("small.out.nc")).expect("a folder");
    place.run_small(&["--force"]).refused(FILES, &["small.out.nc", "is a folder"]);
}

#[test]
fn input_and_outputs_are_three_files() {
    let place = Place::with(&Small::new());
    let before = fs::read(place.path("small.nc")).expect("the input");
    let whole = place.path("small.nc");
    for name in ["small.nc", "./small.nc", whole.to_str().expect("a path in UTF-8")] {
        for force in [&[][..], &["--force"]] {
            for option in ["--output", "--json"] {
                let words = [option, "is the input file", "another name"];
                place.run_small(&[&[option, name], force].concat()).refused(USAGE, &words);
            }
        }
    }
    for json in ["x.nc", "./x.nc"] {
        let both = ["--output", "x.nc", "--json", json];
        place.run_small(&both).refused(USAGE, &["--json is the output file", "another name"]);
    }
    assert_eq!(fs::read(place.path("small.nc")).expect("the input"), before);
    assert_eq!(place.files(), ["small.nc"]);
}

/// A link to the input is the input.
#[cfg(unix)]
#[test]
fn a_link_to_the_input_is_the_input() {
    let place = Place::with(&Small::new());
    std::os::unix::fs::symlink(place.path("small.nc"), place.path("link.nc")).expect("a link");
    let ended = place.run_small(&["--force", "--output", "link.nc"]);
    ended.refused(USAGE, &["--output is the input file"]);
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with(&Small::new());
    let folder = place.path("locked");
    fs::create_dir(&folder).expect("a folder");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).expect("permissions");
    for option in ["--output", "--json"] {
        let Some(ended) = place.run_small_bound(&[option, "locked/x"]) else { return };
        ended.refused(FILES, &["cannot write to", "locked/x", "ermission denied"]);
    }
    assert_eq!(place.files(), ["locked", "small.nc"]);
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0);
}

/// `nwp-mini run ... | head -1`: the reader closes the pipe after a line, which is no error.
#[cfg(unix)]
#[test]
fn a_reader_that_leaves_is_no_error() {
    let place = Place::empty();
    let storm = storm();
    let storm = storm.to_str().expect("a path in UTF-8");
    let mut child = place
        .program(&["run", "--input", storm, "--steps", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let pipe = child.stdout.take().expect("standard output is piped");
    let mut head = std::process::Command::new("head");
    let line = head.arg("-1").stdin(pipe).output().expect("head starts");
    let ended = child.wait_with_output().expect("the program ends");
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert!(!String::from_utf8_lossy(&ended.stderr).contains("error"), "{ended:?}");
    assert_eq!(String::from_utf8_lossy(&line.stdout).lines().count(), 1);
    assert_eq!(place.open("soc.out.nc").frames(), 2);
}

/// A program without the feature says so before it computes.
#[cfg(not(feature = "zarr"))]
#[test]
fn a_store_needs_a_program_with_zarr() {
    let place = Place::with(&Small::new());
    place.run_small(&["-o", "a.zarr"]).refused(FILES, &["a.zarr", "without Zarr", "FEATURES=zarr"]);
    fs::create_dir(place.path("b.zarr")).expect("a folder");
    place.run(&["--input", "b.zarr"]).refused(FILES, &["b.zarr", "without Zarr"]);
    assert_eq!(place.files(), ["b.zarr", "small.nc"]);
}
