//! `nwp-mini diff` of files in different units.

use std::fs;
use std::path::Path;

use super::place::{Ended, Place};

/// Writes one variable of single precision.
fn write(path: &Path, units: Option<&str>, values: [f64; 3]) {
    let mut file = netcdf::create(path).expect("a file");
    file.add_dimension("x", values.len()).expect("a dimension");
    let mut variable = file.add_variable::<f32>("v", &["x"]).expect("a variable");
    variable.put_values(&values.map(|x| x as f32), ..).expect("values");
    if let Some(units) = units {
        variable.put_attribute("units", units).expect("an attribute");
    }
    file.close().expect("written");
}

fn diff(a: (Option<&str>, [f64; 3]), b: (Option<&str>, [f64; 3])) -> Ended {
    let place = Place::empty();
    write(&place.path("a.nc"), a.0, a.1);
    write(&place.path("b.nc"), b.0, b.1);
    let ended = place.command(&["diff", "a.nc", "b.nc", "--json", "d.json"]);
    if ended.code != Some(3) {
        let text = fs::read_to_string(place.path("d.json")).expect("figures");
        let figures: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(figures["same"], ended.code == Some(0));
    }
    ended
}

const P: [f64; 3] = [101_325.0, 85_000.0, 3.7];

#[test]
fn the_same_values_in_other_units_are_the_same() {
    for (a, b, of) in [
        ("Pa", "hPa", (|x| x / 100.0) as fn(f64) -> f64),
        ("hPa", "Pa", |x| 100.0 * x),
        ("K", "degC", |x| x - 273.15),
        ("degC", "K", |x| x + 273.15),
        ("minutes since 2020-01-01", "hours since 2020-01-01 06:00:00", |x| (x - 360.0) / 60.0),
    ] {
        let ended = diff((Some(a), P), (Some(b), P.map(of)));
        assert_eq!(ended.code, Some(0), "{a} {b}: {ended:?}");
        assert!(ended.stdout.contains("v: units") && ended.stdout.contains(b), "{ended:?}");
        let ended = diff((Some(a), P), (Some(b), P.map(of).map(|x| 1.0001 * x)));
        assert_eq!(ended.code, Some(1), "{a} {b}: {ended:?}");
    }
}

#[test]
fn the_same_numbers_in_other_units_differ() {
    let ended = diff((Some("Pa"), P), (Some("hPa"), P));
    assert_eq!(ended.code, Some(1));
    assert!(ended.stdout.contains("units \"Pa\" in A, \"hPa\" in B"), "{ended:?}");
    let ended = diff((Some("Pa"), P), (Some("K"), P));
    assert_eq!(ended.code, Some(1));
    assert!(ended.stdout.contains("OTHER UNITS"), "{ended:?}");
    // Spellings of the same units are no difference.
    let ended = diff((Some("kg kg-1"), P), (Some("kg/kg"), P));
    assert!(ended.code == Some(0) && ended.stdout.contains("bit by bit"), "{ended:?}");
    // Without units the numbers count, and it is told.
    let ended = diff((Some("Pa"), P), (None, P));
    assert!(ended.code == Some(0) && ended.stdout.contains("no units in B"), "{ended:?}");
}

#[test]
fn units_that_one_file_alone_knows_cannot_be_compared() {
    diff((Some("Pa"), P), (Some("furlongs"), P))
        .refused(3, &["b.nc", "variable v", "furlongs", "Pa"]);
    diff((Some("furlongs"), P), (Some("Pa"), P)).refused(3, &["a.nc", "variable v", "furlongs"]);
    assert_eq!(diff((Some("furlongs"), P), (Some("furlongs"), P)).code, Some(0));
}
