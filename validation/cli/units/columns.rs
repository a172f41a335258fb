//! Columns, transport cases and weights.

use std::path::Path;

use super::place::{Ended, Place};

/// Variable, units, and the map from its values to those units.
type InOtherUnits = (&'static str, &'static str, fn(f64) -> f64);

/// Values of a column for each variable, in the units of the program.
const COLUMN: [(&str, [f64; 4]); 10] = [
    ("th", [290.0, 296.0, 304.0, 315.0]),
    ("q", [0.012, 0.008, 0.004, 0.001]),
    ("qc", [0.0, 5e-4, 2e-4, 0.0]),
    ("qr", [1e-3, 8e-4, 2e-4, 0.0]),
    ("qi", [0.0, 0.0, 0.0, 1e-5]),
    ("qs", [0.0, 0.0, 1e-4, 2e-4]),
    ("den", [1.15, 1.0, 0.8, 0.6]),
    ("pii", [0.99, 0.95, 0.90, 0.82]),
    ("p", [96_000.0, 83_000.0, 69_000.0, 50_000.0]),
    ("delz", [500.0, 900.0, 1500.0, 2500.0]),
];

/// Writes a column with another variable: units, and the values in them.
fn write(path: &Path, name: &str, units: &str, of: impl Fn(f64) -> f64) {
    let mut file = netcdf::create(path).expect("a file");
    file.add_dimension("level", 4).expect("a dimension");
    file.add_dimension("column", 1).expect("a dimension");
    for (own, values) in COLUMN {
        let is_it = own == name;
        let values: Vec<f32> =
            values.iter().map(|x| if is_it { of(*x) as f32 } else { *x as f32 }).collect();
        let mut variable = file.add_variable::<f32>(own, &["level", "column"]).expect("a variable");
        variable.put_values(&values, ..).expect("values");
        if is_it {
            variable.put_attribute("units", units).expect("an attribute");
        }
    }
    file.close().expect("written");
}

fn columns(place: &Place) -> Ended {
    let fixed =
        ["columns", "-q", "--backend", "cpu", "--input", "c.nc", "--output", "o.nc", "--force"];
    place.command(&[&fixed[..], &["--dt", "60", "--calls", "5"]].concat())
}

fn values(place: &Place, name: &str) -> Vec<f64> {
    let file = netcdf::open(place.path("o.nc")).expect("an output");
    file.variable(name).expect("a variable").get_values(..).expect("numbers")
}

#[test]
fn columns_are_converted() {
    let place = Place::empty();
    write(&place.path("c.nc"), "th", "K", |x| x);
    columns(&place).good();
    let wanted = ["th", "q", "rain"].map(|name| values(&place, name));
    assert!(wanted[2][0] > 0.01, "{wanted:?}");
    let cases: [InOtherUnits; 7] = [
        ("th", "degC", |x| x - 273.15),
        ("th", "degF", |x| (x - 273.15) * 1.8 + 32.0),
        ("qr", "g kg-1", |x| 1e3 * x),
        ("den", "g m-3", |x| 1e3 * x),
        ("p", "hPa", |x| x / 100.0),
        ("delz", "km", |x| x / 1e3),
        ("pii", "1", |x| x),
    ];
    for (name, units, of) in cases {
        write(&place.path("c.nc"), name, units, of);
        columns(&place).good();
        for (what, wanted) in ["th", "q", "rain"].iter().zip(&wanted) {
            for (a, b) in values(&place, what).iter().zip(wanted) {
                assert!((a - b).abs() <= 1e-4 * b.abs(), "{name} in {units}: {what} {a} {b}");
            }
        }
    }
}

#[test]
fn columns_in_other_units_and_impossible_ones_are_refused() {
    let place = Place::empty();
    let cases: [(InOtherUnits, &str); 9] = [
        (("delz", "miles or so", |x| x), "\"m\""),
        (("th", "hPa", |x| x), "\"K\""),
        (("q", "%", |x| x), "kg kg-1"),
        (("th", "K", |x| x - 270.0), "1e2 to 4e2 K"),
        (("th", "K", |x| 3.0 * x), "1e2 to 4e2 K"),
        (("qr", "kg kg-1", |x| 5e3 * x), "-1e-3 to 1e-1"),
        (("qs", "kg kg-1", |x| -1e3 * x), "-1e-3 to 1e-1"),
        (("q", "g kg-1", |x| 1e6 * x), "-1e-3 to 1e-1"),
        (("p", "Pa", |x| 10.0 * x), "1e0 to 1.2e5"),
    ];
    for ((name, units, of), bound) in cases {
        write(&place.path("c.nc"), name, units, of);
        columns(&place).refused(3, &["c.nc", name, bound]);
        assert_eq!(place.files(), ["c.nc"], "{name} in {units}");
    }
}
