//! Zarr stores, written and read: the same values as NetCDF files, by the comparison of the program itself. Readers of
//! others are asked by `validation/check_zarr.sh`.

mod bad;
mod places;
mod read;
mod written;

use nwp_mini_support::run::{place, small};

use std::fs;
use std::path::Path;

use place::Place;

/// A document of a store.
fn document(place: &Place, path: &str) -> serde_json::Value {
    let text = fs::read_to_string(place.path(path)).expect("a document");
    serde_json::from_str(&text).expect("JSON")
}

/// Fails unless two files or stores hold the same, bit by bit.
#[track_caller]
fn same(place: &Place, a: &str, b: &str) {
    let ended = place.command(&["diff", a, b]).good();
    assert!(ended.stdout.contains("The same bit by bit"), "{}", ended.stdout);
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a copy");
        }
    }
}
