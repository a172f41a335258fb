//! Input that `plot` rejects, with which messages.

use std::fs;

use super::files::{plot, small, storm};

#[test]
fn pictures_are_not_overwritten_without_force() {
    let place = small(|_| {});
    let arguments = ["small.nc", "--only", "sounding", "-o", "o"];
    plot(&place, &arguments).good();
    let first = fs::read(place.path("o/sounding.png")).expect("a picture");
    plot(&place, &arguments).refused(3, &["o/sounding.png", "exists", "--force"]);
    plot(&place, &[&arguments[..], &["--force"]].concat()).good();
    assert!(fs::read(place.path("o/sounding.png")).expect("a picture") == first, "other bytes");
    assert_eq!(fs::read_dir(place.path("o")).expect("a folder").count(), 1);
}

#[test]
fn what_cannot_be_drawn_is_an_error_when_requested() {
    let place = small(|_| {});
    plot(&place, &["small.nc", "--only", "reflectivity"])
        .refused(3, &["small.nc", "no reflectivity", "REFL_10CM"]);
    plot(&place, &["small.nc", "--only", "series"]).refused(3, &["no series", "RAINNC"]);
    assert_eq!(place.files(), ["small.nc"]);
}

#[test]
fn bad_options_are_usage_errors() {
    let place = storm();
    for (arguments, words) in [
        (&["storm.nc", "--only", "refectivity"][..], &["refectivity", "reflectivity"][..]),
        (&["storm.nc", "--section", "1,2,3"], &["--section", "4 numbers"]),
        (&["storm.nc", "--section", "1,2,1,2"], &["--section", "same point"]),
        (&["storm.nc", "--section", "0,0,71,5"], &["--section", "outside", "0 to 70"]),
        (&["storm.nc", "--point", "zz:1,2"], &["zz", "latlon"]),
        (&["storm.nc", "--point", "xy:1e9,0"], &["--point", "outside", "2115000 m"]),
        (&["storm.nc", "--time", "yesterday"], &["yesterday", "2005-08-28_06:00:00"]),
        (&["storm.nc", "storm.nc"], &["--compare"]),
        (&["--compare", "storm.nc"], &["two files"]),
        (&["--compare", "storm.nc", "storm.nc", "--point", "1,1"], &["--point", "--compare"]),
        (&["--compare", "storm.nc", "storm.nc", "--only", "sounding"], &["sounding", "profiles"]),
        (&[], &["FILE.nc"]),
    ] {
        plot(&place, arguments).refused(2, words);
    }
    assert_eq!(place.files(), ["storm.nc"]);
}

#[test]
fn bad_files_are_reported() {
    let place = storm();
    fs::write(place.path("text.nc"), "no NetCDF").expect("a file");
    fs::write(place.path("o"), "no folder").expect("a file");
    for (arguments, words) in [
        (&["none.nc"][..], &["none.nc"][..]),
        (&["text.nc"], &["text.nc", "NetCDF"]),
        (&["storm.nc", "--time", "9"], &["storm.nc", "no time number 9", "numbers 0 to"]),
        (&["storm.nc", "--time", "2001-01-01_00:00:00"], &["no time 2001", "0001-01-01_10:"]),
        (&["storm.nc", "--point", "latlon:1,2"], &["storm.nc", "latitudes"]),
        (&["storm.nc", "-o", "o"], &["o", "folder"]),
    ] {
        plot(&place, arguments).refused(3, words);
    }
}

#[test]
fn files_of_other_grids_are_not_compared() {
    let place = storm();
    super::small::Small::new().write(&place.path("small.nc"));
    plot(&place, &["--compare", "storm.nc", "small.nc"])
        .refused(3, &["small.nc", "12x10x8", "71x58x27"]);
}
