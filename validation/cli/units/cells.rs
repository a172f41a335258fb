//! Cells of `nwp-mini chemistry`.

use std::fs;

use netcdf::AttributeValue;

use super::place::{Ended, Place};
use super::string;

const MECHANISM: &str = "#DEFVAR NO = IGNORE; NO2 = IGNORE; O3 = IGNORE;\n#DEFFIX M = IGNORE;\n#EQUATIONS\n\
                         <A> NO + O3 = NO2 : ARR_ab(2.0D-12, 1400.0);\n<B> NO2 + hv = NO + O3 : j(Pj_no2);\n\
                         <C> NO2 = NO : rc_n2o5;\n<D> O3 = PROD : 2.0E-4*SUN;\n<E> NO2 = PROD : 1.0E-24*C_M;\n";

const AIR: [f64; 3] = [1.2e19, 2.2e19, 2.5e19];

type Cell = (&'static str, Vec<f64>, Option<AttributeValue>);

fn of_air(ratio: f64) -> Vec<f64> {
    AIR.iter().map(|air| ratio * air).collect()
}

/// Cells in the units of the program, without any attribute.
fn plain() -> Vec<Cell> {
    vec![
        ("NO", of_air(2e-9), None),
        ("NO2", of_air(8e-9), None),
        ("O3", of_air(4e-8), None),
        ("M", of_air(1.0), None),
        ("temp", vec![250.0, 288.0, 300.0], None),
        ("c_m", AIR.to_vec(), None),
        ("Pj_no2", vec![7e-3, 6e-3, 0.0], None),
        ("rh", vec![0.3, 0.6, 0.9], None),
        ("tstart", vec![32_400.0, 40_000.0, 60_000.0], None),
    ]
}

/// The same with other values and units of a variable.
fn changed(name: &str, of: impl Fn(usize, f64) -> f64, units: AttributeValue) -> Vec<Cell> {
    let mut cells = plain();
    let cell = cells.iter_mut().find(|cell| cell.0 == name).expect("a variable");
    cell.1.iter_mut().enumerate().for_each(|(n, x)| *x = of(n, *x));
    cell.2 = Some(units);
    cells
}

/// Integrates the cells; returns the ozone, and what the program said.
fn integrate(cells: &[Cell]) -> (Option<Vec<f64>>, Ended, Place) {
    let place = Place::empty();
    fs::write(place.path("m.kpp"), MECHANISM).expect("a file");
    let mut file = netcdf::create(place.path("cells.nc")).expect("a file");
    file.add_dimension("cell", AIR.len()).expect("a dimension");
    for (name, values, units) in cells {
        let mut variable = file.add_variable::<f64>(name, &["cell"]).expect("a variable");
        variable.put_values(values, ..).expect("values");
        if let Some(units) = units {
            variable.put_attribute("units", units.clone()).expect("an attribute");
        }
    }
    file.close().expect("written");
    let ended = place.command(&[
        "chemistry",
        "--backend",
        "cpu",
        "--mechanism",
        "m.kpp",
        "--input",
        "cells.nc",
        "--output",
        "o.nc",
        "--dt",
        "300",
    ]);
    let output = netcdf::open(place.path("o.nc")).ok();
    let ozone = output
        .map(|file| file.variable("O3").expect("ozone").get_values::<f64, _>(..).expect("numbers"));
    (ozone, ended, place)
}

#[test]
fn cells_are_converted() {
    let (wanted, _, _) = integrate(&plain());
    let wanted = wanted.expect("an output");
    let ppb = |n: usize, x: f64| 1e9 * x / AIR[n];
    for (what, cells) in [
        ("ppb", changed("O3", ppb, "ppb".into())),
        ("ppbv as a string", changed("O3", ppb, string("ppbv"))),
        ("mol mol-1", changed("NO", |n, x| x / AIR[n], "mol mol-1".into())),
        ("m-3", changed("NO2", |_, x| 1e6 * x, "m-3".into())),
        ("degC", changed("temp", |_, x| x - 273.15, "degC".into())),
        ("air", changed("c_m", |_, x| 1e6 * x, "molecules m-3".into())),
        ("per minute", changed("Pj_no2", |_, x| 60.0 * x, "min-1".into())),
        ("percent", changed("rh", |_, x| 100.0 * x, "%".into())),
        ("hours", changed("tstart", |_, x| x / 3600.0, "h".into())),
    ] {
        let (found, ended, _) = integrate(&cells);
        let found = found.unwrap_or_else(|| panic!("{what}: {}", ended.stderr));
        for (a, b) in found.iter().zip(&wanted) {
            assert!((a - b).abs() <= 1e-9 * b, "{what}: {a:e} {b:e}");
        }
    }
    // Mixing ratios need the air of the cell, which the factor gives as well.
    let mut cells = changed("O3", ppb, "ppb".into());
    let air = cells.iter_mut().find(|cell| cell.0 == "c_m").expect("the air");
    *air = ("cfactor", AIR.iter().map(|x| 1e-6 * x).collect(), Some("cm-3".into()));
    let (found, ended, _) = integrate(&cells);
    assert!((found.expect(&ended.stderr)[0] / wanted[0] - 1.0).abs() < 1e-9);
    cells.retain(|cell| cell.0 != "cfactor");
    let (_, ended, _) = integrate(&cells);
    ended.refused(3, &["O3", "\"ppb\"", "cfactor or c_m"]);
}

#[test]
fn units_of_other_quantities_are_refused() {
    for (name, units, needed) in [
        ("O3", "ug m-3", "cm-3"),
        ("NO", "a lot", "cm-3"),
        ("Pj_no2", "W m-2", "s-1"),
        ("temp", "gallons", "K"),
        ("rh", "ppmv", "\"1\""),
        ("tstart", "hours since 2020-01-01", "\"s\""),
        ("c_m", "hPa", "cm-3"),
    ] {
        let (_, ended, place) = integrate(&changed(name, |_, x| x, units.into()));
        ended.refused(3, &["cells.nc", &format!("variable {name} has"), units, needed]);
        assert!(!place.path("o.nc").exists(), "{name}");
    }
}

/// A cell that no air has keeps its input and has its code; the others are integrated.
#[test]
fn impossible_cells_are_not_integrated() {
    let (wanted, _, _) = integrate(&plain());
    let wanted = wanted.expect("an output");
    for (name, value, bound) in [
        ("temp", 25.0, "1.000000e2 to 4.000000e2 K"),
        ("temp", 4000.0, "1.000000e2 to 4.000000e2 K"),
        ("c_m", 3e25, "1.000000e21 molecules cm-3"),
        ("Pj_no2", 5e4, "1.000000e1 s-1"),
        ("Pj_no2", -1.0, "0.000000e0 to"),
        ("NO", 1e30, "molecules cm-3"),
        ("O3", -1e12, "0.000000e0 to"),
        ("rh", 60.0, "0.000000e0 to"),
    ] {
        let cells = changed(name, |n, x| if n == 1 { value } else { x }, "".into());
        let (found, ended, place) = integrate(&cells);
        assert_eq!(ended.code, Some(5), "{ended:?}");
        for words in [name, "cell=1", bound, "(ierr -10)"] {
            assert!(ended.stderr.contains(words), "{words}: {ended:?}");
        }
        let found = found.expect("an output");
        assert_eq!([found[0], found[2]], [wanted[0], wanted[2]], "{name}");
        let kept = cells.iter().find(|cell| cell.0 == "O3").expect("ozone").1[1];
        assert_eq!(found[1].to_bits(), kept.to_bits(), "{name}");
        let file = netcdf::open(place.path("o.nc")).expect("an output");
        let codes: Vec<i32> =
            file.variable("ierr").expect("codes").get_values(..).expect("numbers");
        assert_eq!(codes, [1, -10, 1]);
    }
}
