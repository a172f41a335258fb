//! `run --points`: series at places are the output interpolated to them.

use std::fs;

use super::fields::centred;
use super::place::Place;
use super::result::Output;
use super::small::Small;

const CELLS: [usize; 3] = [8, 10, 12];

const RUN: [&str; 8] =
    ["-q", "--steps", "3", "--dt", "10", "--output-interval", "10", "--backend=cpu"];

/// Longitudes and latitudes of the small file: 9 + 0.2 i and 45 + 0.2 j.
fn index(longitude: f64, latitude: f64) -> [f64; 2] {
    [(longitude - 9.0) / 0.2, (latitude - 45.0) / 0.2]
}

/// A level of a field between its centres.
fn between(level: &[f64], [x, y]: [f64; 2]) -> f64 {
    let nx = CELLS[2];
    let (i, j) = ((x as usize).min(nx - 2), (y as usize).min(CELLS[1] - 2));
    let (s, t) = (x - i as f64, y - j as f64);
    let at = |j: usize, i: usize| level[j * nx + i];
    (1.0 - t) * ((1.0 - s) * at(j, i) + s * at(j, i + 1))
        + t * ((1.0 - s) * at(j + 1, i) + s * at(j + 1, i + 1))
}

/// Places: longitude and latitude. The third is a centre, the last one the corner of all of them.
const PLACES: [(&str, f64, f64); 4] =
    [("Upper town, north", 9.37, 45.51), ("b", 10.15, 46.05), ("c", 9.4, 45.6), ("d", 11.2, 46.8)];

fn write(place: &Place) {
    let lines =
        PLACES.map(|(name, longitude, latitude)| format!("{longitude},\"{name}\",{latitude}\n"));
    fs::write(place.path("p.csv"), format!("lon,name,lat\n{}", lines.concat())).expect("a file");
}

fn names(points: &Output) -> Vec<String> {
    let variable = points.variable("station_name");
    let bytes = variable.get_raw_values(..).expect("names");
    let name = |row: &[u8]| String::from_utf8(row.to_vec()).expect("ASCII");
    let length = variable.dimensions()[1].len();
    bytes.chunks(length).map(|row| name(row).trim_end_matches('\0').to_owned()).collect()
}

fn check(output: &Output, points: &Output, name: &str, steps: usize, unit: f64) {
    let plane = CELLS[1] * CELLS[2];
    let field = centred(output, name);
    let levels = field.len() / plane / output.frames();
    let scale = field.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
    let values = points.values(name);
    let shown = if levels == 1 { 1 } else { CELLS[0] };
    assert_eq!(values.len(), PLACES.len() * steps * shown, "{name}");
    let values: Vec<f64> = values.iter().copied().collect();
    for (number, (_, longitude, latitude)) in PLACES.into_iter().enumerate() {
        for time in 0..steps {
            for k in 0..shown {
                let at = |k: usize| {
                    let start = (time * levels + k) * plane;
                    between(&field[start..start + plane], index(longitude, latitude))
                };
                // Values on faces are averaged to the middle of the layer.
                let expected = if levels > CELLS[0] { 0.5 * (at(k) + at(k + 1)) } else { at(k) };
                let found = values[(number * steps + time) * shown + k];
                // The places of centres are known in single precision: some 1e-5 of a cell.
                let off = (found - expected).abs();
                assert!(off <= (16.0 * unit + 1e-4) * scale, "{name}: {found}, not {expected}");
                let is_centre = number == 2 && levels <= CELLS[0];
                assert!(!is_centre || off <= 2e-5 * scale, "{name}: {found}, not {expected}");
            }
        }
    }
}

#[test]
fn series_are_the_fields_between_the_centres() {
    let place = Place::with(&Small::new());
    write(&place);
    for (precision, unit) in [("f32", f64::from(f32::EPSILON)), ("f64", f64::EPSILON)] {
        let more = ["--points", "p.csv", "--precision", precision, "--force"];
        place.run_small(&[&RUN[..], &more].concat()).good();
        let output = place.open("small.out.nc");
        let ground = place.open("small.out.points.nc");
        let profiles = place.open("small.out.points.profiles.nc");
        for name in ["RAINNC", "SNOWNC", "SR"] {
            check(&output, &ground, name, 4, unit);
        }
        for name in [
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
            "pressure",
            "height",
        ] {
            check(&output, &profiles, name, 4, unit);
        }
        let echo = profiles.values("REFL_10CM");
        let most = echo
            .map_axis(ndarray::Axis(2), |column| column.iter().copied().fold(f64::MIN, f64::max));
        assert_eq!(ground.values("REFL_10CM_MAX"), most);
    }
}

#[test]
fn series_are_described_as_the_conventions_have_it() {
    let place = Place::with(&Small::new());
    write(&place);
    place.run_small(&[&RUN[..], &["--points", "p.csv"]].concat()).good();
    for (name, feature, variable, dimensions) in [
        ("small.out.points.nc", "timeSeries", "RAINNC", &["station", "time"][..]),
        ("small.out.points.profiles.nc", "timeSeriesProfile", "QVAPOR", &["station", "time", "z"]),
    ] {
        let points = place.open(name);
        assert_eq!(points.text("featureType"), feature);
        assert_eq!(points.text_of("station_name", "cf_role"), "timeseries_id");
        assert_eq!(names(&points), PLACES.map(|(name, ..)| name));
        let found: Vec<String> =
            points.variable(variable).dimensions().iter().map(netcdf::Dimension::name).collect();
        assert_eq!(found, dimensions);
        let coordinates = points.text_of(variable, "coordinates");
        for name in ["lat", "lon", "alt", "station_name"] {
            assert!(coordinates.split(' ').any(|found| found == name), "{coordinates}");
        }
        let [longitudes, latitudes] = ["lon", "lat"].map(|name| points.values(name));
        for (n, (_, longitude, latitude)) in PLACES.into_iter().enumerate() {
            assert_eq!([longitudes[[n]], latitudes[[n]]], [longitude, latitude]);
        }
    }
}

/// At a shorter interval than frames; values at the times of frames are equal.
#[test]
fn series_have_an_interval_of_their_own() {
    let place = Place::with(&Small::new());
    write(&place);
    let arguments = ["-q", "--steps", "6", "--dt", "10", "--points", "p.csv", "--force"];
    let series = |more: &[&str]| {
        place.run_small(&[&arguments[..], more].concat()).good();
        let points = place.open("small.out.points.profiles.nc");
        (points.values("time"), points.values("QRAIN"))
    };
    let (times, every) = series(&["--points-interval", "10"]);
    let start = times[[0]];
    let since: Vec<f64> = times.iter().map(|time| time - start).collect();
    assert_eq!(since, [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
    let (times, ends) = series(&[]);
    assert_eq!(times.iter().map(|time| time - start).collect::<Vec<_>>(), [0.0, 60.0]);
    let (times, third) = series(&["--output-interval", "30"]);
    assert_eq!(times.len(), 3);
    for (few, at) in [(&ends, &[0, 6][..]), (&third, &[0, 3, 6])] {
        for (n, at) in at.iter().enumerate() {
            let axis = ndarray::Axis(1);
            assert_eq!(few.index_axis(axis, n), every.index_axis(axis, *at));
        }
    }
}

/// On a plane places have x and y, which count from its corner.
#[test]
fn places_on_a_plane() {
    let place = Place::empty();
    fs::write(place.path("p.csv"), "name,x,y\na,15000,15000\nb,75000,45000\n").expect("a file");
    place.run_storm(&["-q", "--steps", "1", "--points", "p.csv"]).good();
    let (output, points) = (place.open("soc.out.nc"), place.open("soc.out.points.profiles.nc"));
    let (field, found) = (output.values("QVAPOR"), points.values("QVAPOR"));
    for time in 0..2 {
        for k in 0..27 {
            assert_eq!(found[[0, time, k]], field[[time, k, 0, 0]]);
            assert_eq!(found[[1, time, k]], field[[time, k, 1, 2]]);
        }
    }
    assert_eq!(points.values("x").iter().copied().collect::<Vec<_>>(), [15_000.0, 75_000.0]);
    assert!(points.file.variable("lat").is_none());
}
