//! Outputs that cannot be written are rejected before the run starts, and no file is left.

use std::fs;

use super::place::Place;
use super::small::Small;
use super::weights::File;

const USAGE: i32 = 2;
const FILES: i32 = 3;

fn place() -> (Place, Vec<String>) {
    let place = Place::with(&Small::new());
    File::scrip().write(&place.path("w.nc"));
    fs::write(place.path("p.csv"), "name,lat,lon\na,45.5,10\n").expect("a file");
    let files = place.files();
    (place, files)
}

/// Runs the small file with these arguments; they must be refused in these words.
#[track_caller]
fn refuses(code: i32, arguments: &[&str], words: &[&str]) {
    let (place, files) = place();
    place.run_small(arguments).refused(code, words);
    assert_eq!(place.files(), files, "{arguments:?}");
}

#[test]
fn options_that_need_others() {
    refuses(USAGE, &["--regrid-output", "r.nc"], &["--regrid <WEIGHTS>"]);
    refuses(USAGE, &["--points-interval", "60"], &["--points <FILE.csv>"]);
    for value in ["0", "-1", "nan"] {
        let words = ["--points-interval", "positive number"];
        refuses(USAGE, &["--points", "p.csv", "--points-interval", value], &words);
    }
}

#[test]
fn files_are_written_once_and_not_over_what_is_read() {
    for (arguments, words) in [
        (&["--regrid", "w.nc", "--regrid-output", "w.nc"][..], ["--regrid", "the weight file"]),
        (&["--regrid", "w.nc", "--regrid-output", "small.nc"], ["--regrid", "the input file"]),
        (
            &["--regrid", "w.nc", "--output", "x.nc", "--regrid-output", "./x.nc"],
            ["--regrid", "the output file"],
        ),
        (&["--points", "p.csv", "--output", "p.csv"], ["--output", "the file of places"]),
        (
            &["--points", "p.csv", "--json", "small.out.points.nc"],
            ["--points", "the file of --json"],
        ),
        (
            &["--regrid", "w.nc", "--regrid-output", "small.out.profiles.nc", "--profiles"],
            ["--profiles", "the file of --regrid"],
        ),
    ] {
        refuses(USAGE, &[arguments, &["--force"]].concat(), &words);
    }
    let (place, _) = place();
    for (option, name) in [
        (&["--regrid", "w.nc"][..], "small.out.regrid.nc"),
        (&["--points", "p.csv"], "small.out.points.nc"),
        (&["--points", "p.csv"], "small.out.points.profiles.nc"),
        (&["--profiles"], "small.out.profiles.nc"),
    ] {
        fs::write(place.path(name), "old").expect("a file");
        place.run_small(option).refused(FILES, &[name, "exists", "--force"]);
        assert_eq!(fs::read_to_string(place.path(name)).expect("a file"), "old");
        fs::remove_file(place.path(name)).expect("there");
    }
}

#[test]
fn weights_for_other_grids() {
    let (place, _) = place();
    let refused = |file: &File, words: &[&str]| {
        file.write(&place.path("other.nc"));
        let files = place.files();
        place.run_small(&["--regrid", "other.nc"]).refused(FILES, words);
        assert_eq!(place.files(), files);
    };
    let mut file = File::scrip();
    *file.indices("src_grid_dims") = vec![20, 6];
    refused(&file, &["other.nc", "20x6 cells", "12x10", "nwp-mini weights"]);
    let mut file = File::scrip();
    file.lengths.insert("src_grid_size", 130);
    file.remove("src_grid_dims");
    refused(&file, &["other.nc", "130 cells", "12x10, 120"]);
    // The right number of cells in the wrong place.
    let mut file = File::esmf();
    file.real(
        "xc_a",
        &["n_a"],
        "degrees",
        (0..120).map(|c| 9.3 + 0.2 * f64::from(c % 12)).collect(),
    );
    file.real(
        "yc_a",
        &["n_a"],
        "degrees",
        (0..120).map(|c| 45.0 + 0.2 * f64::from(c / 12)).collect(),
    );
    refused(&file, &["source cell 1", "9.3", "9.0", "another grid"]);
    let mut file = File::scrip();
    file.attributes.remove("normalization");
    refused(&file, &["no global attribute normalization"]);
    // A finer grid is another one.
    place.run_small(&["--regrid", "w.nc", "--refine", "2"]).refused(FILES, &["w.nc", "24x20"]);
    place.run_small(&["--regrid", "absent.nc"]).refused(FILES, &["absent.nc"]);
}

#[test]
fn places_that_are_nowhere() {
    let (place, _) = place();
    let refused = |text: &str, words: &[&str]| {
        fs::write(place.path("bad.csv"), text).expect("a file");
        let files = place.files();
        place.run_small(&["--points", "bad.csv"]).refused(FILES, words);
        assert_eq!(place.files(), files);
    };
    refused("name,lat,lon\na,45.5,10\nFar,60,10\n", &["bad.csv", "line 3", "Far", "60", "outside"]);
    refused("name,lat,lon\nnear,44.9,10\n", &["line 2", "near", "45.000 to 46.800"]);
    refused("name,x,y\na,-1e6,0\n", &["line 2", "x -1000000", "outside"]);
    refused("name,lat\na,45.5\n", &["line 1", "name,lat,lon"]);
    refused("name,lat,lon\na,45.5,east\n", &["line 2", "\"east\""]);
    place.run_small(&["--points", "absent.csv"]).refused(FILES, &["absent.csv"]);
    let ended = {
        fs::write(place.path("earth.csv"), "name,lat,lon\na,45,10\n").expect("a file");
        place.run_storm(&["--points", "earth.csv"])
    };
    ended.refused(FILES, &["earth.csv", "lat and lon", "x and y in m"]);
}

/// The command that computes weights.
#[test]
fn weights_that_cannot_be_made() {
    let (place, files) = place();
    let weights = |more: &[&str]| {
        let fixed = ["weights", "--input", "small.nc", "--output", "n.nc"];
        let mut program = place.program(&[&fixed[..], more].concat());
        program.output().expect("the program starts")
    };
    for (arguments, code, word) in [
        (&["--target", "latlon", "--spacing", "0"][..], USAGE, "positive"),
        (&["--target", "latlon"], USAGE, "--spacing"),
        (&["--target", "xy", "--spacing", "5"], USAGE, "GB are free"),
        (&["--target", "globe", "--spacing", "1"], USAGE, "latlon, xy"),
        (&["--target", "xy", "--spacing", "1e3", "--bounds", "1,2,3"], USAGE, "not bounds"),
        (&["--target", "latlon", "--spacing", "1", "--method", "conservative"], USAGE, "xy"),
        (&["--target", "latlon", "--spacing", "1", "--bounds", "0,-99,9,9"], USAGE, "-90 and 90"),
        (
            &["--target", "latlon", "--spacing", "1", "--output", "small.nc"],
            USAGE,
            "cannot be used",
        ),
    ] {
        let ended = weights(arguments);
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(word), "{word:?} is not in {said:?}");
        assert_eq!(place.files(), files, "{arguments:?}");
    }
    let good = weights(&["--target", "latlon", "--spacing", "0.1"]);
    assert!(good.status.success(), "{good:?}");
    let said = String::from_utf8_lossy(&good.stdout).into_owned();
    assert!(said.contains("bilinear remapping from 12x10"), "{said}");
    place.run_small(&["-q", "--steps", "1", "--regrid", "n.nc"]).good();
    let again = weights(&["--target", "latlon", "--spacing", "0.1"]);
    assert_eq!(again.status.code(), Some(FILES), "{again:?}");
    assert!(weights(&["--target", "xy", "--spacing", "5e3", "--force"]).status.success());
}
