//! Files that cannot serve as input: each is rejected with exit code 3 and a message with the file and the defect, and
//! no file is left behind.

use std::fs;

use super::place::{Place, storm};
use super::small::Small;

const BAD_INPUT: i32 = 3;

/// Runs a broken small file; it must be refused in these words.
#[track_caller]
fn refuses(small: &Small, words: &[&str]) {
    let place = Place::with(small);
    refused_in(&place, "small.nc", words);
}

#[track_caller]
fn refused_in(place: &Place, input: &str, words: &[&str]) {
    let before = place.files();
    let ended = place.run(&["--input", input, "--steps", "1", "--json", "out.json"]);
    ended.refused(BAD_INPUT, &[&[input], words].concat());
    assert_eq!(place.files(), before);
}

/// Breaks a good file in one way.
#[track_caller]
fn broken(breaks: impl Fn(&mut Small), words: &[&str]) {
    let mut small = Small::new();
    breaks(&mut small);
    refuses(&small, words);
}

/// The original file runs, so that the tests below detect their own changes.
#[test]
fn the_small_file_is_good() {
    for small in [Small::new(), Small::hybrid(), Small::clear()] {
        Place::with(&small).run_small(&["--steps", "1"]).good();
    }
}

#[test]
fn files_that_are_not_netcdf() {
    let place = Place::empty();
    refused_in(&place, "absent.nc", &["cannot read", "No such file"]);
    fs::write(place.path("empty.nc"), "").expect("a file");
    refused_in(&place, "empty.nc", &["is empty", "NetCDF file is needed"]);
    fs::write(place.path("text.nc"), "Dear model, it rains.\n".repeat(100)).expect("a file");
    refused_in(&place, "text.nc", &["not a readable NetCDF file"]);
    fs::create_dir(place.path("folder.nc")).expect("a folder");
    refused_in(&place, "folder.nc", &["is a folder"]);
    let whole = fs::read(storm()).expect("the storm");
    for length in [1000, whole.len() / 2, whole.len() - 1] {
        fs::write(place.path("cut.nc"), &whole[..length]).expect("a file");
        refused_in(&place, "cut.nc", &["not a readable NetCDF file", "is it complete"]);
    }
}

/// Bytes lost in the middle: the file opens, and the checksum or the decompression fails.
#[test]
fn a_file_with_a_hole() {
    let place = Place::empty();
    let mut bytes = fs::read(storm()).expect("the storm");
    let middle = bytes.len() / 2;
    bytes[middle - 200_000..middle + 200_000].fill(0);
    fs::write(place.path("hole.nc"), &bytes).expect("a file");
    refused_in(&place, "hole.nc", &[]);
}

#[test]
fn missing_variables_are_named() {
    for name in ["QVAPOR", "P", "PB", "PH", "PHB", "MU", "MUB", "U", "V", "T"] {
        broken(|small| small.remove(name), &["lacks the variable ", name]);
    }
    broken(
        |small| {
            for name in ["U", "PHB", "T", "ZNW", "DNW", "RDNW"] {
                small.remove(name);
            }
        },
        &["lacks the variables PHB, U, T (or THM), ZNW (or DNW, or RDNW)"],
    );
}

/// Optional variables: derived, zero, or 1.
#[test]
fn other_variables_may_be_missing() {
    let mut small = Small::new();
    for name in [
        "QCLOUD", "QICE", "QSNOW", "DNW", "RDNW", "ZNU", "FNM", "FNP", "C1H", "C2H", "P_TOP",
        "HGT", "XLAT", "XLONG",
    ] {
        small.remove(name);
    }
    small.fields.retain(|name, _| !name.starts_with("MAPFAC"));
    let (figures, output) = Place::with(&small).figures(&["--steps", "3"]);
    assert!(figures["precipitation_mean_mm"].as_f64() > Some(0.0), "{figures}");
    assert!(output.values("QSNOW").iter().all(|q| q.is_finite()));
}

#[test]
fn dimensions_that_do_not_fit() {
    broken(
        |small| {
            // Winds at the centres.
            small.lengths.insert("west_east_stag", 12);
            let u = small.fields.get_mut("U").expect("winds");
            u.values = u.values.slice(ndarray::s![.., .., ..12]).to_owned().into_dyn();
            small.fields.retain(|name, _| !name.starts_with("MAPFAC_U"));
        },
        &["dimension west_east_stag is 12", "12x10x8", "needs 13"],
    );
    broken(
        |small| {
            let t = small.fields.get_mut("T").expect("temperature");
            t.values.swap_axes(0, 2);
            t.axes.reverse();
        },
        &["variable T", "(west_east = 12, south_north = 10, bottom_top = 8)", "(bottom_top = 8, "],
    );
    broken(
        |small| {
            let u = small.fields["V"].clone();
            small.fields.insert("U", u);
        },
        &["variable U", "south_north_stag = 11", "west_east_stag = 13"],
    );
    broken(
        |small| {
            let p = small.fields["MU"].clone();
            small.fields.insert("P", p);
        },
        &["variable P ", "(south_north = 10, west_east = 12)"],
    );
    broken(|small| small.frames = 0, &["dimension Time has length 0"]);
    refuses(&Small::of([12, 10, 3], false), &["3 layers", "4 to 256"]);
    refuses(&Small::of([3, 10, 8], false), &["3x10x8", "at least 4"]);
    refuses(&Small::of([12, 3, 8], false), &["12x3x8", "at least 4"]);
}

#[test]
fn values_that_are_no_numbers_are_found_where_they_are() {
    for (value, text) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf"), (f32::NEG_INFINITY, "-inf")] {
        for (name, faces) in [("T", ""), ("U", "_stag"), ("QVAPOR", "")] {
            let place = format!("bottom_top=5 south_north=2 west_east{faces}=7");
            let words = [&format!("variable {name} is {text} at {place}"), "must be finite"];
            broken(|small| small.values(name)[[5, 2, 7]] = value, &words);
        }
    }
    broken(
        |small| small.values("MU")[[3, 4]] = f32::NAN,
        &["MU is NaN at south_north=3 west_east=4"],
    );
    broken(|small| small.values("ZNW")[[4]] = f32::NAN, &["ZNW is NaN at bottom_top_stag=4"]);
    broken(|small| small.values("P_TOP")[[]] = f32::NAN, &["P_TOP is NaN"]);
}

#[test]
fn values_that_are_not_air() {
    let at = [5, 2, 7];
    let cell = "i=7 j=2 k=5";
    broken(
        |small| small.values("P")[at] = -120_000.0,
        &["P + PB (Pa)", cell, "1.2e5", "check the units"],
    );
    // Hectopascals.
    broken(
        |small| {
            *small.values("P") *= 0.01;
            *small.values("PB") *= 0.01;
            small.values("PB").fill(0.5);
            small.values("P").fill(0.0);
        },
        &["P + PB (Pa) is 5.0", "is expected"],
    );
    broken(|small| small.values("PB")[at] = 1e7, &["P + PB (Pa) is 9.9", cell]);
    broken(|small| small.values("QVAPOR")[at] = 0.5, &["QVAPOR (kg/kg) is 5.0", cell, "1e-1"]);
    broken(|small| small.values("QRAIN")[at] = 0.5, &["QRAIN (kg/kg)", cell]);
    broken(|small| small.values("QVAPOR")[at] = -0.01, &["QVAPOR (kg/kg) is -1.0", cell]);
    // The full potential temperature, although the format subtracts 300 K.
    broken(|small| *small.values("T") += 300.0, &["temperature", "(K)", "4e2"]);
    broken(|small| small.values("T")[at] = -295.0, &["temperature", cell, "1e2"]);
    broken(|small| small.values("U")[at] = 400.0, &["U (m/s)", cell]);
    broken(|small| small.values("V")[at] = -400.0, &["V (m/s)", cell]);
    broken(|small| *small.values("PH") *= -1.0, &["the depth of the layer", "PH + PHB"]);
    broken(
        |small| small.values("MUB")[[2, 7]] = -95_000.0,
        &["MU + MUB", "south_north=2 west_east=7", "positive dry column mass"],
    );
    broken(
        |small| small.values("MUB")[[2, 7]] = 1e12,
        &["MU + MUB", "south_north=2 west_east=7", "1.2e5"],
    );
}

#[test]
fn grids_that_are_none() {
    broken(
        |small| small.values("ZNW").swap([3], [4]),
        &["eta", "does not fall from face 3 to face 4"],
    );
    broken(
        |small| {
            for name in ["RDNW", "DNW"] {
                small.remove(name);
            }
            small.values("ZNW")[[4]] = 0.99;
        },
        &["does not fall from face 3 to face 4"],
    );
    broken(|small| small.values("RDNW")[[6]] *= -1.0, &["does not fall from face 6 to face 7"]);
    broken(|small| small.values("DNW")[[6]] = 0.0, &["does not fall from face 6 to face 7"]);
    broken(|small| small.values("RDNW")[[6]] *= 2.0, &["layer 6", "RDNW", "must agree"]);
    for name in ["DX", "DY"] {
        for value in [0.0, -20_000.0] {
            let words = [&format!("attribute {name} is {value}"), "positive distance"];
            broken(|small| small.set(name, value), &words);
        }
        let is_nan = [&format!("attribute {name} is "), "a number is needed"];
        broken(|small| small.set(name, f32::NAN), &is_nan);
        let missing = format!("no global attribute {name}");
        broken(|small| small.unset(name), &[&missing]);
    }
    for name in ["MAPFAC_MX", "MAPFAC_UY", "MAPFAC_VX"] {
        let words = [&format!("variable {name} is -1"), "row 3, column 4", "positive"];
        broken(|small| small.values(name)[[3, 4]] = -1.0, &words);
    }
    broken(|small| small.stamp = "last Tuesday, noon!", &["Times", "last Tuesday", "YYYY-MM-DD"]);
    // Dates of the right form that do not exist.
    for (stamp, words) in [
        ("2021-02-29_00:00:00", "2021-02 has 28 days, and there is no day 29"),
        ("2005-13-28_18:00:00", "no month 13"),
        ("2005-08-28_24:00:00", "no hour 24"),
    ] {
        let words = ["Times holds", stamp, words, "a date that exists is needed"];
        broken(|small| small.stamp = stamp, &words);
    }
}
