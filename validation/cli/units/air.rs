//! The air of a run.

use std::fs;

use super::place::Place;
use super::result::Output;
use super::small::Small;
use super::{apart, set_attribute, string};

const FILES: i32 = 3;
const USAGE: i32 = 2;

fn two_steps(place: &Place) -> Output {
    place.run_small(&["-q", "--backend", "cpu", "--steps", "2", "--force"]).good();
    place.open("small.out.nc")
}

/// Variable, units, and the map from its values to those units.
type InOtherUnits = (&'static str, &'static str, fn(f32) -> f32);

const OTHER_UNITS: [InOtherUnits; 12] = [
    ("P", "hPa", |x| x / 100.0),
    ("PB", "mbar", |x| x / 100.0),
    ("MU", "kPa", |x| x / 1000.0),
    ("MUB", "HPA", |x| x / 100.0),
    ("P_TOP", "mb", |x| x / 100.0),
    ("QVAPOR", "g kg-1", |x| x * 1000.0),
    ("QSNOW", "g/kg", |x| x * 1000.0),
    ("U", "km h-1", |x| x * 3.6),
    ("V", "knots", |x| x * 3600.0 / 1852.0),
    ("HGT", "km", |x| x / 1000.0),
    ("XLAT", "radians", f32::to_radians),
    ("T", "mK", |x| x * 1000.0),
];

#[test]
fn known_units_are_converted_and_told_by_info() {
    let plain = two_steps(&Place::with(&Small::new()));
    let mut small = Small::new();
    for (name, units, of) in OTHER_UNITS {
        small.values(name).mapv_inplace(of);
        small.fields.get_mut(name).expect("a field").units = Some(units);
    }
    let place = Place::with(&small);
    let found = two_steps(&place);
    for name in ["T", "QVAPOR", "QSNOW", "P", "MU", "HGT", "U", "V", "W", "XLAT", "RAINNC"] {
        for time in [0, 1] {
            let apart = apart(&plain.frame(name, time), &found.frame(name, time));
            // Values were rounded in other units, winds are small differences of the projection, and the microphysics
            // has thresholds.
            let room = match (name, time) {
                ("QSNOW" | "RAINNC", 1) => 1e-2,
                ("W", _) => 1e-3,
                _ => 1e-4,
            };
            assert!(apart <= room, "{name} at time {time}: {apart:e}");
        }
    }
    let told = place.command(&["info", "small.nc"]).good().stdout;
    for words in ["QVAPOR: converted from \"g kg-1\" to kg kg-1", "input of run   yes"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let untold = "PH, PHB: in m2 s-2, as no units are stated";
    assert!(told.contains(untold), "{untold}: {told}");
}

#[test]
fn units_in_other_spellings_change_no_bit() {
    let plain = two_steps(&Place::with(&Small::new()));
    let spellings = [
        ["Pa", "K", "kg kg-1", "m s-1", "m2 s-2", "degree_north"],
        ["pa", "kelvin", "kg/kg", "m/s", "m^2/s^2", "degrees_north"],
        ["", " ", "-", "", "none", ""],
    ];
    for [pressure, temperature, water, wind, geopotential, latitude] in spellings {
        let mut small = Small::new();
        for (name, units) in [
            ("P", pressure),
            ("T", temperature),
            ("QVAPOR", water),
            ("U", wind),
            ("PH", geopotential),
            ("XLAT", latitude),
        ] {
            small.fields.get_mut(name).expect("a field").units = Some(units);
        }
        let found = two_steps(&Place::with(&small));
        for name in ["T", "QVAPOR", "QRAIN", "RAINNC"] {
            assert_eq!(plain.frame(name, 1), found.frame(name, 1), "{name} in {pressure}");
        }
    }
}

#[test]
fn units_of_other_quantities_are_refused() {
    for (name, found, needed) in [
        ("P", "K", "Pa"),
        ("T", "degC", "K"),
        ("QVAPOR", "ppmv", "kg kg-1"),
        ("QSNOW", "%", "kg kg-1"),
        ("PH", "m", "m2 s-2"),
        ("XLAT", "whatever", "degrees"),
        ("MAPFAC_MX", "km", "1"),
    ] {
        let mut small = Small::new();
        small.fields.get_mut(name).expect("a field").units = Some(found);
        let place = Place::with(&small);
        let said = format!("variable {name} has the units {found:?}; {needed:?} is needed");
        let words = ["small.nc", &said, "convert it"];
        place.run_small(&["--steps", "1"]).refused(FILES, &words);
        assert_eq!(place.files(), ["small.nc"]);
        let told = place.command(&["info", "small.nc"]).good().stdout;
        assert!(
            told.contains(&format!("input of run   no: small.nc: variable {name} has")),
            "{told}"
        );
    }
}

/// Attributes of the type string mean what attributes of characters mean.
#[test]
fn attributes_may_be_strings() {
    let plain = two_steps(&Place::with(&Small::new()));
    let mut small = Small::new();
    small.values("QVAPOR").mapv_inplace(|x| x * 1000.0);
    let place = Place::with(&small);
    set_attribute(&place.path("small.nc"), "QVAPOR", "units", string("g kg-1"));
    let found = two_steps(&place).frame("QVAPOR", 1);
    assert!(apart(&plain.frame("QVAPOR", 1), &found) < 1e-5);
    set_attribute(&place.path("small.nc"), "QVAPOR", "units", string("g m-3"));
    place.run_small(&["--steps", "1", "--force"]).refused(FILES, &["QVAPOR", "g m-3"]);
    // A number is read as its digits.
    set_attribute(&place.path("small.nc"), "QVAPOR", "units", 1.into());
    place.run_small(&["--steps", "1", "--force"]).refused(FILES, &["QVAPOR (kg/kg)"]);
    let place = Place::with(&Small::new());
    set_attribute(&place.path("small.nc"), "QVAPOR", "_Unsigned", string("true"));
    assert_eq!(two_steps(&place).frame("QVAPOR", 1), plain.frame("QVAPOR", 1));
    set_attribute(&place.path("small.nc"), "QVAPOR", "missing_value", string("none"));
    place
        .run_small(&["--steps", "1", "--force"])
        .refused(FILES, &["missing_value", "QVAPOR", "\"none\""]);
}

/// Fields with noise are held to the bounds of an input.
#[test]
fn members_that_cannot_be_air_are_refused() {
    let place = Place::with(&Small::new());
    for (name, amplitude, words) in [
        ("T", 900.0, ["[initial.T]", "a temperature of", "1e2 to 4e2"]),
        ("QVAPOR", 300.0, ["[initial.QVAPOR]", "a mixing ratio of", "to 1e-1"]),
    ] {
        let text = format!("members = 3\n[initial.{name}]\namplitude = {amplitude}\n");
        fs::write(place.path("e.toml"), text).expect("a file");
        let ended = place.run_small(&["--backend", "cpu", "--steps", "1", "--ensemble", "e.toml"]);
        let more = ["e.toml", "member 1", "in cell i="];
        ended.refused(USAGE, &[&words[..], &more].concat());
        assert_eq!(place.files(), ["e.toml", "small.nc"]);
    }
}
