//! `run --regrid`: the fields on another grid are the weights times the fields of the output.

use ndarray::Axis;
use netcdf::AttributeValue;
use nwp_mini::diagnostics::regrid::{Bounds, Method, Regular, weights};
use nwp_mini::io::weights::{Arrangement, Coordinates, WeightFile, Weights};
use nwp_mini::io::wrf;

use super::place::Place;
use super::result::Output;
use super::small::Small;
use super::weights::File;

/// Fields of the file on the other grid that are at the same indices of the output.
const SAME: [&str; 14] = [
    "T",
    "QVAPOR",
    "QCLOUD",
    "QRAIN",
    "QICE",
    "QSNOW",
    "W",
    "REFL_10CM",
    "RE_CLOUD",
    "RE_ICE",
    "RE_SNOW",
    "RAINNC",
    "SNOWNC",
    "SR",
];

const GRAVITY: f64 = 9.81;

/// A field of the output at the centres of the cells, seen from above, at all times.
pub(crate) fn centred(output: &Output, name: &str) -> Vec<f64> {
    let sum = |a: &str, b: &str, by: f64| {
        let (a, b) = (output.values(a), output.values(b));
        a.iter().zip(&b).map(|(a, b)| (a + b) / by).collect()
    };
    let mean = |name: &str, axis: usize| {
        let field = output.values(name);
        let (low, _) = field.view().split_at(Axis(axis), field.shape()[axis] - 1);
        let (_, high) = field.view().split_at(Axis(axis), 1);
        low.iter().zip(&high).map(|(a, b)| 0.5 * (a + b)).collect()
    };
    match name {
        "U" => mean("U", 3),
        "V" => mean("V", 2),
        "pressure" => sum("P", "PB", 1.0),
        "height" => sum("PH", "PHB", GRAVITY),
        name => output.values(name).iter().copied().collect(),
    }
}

/// Regridded values of every level of a field by the weights; `None` where no source cell contributes.
fn expected(weights: &Weights, field: &[f64]) -> Vec<Option<f64>> {
    let matrix = &weights.matrix;
    let mut y = vec![0.0; matrix.rows()];
    let level = |level: &[f64]| {
        matrix.multiply(level, &mut y);
        let reached = matrix.starts().windows(2).map(|pair| pair[0] < pair[1]);
        y.iter().zip(reached).map(|(y, is)| is.then_some(*y)).collect::<Vec<_>>()
    };
    field.chunks(matrix.columns()).flat_map(level).collect()
}

/// Sine and cosine of the angle from east to the x axis of the small file at a longitude: a cone
/// through 30 and 60 degrees that opens along 9 E.
///
/// Source: Snyder 1987, eq. 15-8 for the sphere; meridians converge by the cone's constant.
fn turned_by(longitude: f64) -> [f64; 2] {
    let half = |latitude: f64| (45.0 + 0.5 * latitude).to_radians().tan();
    let cone = (30.0_f64.to_radians().cos() / 60.0_f64.to_radians().cos()).ln()
        / (half(60.0) / half(30.0)).ln();
    let (sine, cosine) = (-cone * (longitude - 9.0).to_radians()).sin_cos();
    [sine, cosine]
}

/// Winds of a file on another grid: along meridians and parallels if its cells are on those or in a list, else along
/// the axes of that grid, here those of the run.
fn winds(output: &Output, weights: &Weights) -> [Vec<Option<f64>>; 2] {
    let [u, v] = ["U", "V"].map(|name| expected(weights, &centred(output, name)));
    let target = &weights.target;
    let is_list = matches!(target.arrangement, Arrangement::List(_));
    if !is_list && target.axes().is_none() {
        return [u, v];
    }
    let east = target.x.iter().cycle();
    let pairs = u.into_iter().zip(v).zip(east).map(|((u, v), &longitude)| {
        let [sine, cosine] = turned_by(longitude);
        (u.zip(v).map(|(u, v)| u * cosine - v * sine), u.zip(v).map(|(u, v)| v * cosine + u * sine))
    });
    let (u, v) = pairs.unzip();
    [u, v]
}

/// Compares a file on another grid with the output of the same run.
fn check(output: &Output, regrid: &Output, weights: &Weights, unit: f64) {
    let [u, v] = winds(output, weights);
    for name in SAME.into_iter().chain(["U", "V", "pressure", "height"]) {
        let field = centred(output, name);
        let scale = field.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        let expected = match name {
            "U" => u.clone(),
            "V" => v.clone(),
            _ => expected(weights, &field),
        };
        let scale = if ["U", "V"].contains(&name) { 2.0 * scale.max(10.0) } else { scale };
        let found = regrid.values(name);
        assert_eq!(found.len(), expected.len(), "{name}");
        let missing = regrid.variable(name).attribute_value("_FillValue").expect("a fill value");
        let missing = match missing.expect("readable") {
            AttributeValue::Float(x) => f64::from(x),
            AttributeValue::Double(x) => x,
            other => panic!("{other:?}"),
        };
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            match expected {
                None => assert_eq!(*found, missing, "{name} {at}"),
                // A product of a dozen weights rounds each; pressure is a sum that is rounded.
                Some(expected) => {
                    let off = (found - expected).abs();
                    assert!(off <= 16.0 * unit * scale, "{name} {at}: {found}, not {expected}");
                }
            }
        }
    }
}

/// Writes weights for the small file.
fn prepared(place: &Place, regular: Regular, method: Method) -> Weights {
    let (domain, _) = wrf::read(&place.path("small.nc"), None).expect("the small file");
    let made = weights(&domain, regular, method).unwrap_or_else(|e| panic!("{e}"));
    let shape = domain.grid.shape;
    made.write(&place.path("w.nc"), true, [shape.nx, shape.ny], &[])
        .unwrap_or_else(|e| panic!("{e}"));
    made
}

const RUN: [&str; 8] =
    ["-q", "--steps", "3", "--dt", "10", "--output-interval", "10", "--backend=cpu"];

#[test]
fn fields_are_the_weights_times_the_fields() {
    let bounds = Some(Bounds([8.8, 44.9, 11.5, 47.1]));
    for (regular, method, axes) in [
        (
            Regular { coordinates: Coordinates::Degrees, spacing: 0.13, bounds },
            Method::Bilinear,
            ["lat", "lon"],
        ),
        (
            Regular { coordinates: Coordinates::Metres, spacing: 4e3, bounds: None },
            Method::Conservative,
            ["row", "column"],
        ),
    ] {
        let mut small = Small::new();
        if regular.coordinates == Coordinates::Metres {
            // Rows of the small file are parallels, as on Mercator's map and not on a cone.
            small.set("MAP_PROJ", 3.0);
        }
        let place = Place::with(&small);
        let weights = prepared(&place, regular, method);
        for (precision, unit) in [("f32", f64::from(f32::EPSILON)), ("f64", f64::EPSILON)] {
            let more = ["--regrid", "w.nc", "--precision", precision, "--force"];
            place.run_small(&[&RUN[..], &more].concat()).good();
            let (output, regrid) = (place.open("small.out.nc"), place.open("small.out.regrid.nc"));
            assert_eq!(output.frames(), 4);
            check(&output, &regrid, &weights, unit);
            let names: Vec<String> = regrid
                .variable("QVAPOR")
                .dimensions()
                .iter()
                .map(netcdf::Dimension::name)
                .collect();
            assert_eq!(names, ["time", "bottom_top", axes[0], axes[1]]);
            let minutes = output.values("XTIME");
            for (seconds, minutes) in regrid.values("time").iter().zip(&minutes) {
                assert!((seconds - 60.0 * minutes).abs() < 1e-9, "{seconds} {minutes}");
            }
            assert_eq!(regrid.text("Conventions"), "CF-1.11");
            assert_eq!(regrid.text("weights_file"), "w.nc");
            assert_eq!(regrid.text_of("lat", "standard_name"), "latitude");
            assert_eq!(regrid.text_of("lon", "bounds"), "lon_bnds");
        }
    }
}

#[test]
fn coordinates_and_bounds_are_those_of_the_target() {
    let place = Place::with(&Small::new());
    let bounds = Some(Bounds([9.0, 45.0, 11.0, 46.5]));
    let regular = Regular { coordinates: Coordinates::Degrees, spacing: 0.25, bounds };
    prepared(&place, regular, Method::Bilinear);
    place.run_small(&[&RUN[..], &["--regrid", "w.nc", "--regrid-output", "r.nc"]].concat()).good();
    let regrid = place.open("r.nc");
    for (name, start, count) in [("lon", 9.0, 8), ("lat", 45.0, 6)] {
        let (centres, ends) = (regrid.values(name), regrid.values(&format!("{name}_bnds")));
        assert_eq!(centres.len(), count);
        for (n, centre) in centres.iter().enumerate() {
            let edge = start + 0.25 * n as f64;
            assert!((centre - edge - 0.125).abs() < 1e-12, "{name} {n}: {centre}");
            assert!((ends[[n, 0]] - edge).abs() < 1e-12, "{name} {n}");
            assert!((ends[[n, 1]] - edge - 0.25).abs() < 1e-12, "{name} {n}");
        }
    }
    assert_eq!(place.files(), ["r.nc", "small.nc", "small.out.nc", "w.nc"]);
}

/// Weights of other programs, which do not contain the source grid, and give a list of cells.
#[test]
fn weights_of_others_serve_in_both_forms() {
    let place = Place::with(&Small::new());
    let mut found = Vec::new();
    for (name, mut file) in [("s.nc", File::scrip()), ("e.nc", File::esmf())] {
        file.lengths.insert("dst_grid_rank", 1);
        *file.indices("dst_grid_dims") = vec![6];
        file.write(&place.path(name));
        place.run_small(&[&RUN[..], &["--regrid", name, "--force"]].concat()).good();
        let weights = WeightFile::read(&place.path(name)).expect("good weights").weights;
        let regrid = place.open("small.out.regrid.nc");
        check(&place.open("small.out.nc"), &regrid, &weights, f64::from(f32::EPSILON));
        assert_eq!(regrid.text_of("QVAPOR", "coordinates"), "lat lon");
        assert_eq!(regrid.variable("QVAPOR").dimensions()[2].name(), "cell");
        found.push(regrid.values("QVAPOR"));
    }
    assert_eq!(found[0], found[1]);
}

/// The output of a run does not depend on files written beside it.
#[test]
fn the_output_does_not_change() {
    let place = Place::with(&Small::new());
    File::scrip().write(&place.path("w.nc"));
    std::fs::write(place.path("p.csv"), "name,lat,lon\na,45.5,10\n").expect("a file");
    place.run_small(&[&RUN[..], &["--output", "a.nc"]].concat()).good();
    let aux = ["--regrid", "w.nc", "--points", "p.csv", "--points-interval", "10", "--profiles"];
    place.run_small(&[&RUN[..], &["--output", "b.nc"], &aux].concat()).good();
    assert_eq!(place.open("a.nc").bits(), place.open("b.nc").bits());
}
