//! File names that are not UTF-8: every option reads and writes them unchanged, and messages show them with the invalid
//! bytes escaped.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::place::Place;
use super::small::Small;

/// `i` with a diaeresis in Latin-1.
const BYTE: u8 = 0xEF;

/// A name of those bytes with an ending.
fn odd(ending: &str) -> OsString {
    OsString::from_vec([b"na", &[BYTE][..], b"ve", ending.as_bytes()].concat())
}

/// The name as it is shown in messages.
fn shown(ending: &str) -> String {
    format!("na\\xEFve{ending}")
}

/// A folder with small.nc, and a copy under the non-UTF-8 name.
fn place() -> Place {
    let place = Place::with(&Small::new());
    fs::copy(place.path("small.nc"), path(&place, ".nc")).expect("a copy");
    place
}

fn path(place: &Place, ending: &str) -> PathBuf {
    place.path("").join(odd(ending))
}

/// Runs the program; words that begin with `@` stand for the non-UTF-8 name, followed by an ending.
#[track_caller]
fn good(place: &Place, arguments: &[&str]) -> [String; 2] {
    let mut program = place.program(&[]);
    for word in arguments {
        match word.strip_prefix('@') {
            Some(ending) => program.arg(odd(ending)),
            None => program.arg(word),
        };
    }
    let output = program.output().expect("the program starts");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    [stdout, stderr]
}

/// All options of a run that take a file.
#[test]
fn a_run_reads_and_writes_odd_names() {
    let place = place();
    super::weights::File::scrip().write(&path(&place, ".weights"));
    fs::write(path(&place, ".csv"), "name,lat,lon\na,45.5,10\n").expect("a file");
    fs::write(path(&place, ".toml"), "steps = 2\ndt = 10\n").expect("a file");
    let [out, _] = good(
        &place,
        &[
            "run",
            "--input",
            "@.nc",
            "--config",
            "@.toml",
            "--output",
            "@.out.nc",
            "--json",
            "@.json",
            "--report",
            "@.html",
            "--restart-output",
            "@.r.nc",
            "--regrid",
            "@.weights",
            "--regrid-output",
            "@.g.nc",
            "--points",
            "@.csv",
            "--profiles",
        ],
    );
    assert!(out.contains(&shown(".out.nc")), "{out}");
    for ending in [
        ".out.nc",
        ".json",
        ".html",
        ".r.nc",
        ".g.nc",
        ".out.points.nc",
        ".out.points.profiles.nc",
        ".out.profiles.nc",
    ] {
        assert!(path(&place, ending).is_file(), "{ending}");
    }
    // No other name was created.
    let lossy = place.files().into_iter().filter(|name| name.contains("\\x")).count();
    assert_eq!(lossy, 0, "{:?}", place.files());
    let output = super::result::Output::open(&path(&place, ".out.nc"));
    assert_eq!(output.text("input_file"), shown(".nc"));
    let command = output.text("command_line");
    assert!(command.contains(&format!("--input {} --config", shown(".nc"))), "{command}");
    let json: serde_json::Value =
        serde_json::from_slice(&fs::read(path(&place, ".json")).expect("figures")).expect("JSON");
    assert_eq!(json["input"], shown(".nc"));
    assert_eq!(json["output"], shown(".out.nc"));
    let regridded = super::result::Output::open(&path(&place, ".g.nc"));
    assert_eq!(regridded.text("weights_file"), shown(".weights"));
    good(&place, &["run", "--restart", "@.r.nc", "--steps", "1", "--output", "@.2.nc"]);
    assert_eq!(super::result::Output::open(&path(&place, ".2.nc")).frames(), 2);
}

/// Names that the program derives from those of files.
#[test]
fn names_made_from_odd_names_have_the_same_bytes() {
    let place = place();
    good(&place, &["run", "--input", "@.nc", "--steps", "1", "--restart-interval", "1"]);
    good(&place, &["plot", "@.nc", "--only", "sounding"]);
    for name in [".out.nc", ".restart.nc", ".plots/sounding.png"] {
        assert!(path(&place, name).is_file(), "{name}: {:?}", place.files());
    }
}

/// The other commands.
#[test]
fn every_command_takes_odd_names() {
    let place = place();
    for arguments in [
        &["info", "@.nc", "--json", "@.info"][..],
        &["diff", "@.nc", "small.nc", "--json", "@.diff"],
        &["weights", "--input", "@.nc", "--target", "latlon", "--spacing", "0.5", "-o", "@.w"],
        &["init", "kid-warm1", "-o", "@.init"],
        &["plot", "@.nc", "--only", "sounding", "--output", "@.folder", "--format", "svg"],
        &["plot", "--compare", "@.nc", "small.nc", "--output", "@.both"],
        &[
            "bench",
            "wsm5",
            "--input",
            "@.nc",
            "--runs",
            "1",
            "--backend",
            "cpu",
            "--json",
            "@.bench",
        ],
        &[
            "run",
            "-i",
            "@.nc",
            "--steps",
            "1",
            "--threads",
            "1",
            "-o",
            "@.o",
            "--log-format",
            "json",
        ],
    ] {
        good(&place, arguments);
    }
    for ending in [".info", ".diff", ".w", ".init", ".folder/sounding.svg", ".bench", ".o"] {
        assert!(path(&place, ending).is_file(), "{ending}");
    }
    let init = super::result::Output::open(&path(&place, ".init"));
    assert!(init.text("command_line").ends_with(&shown(".init")), "{}", init.text("command_line"));
    let weights = super::result::Output::open(&path(&place, ".w"));
    assert_eq!(weights.text("input_file"), shown(".nc"));
    // The cache is a folder of any name.
    let mut program = place.program(&["info", "--json", "cache.json"]);
    program.env("XDG_CACHE_HOME", path(&place, ".cache"));
    assert!(program.output().expect("the program starts").status.success());
    let cache = place.json("cache.json")["cache"].as_str().expect("a path").to_owned();
    assert!(cache.ends_with(&format!("{}/nwp-mini", shown(".cache"))), "{cache}");
}

/// An unreadable file is an error of one line with the name, and no panic.
#[test]
fn mistakes_with_odd_names_are_reported() {
    let place = place();
    for (arguments, code, words) in [
        (&["run", "--input", "@.away"][..], 3, &shown(".away")[..]),
        (&["run", "--input", "small.nc", "--steps", "@"], 2, &shown("")),
        (&["plot", "@.nc", "--time", "@"], 2, "is not UTF-8"),
        (&["@"], 2, "unrecognized"),
    ] {
        let mut program = place.program(&[]);
        for word in arguments {
            match word.strip_prefix('@') {
                Some(ending) => program.arg(odd(ending)),
                None => program.arg(word),
            };
        }
        let output = program.output().expect("the program starts");
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {shown}");
        assert!(shown.contains(words) && !shown.contains("panicked"), "{arguments:?}: {shown}");
    }
    assert_eq!(odd("").as_bytes()[2], BYTE);
}
