//! File locks of HDF5: none in test processes, and messages about files that cannot be locked.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

use nwp_mini_support::file_locks::USE_FILE_LOCKING;

use super::place::{Ended, Place};
use super::small::Small;

const FILES: i32 = 3;

/// Longest life of the program that inherits files; the test ends it before.
const SECONDS: &str = "600";

/// A program that is started while a test has a file open inherits it. With HDF5's lock on the file, the test could
/// not open it again before the program ends.
#[test]
fn a_file_that_a_child_has_inherited_can_be_opened_again() {
    let place = Place::empty();
    let path = place.path("a.nc");
    let mut file = netcdf::create(&path).expect("a new file");
    file.add_dimension("x", 3).expect("a dimension");
    let mut child = Command::new("sleep").arg(SECONDS).spawn().expect("sleep starts");
    file.close().expect("the file is complete");
    let again = netcdf::append(&path).and_then(netcdf::FileMut::close);
    child.kill().expect("sleep is running");
    child.wait().expect("sleep ends");
    again.expect("no lock on the file");
}

/// The program with the locks that users have.
fn locking(place: &Place, arguments: &[&str]) -> Command {
    let mut program = place.program(arguments);
    program.env(USE_FILE_LOCKING, "TRUE");
    program
}

fn end(mut program: Command) -> Ended {
    let output = program.output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn an_input_that_another_program_has_locked() {
    let place = Place::with(&Small::new());
    let writer = std::fs::File::options().append(true).open(place.path("small.nc"));
    let writer = writer.expect("the file");
    writer.lock().expect("a lock");
    let run = ["run", "-q", "--input", "small.nc", "--steps", "1", "-o", "o.nc"];
    let words = ["small.nc: is locked by another program", "HDF5_USE_FILE_LOCKING=FALSE"];
    end(locking(&place, &run)).refused(FILES, &words);
    assert_eq!(place.files(), ["small.nc"]);
    // The remedy helps.
    let mut unlocked = locking(&place, &run);
    unlocked.env(USE_FILE_LOCKING, "FALSE");
    end(unlocked).good();
    // And the program locks unless it is told otherwise.
    drop(writer);
    end(locking(&place, &[&run[..], &["--force"]].concat())).good();
}

/// A library that takes the place of the system's `flock`: every lock is refused, as by a network file system.
fn no_locks(folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("no_locks.c"), folder.join("no_locks.so"));
    let text = "#include <errno.h>\nint flock(int fd, int how) { errno = ENOLCK; return -1; }\n";
    std::fs::write(&source, text).expect("a source");
    let made =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).output();
    let made = made.expect("the C compiler that HDF5 needs too");
    assert!(made.status.success(), "{made:?}");
    library
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_system_without_locks() {
    let tools = tempfile::tempdir().expect("a folder");
    let library = no_locks(tools.path());
    let place = Place::with(&Small::new());
    let on_it = |arguments: &[&str]| {
        let mut program = locking(&place, arguments);
        program.env("LD_PRELOAD", &library);
        program
    };
    let run = ["run", "--input", "small.nc", "--steps", "1", "-o", "o.nc"];
    let locks = ["cannot be locked", "No locks available", "HDF5_USE_FILE_LOCKING=FALSE"];
    end(on_it(&run)).refused(FILES, &[&["small.nc"], &locks[..]].concat());
    assert_eq!(place.files(), ["small.nc"]);
    // What is written has the same message.
    let made = ["init", "rotation", "--nx", "8", "--ny", "8", "--output", "made.nc"];
    end(on_it(&made)).refused(FILES, &[&["cannot write to made.nc"], &locks[..]].concat());
    assert_eq!(place.files(), ["small.nc"]);
    let mut unlocked = on_it(&run);
    unlocked.env(USE_FILE_LOCKING, "FALSE");
    let ended = end(unlocked).good();
    assert!(ended.stderr.contains("o.nc: this file system has no locks"), "{ended:?}");
    assert_eq!(place.files(), ["o.nc", "small.nc"]);
}
