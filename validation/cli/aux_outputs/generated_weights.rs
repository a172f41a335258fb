//! Weights computed by the program: their conservation, and their file.

use nwp_mini::diagnostics::regrid::{Bounds, Method, Regular, weights};
use nwp_mini::domain::Domain;
use nwp_mini::io::weights::{Arrangement, Coordinates, WeightFile, Weights};
use nwp_mini::io::wrf::{self};

use super::place::{Place, storm};
use super::random::Random;
use super::small::Small;

/// A grid on Earth, whose latitudes grow with the rows and whose longitudes with the columns.
fn small() -> Domain {
    let place = Place::with(&Small::new());
    wrf::read(&place.path("small.nc"), None).expect("the small file").0
}

/// A grid on a plane.
fn plane() -> Domain {
    wrf::read(&storm(), None).expect("the storm").0
}

fn made(domain: &Domain, regular: Regular, method: Method) -> Weights {
    weights(domain, regular, method).unwrap_or_else(|e| panic!("{e}"))
}

fn metres(spacing: f64, bounds: Option<[f64; 4]>) -> Regular {
    Regular { coordinates: Coordinates::Metres, spacing, bounds: bounds.map(Bounds) }
}

fn degrees(spacing: f64) -> Regular {
    Regular { coordinates: Coordinates::Degrees, spacing, bounds: None }
}

fn product(weights: &Weights, x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; weights.matrix.rows()];
    weights.matrix.multiply(x, &mut y);
    y
}

fn is_reached(weights: &Weights, row: usize) -> bool {
    weights.matrix.starts()[row] < weights.matrix.starts()[row + 1]
}

#[test]
fn a_constant_stays_what_it_is() {
    for (domain, regular, method) in [
        (plane(), metres(45_000.0, None), Method::Bilinear),
        (plane(), metres(45_000.0, None), Method::Conservative),
        (plane(), metres(7_000.0, Some([-1e5, -1e5, 4e5, 4e5])), Method::Conservative),
        (small(), degrees(0.07), Method::Bilinear),
        (small(), metres(5_000.0, None), Method::Conservative),
    ] {
        let weights = made(&domain, regular, method);
        let mut reached = 0;
        for (row, y) in product(&weights, &vec![300.0; weights.matrix.columns()]).iter().enumerate()
        {
            let expected = if is_reached(&weights, row) { 300.0 } else { 0.0 };
            // Rounding of a few products of the order of the value.
            assert!((y - expected).abs() < 1e-12 * 300.0, "{row}: {y}");
            assert_eq!(is_reached(&weights, row), weights.fraction[row] > 0.0);
            reached += usize::from(is_reached(&weights, row));
        }
        assert!(reached > 50, "{reached} cells are reached");
    }
}

/// Linear in x and y on a plane, and in longitude and latitude on Earth.
#[test]
fn a_linear_field_is_interpolated_as_it_is() {
    let domain = plane();
    let nx = domain.grid.shape.nx;
    let weights = made(&domain, metres(13_000.0, None), Method::Bilinear);
    let linear = |x: f64, y: f64| 3.0 + 2e-5 * x - 1e-5 * y;
    let at = |n: usize, d: f64| (n as f64 + 0.5) * d;
    let (dx, dy) = (domain.grid.dx, domain.grid.dy);
    let field: Vec<f64> =
        (0..weights.matrix.columns()).map(|c| linear(at(c % nx, dx), at(c / nx, dy))).collect();
    check_linear(&weights, &field, linear, 1e-10);

    let domain = small();
    let weights = made(&domain, degrees(0.07), Method::Bilinear);
    let linear = |x: f64, y: f64| 3.0 + 2.0 * x - 1.5 * y;
    let latitude = domain.latitude.as_ref().expect("latitudes");
    let places = domain.longitude.as_ref().expect("longitudes").iter().zip(latitude);
    let field: Vec<f64> = places.map(|(x, y)| linear(f64::from(*x), f64::from(*y))).collect();
    check_linear(&weights, &field, linear, 1e-10);
}

fn check_linear(weights: &Weights, field: &[f64], linear: impl Fn(f64, f64) -> f64, limit: f64) {
    let mut reached = 0;
    for (row, y) in product(weights, field).iter().enumerate() {
        if is_reached(weights, row) {
            let expected = linear(weights.target.x[row], weights.target.y[row]);
            assert!((y - expected).abs() < limit, "{row}: {y}, not {expected}");
            reached += 1;
        }
    }
    assert!(2 * reached > weights.matrix.rows(), "{reached} cells are reached");
}

/// Totals by the model's own areas, also with varying map factors, and with a part of the grid.
#[test]
fn conservative_weights_keep_totals() {
    for (domain, spacing, bounds) in [
        (plane(), 45_000.0, None),
        (plane(), 11_111.0, Some([123_456.0, 654_321.0, 1_000_000.0, 1_500_000.0])),
        (plane(), 170_000.0, Some([-1e6, -1e6, 4e6, 4e6])),
        (small(), 7_000.0, None),
    ] {
        let weights = made(&domain, metres(spacing, bounds), Method::Conservative);
        let mut random = Random::new(3);
        let x: Vec<f64> =
            (0..weights.matrix.columns()).map(|_| random.between(-1.0, 2.0)).collect();
        let y = product(&weights, &x);
        let [source, target] = weights.areas.as_ref().expect("areas");
        let part = weights.source_fraction.as_ref().expect("parts");
        let given: f64 = (0..x.len()).map(|c| source[c] * part[c] * x[c]).sum();
        let taken: f64 = (0..y.len()).map(|c| target[c] * weights.fraction[c] * y[c]).sum();
        // Rounding of sums over some thousand cells.
        assert!((given - taken).abs() < 1e-12 * given.abs(), "{given} {taken}");
        if bounds.is_none() {
            assert!(part.iter().all(|part| (part - 1.0).abs() < 1e-12));
        }
    }
    let domain = plane();
    let weights = made(&domain, metres(45_000.0, None), Method::Conservative);
    let [source, _] = weights.areas.as_ref().expect("areas");
    assert!(source.iter().all(|area| *area == domain.grid.dx * domain.grid.dy));
}

/// Onto the grid itself both methods are the identity.
#[test]
fn the_same_grid_gets_the_same_values() {
    let domain = plane();
    for method in [Method::Bilinear, Method::Conservative] {
        let weights = made(&domain, metres(domain.grid.dx, None), method);
        let shape = domain.grid.shape;
        let arrangement = Arrangement::Rows { nx: shape.nx, ny: shape.ny };
        assert_eq!(weights.target.arrangement, arrangement);
        let x: Vec<f64> = (0..shape.columns()).map(|c| (c * c % 97) as f64).collect();
        for (y, x) in product(&weights, &x).iter().zip(&x) {
            assert!((y - x).abs() < 1e-11, "{method:?}: {y} {x}");
        }
    }
}

#[test]
fn files_hold_what_was_written() {
    let place = Place::empty();
    for (n, (domain, regular, method)) in [
        (plane(), metres(45_000.0, None), Method::Conservative),
        (plane(), metres(45_000.0, None), Method::Bilinear),
        (small(), degrees(0.07), Method::Bilinear),
        (small(), metres(5_000.0, None), Method::Conservative),
    ]
    .into_iter()
    .enumerate()
    {
        let weights = made(&domain, regular, method);
        let shape = domain.grid.shape;
        let path = place.path(&format!("{n}.nc"));
        weights.write(&path, false, [shape.nx, shape.ny], &[]).unwrap_or_else(|e| panic!("{e}"));
        let file = WeightFile::read(&path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(file.weights.matrix, weights.matrix);
        assert_eq!(file.weights.target, weights.target);
        assert_eq!(file.weights.fraction, weights.fraction);
        assert_eq!(file.weights.areas, weights.areas);
        assert_eq!(file.weights.normalisation, weights.normalisation);
        assert_eq!(file.source_dimensions, [shape.nx, shape.ny]);
        assert!(file.defect < 1e-12, "{}", file.defect);
        assert_eq!(file.conservation.is_some(), method == Method::Conservative);
        assert!(file.conservation.is_none_or(|x| x < 1e-12), "{:?}", file.conservation);
        file.check_source(&domain).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn what_cannot_be_made_is_refused() {
    let refused = |domain: &Domain, regular: Regular, method, words: &[&str]| {
        let error = weights(domain, regular, method).expect_err("refused");
        assert_eq!(error.exit_code(), 2);
        let error = error.to_string();
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error:?}");
        }
    };
    let far = Some([9e6, 9e6, 9.1e6, 9.1e6]);
    refused(&plane(), degrees(1.0), Method::Bilinear, &["no latitudes", "a target in metres"]);
    refused(&plane(), metres(1e4, far), Method::Bilinear, &["covers no cell", "other bounds"]);
    refused(&plane(), metres(1.0, None), Method::Bilinear, &["a spacing of 1", "cells"]);
    refused(&small(), degrees(0.1), Method::Conservative, &["a target in metres", "bilinear"]);
    for (text, word) in
        [("1,2,3", "not bounds"), ("1,2,3,x", "not bounds"), ("4,2,3,5", "not bounds"), ("", "no")]
    {
        let error = text.parse::<Bounds>().expect_err(text);
        assert!(error.contains(word), "{error}");
    }
    assert_eq!("-5, 44,12,48.5".parse(), Ok(Bounds([-5.0, 44.0, 12.0, 48.5])));
}
