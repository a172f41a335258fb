//! Output to names that are links, and replaced files: the files that are written, and their permissions.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use super::place::Place;
use super::small::Small;

const FILES: i32 = 3;

/// Every writer of the program: arguments, with the file to write as `FILE`.
const WRITERS: [&[&str]; 12] = [
    &["run", "-i", "small.nc", "--steps", "1", "-o", "FILE"],
    &["run", "-i", "small.nc", "--steps", "1", "-o", "x.nc", "--json", "FILE"],
    &["run", "-i", "small.nc", "--steps", "1", "-o", "x.nc", "--report", "FILE"],
    &["run", "-i", "small.nc", "--steps", "1", "-o", "x.nc", "--restart-output", "FILE"],
    &[
        "run",
        "-i",
        "small.nc",
        "--steps",
        "1",
        "-o",
        "x.nc",
        "--regrid",
        "w.nc",
        "--regrid-output",
        "FILE",
    ],
    &[
        "run",
        "-i",
        "small.nc",
        "--steps",
        "1",
        "-o",
        "x.nc",
        "--ensemble",
        "e.toml",
        "--json",
        "FILE",
    ],
    &["weights", "-i", "small.nc", "--target", "latlon", "--spacing", "0.5", "-o", "FILE"],
    &["init", "warm-bubble", "--nx", "8", "--ny", "8", "-o", "FILE"],
    &["diff", "small.nc", "small.nc", "--json", "FILE"],
    &["info", "small.nc", "--json", "FILE"],
    &["bench", "reduce", "--elements", "64", "--runs", "1", "--backend", "cpu", "--json", "FILE"],
    &["bench", "reduce", "--elements", "64", "--runs", "1", "--backend", "cpu", "--report", "FILE"],
];

/// A folder with the input of the commands that write.
fn furnished() -> Place {
    let place = Place::with(&Small::new());
    super::weights::File::scrip().write(&place.path("w.nc"));
    fs::write(
        place.path("e.toml"),
        "members = 2\n[initial.QVAPOR]\namplitude = 0.01\nlength = 2e4\n",
    )
    .expect("a file");
    place
}

#[track_caller]
fn writes(place: &Place, arguments: &[&str], file: &str) -> String {
    let arguments: Vec<&str> =
        arguments.iter().map(|word| if *word == "FILE" { file } else { *word }).collect();
    let output = place.program(&arguments).arg("--force").output().expect("the program starts");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {message}");
    message
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

/// Through a chain of links into another folder, and the file there keeps its mode.
#[test]
fn every_writer_writes_through_links() {
    let place = furnished();
    fs::create_dir(place.path("far")).expect("a folder");
    symlink("far/second", place.path("link")).expect("a link");
    symlink("../real", place.path("far/second")).expect("a link");
    for arguments in WRITERS {
        fs::write(place.path("real"), "old").expect("a file");
        fs::set_permissions(place.path("real"), fs::Permissions::from_mode(0o640)).expect("a mode");
        writes(&place, arguments, "link");
        for link in ["link", "far/second"] {
            let about = fs::symlink_metadata(place.path(link)).expect("a link");
            assert!(about.is_symlink(), "{arguments:?}: {link}");
        }
        let written = fs::read(place.path("real")).expect("a file");
        assert!(written.len() > 3 && written != b"old", "{arguments:?}");
        assert_eq!(mode(&place.path("real")), 0o640, "{arguments:?}");
        let left = place.files().into_iter().filter(|name| name.starts_with('.')).count();
        assert_eq!(left, 0, "{arguments:?}: {:?}", place.files());
    }
}

/// A link to a missing file creates that file, without --force.
#[test]
fn a_link_to_nowhere_makes_the_file() {
    let place = Place::with(&Small::new());
    fs::create_dir(place.path("far")).expect("a folder");
    symlink("far/out.nc", place.path("link.nc")).expect("a link");
    place.run_small(&["--steps", "1", "--output", "link.nc"]).good();
    assert_eq!(place.open("far/out.nc").frames(), 2);
    assert!(fs::symlink_metadata(place.path("link.nc")).expect("a link").is_symlink());
    // Now there is one, which may not be replaced unasked.
    let again = place.run_small(&["--steps", "1", "--output", "link.nc"]);
    again.refused(FILES, &["link.nc exists", "--force"]);
    symlink("away/out.nc", place.path("broken.nc")).expect("a link");
    let refused = place.run_small(&["--steps", "1", "--output", "broken.nc"]);
    refused.refused(FILES, &["broken.nc", "is a link", "away", "does not exist"]);
    symlink("circle.nc", place.path("circle.nc")).expect("a link");
    let refused = place.run_small(&["--steps", "1", "--output", "circle.nc"]);
    refused.refused(FILES, &["circle.nc", "is a circular symbolic link"]);
}

/// Private files stay private, and read-only files stay read-only.
#[test]
fn the_mode_of_a_file_that_is_replaced_is_kept() {
    let place = Place::with(&Small::new());
    for kept in [0o600, 0o444, 0o664] {
        fs::write(place.path("out.nc"), "old").expect("a file");
        fs::set_permissions(place.path("out.nc"), fs::Permissions::from_mode(kept))
            .expect("a mode");
        // Restart files show the output while it grows.
        let steps = ["--steps", "2", "--dt", "10", "--restart-interval", "10", "--force"];
        place.run_small(&[&steps[..], &["--output", "out.nc"]].concat()).good();
        assert_eq!(mode(&place.path("out.nc")), kept, "{kept:o}");
        assert_eq!(place.open("out.nc").frames(), 2);
        fs::remove_file(place.path("out.nc")).expect("it is ours");
    }
}

/// Only the superuser can change owners; the test is skipped for other users.
#[test]
#[allow(clippy::print_stderr, reason = "tells that a test cannot be made here")]
fn the_owner_of_a_file_that_is_replaced_is_kept() {
    const SOMEBODY: u32 = 4321;
    let place = Place::with(&Small::new());
    fs::write(place.path("out.nc"), "old").expect("a file");
    let given = std::os::unix::fs::chown(place.path("out.nc"), Some(SOMEBODY), Some(SOMEBODY));
    if given.is_err() {
        eprintln!("skipped: this user cannot give files away");
        return;
    }
    place.run_small(&["--steps", "1", "--output", "out.nc", "--force"]).good();
    let about = fs::metadata(place.path("out.nc")).expect("a file");
    assert_eq!((about.uid(), about.gid()), (SOMEBODY, SOMEBODY));
}

/// Pictures are written through links too, and into a folder that is a link.
#[test]
fn pictures_are_written_through_links() {
    let place = Place::with(&Small::new());
    fs::create_dir(place.path("o")).expect("a folder");
    symlink("../far.png", place.path("o/sounding.png")).expect("a link");
    symlink("new", place.path("pictures")).expect("a link");
    for folder in ["o", "pictures"] {
        let arguments = ["plot", "small.nc", "--only", "sounding", "--output", folder];
        let output = place.program(&arguments).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    for name in ["far.png", "new/sounding.png"] {
        let written = fs::read(place.path(name)).expect("a picture");
        assert!(written.starts_with(b"\x89PNG"), "{name}");
    }
    assert!(fs::symlink_metadata(place.path("o/sounding.png")).expect("a link").is_symlink());
}

/// Two names of one file are detected, even before it is written.
#[test]
fn links_do_not_hide_that_two_files_are_one() {
    let place = Place::with(&Small::new());
    symlink("new.nc", place.path("a.nc")).expect("a link");
    let ended = place.run_small(&["--output", "a.nc", "--json", "new.nc"]);
    ended.refused(2, &["--json", "the output file"]);
    symlink("small.nc", place.path("in.nc")).expect("a link");
    let program = place.program(&["info", "small.nc", "--json", "in.nc", "--force"]).output();
    assert_eq!(program.expect("the program starts").status.code(), Some(2));
}
