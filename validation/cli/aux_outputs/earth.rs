//! Grids around a pole and across the date line, on their way to meridians and parallels.

use super::place::Place;
use super::small::Small;

/// Radius of WRF's Earth, m.
const RADIUS: f64 = 6_370_000.0;

/// A small file on a polar plane, true at 60 degrees, the meridian of 0 downward in the north, with
/// the pole at `pole` (i, j) among cells of `cell` m, and a wind of 20 m/s along x.
pub(super) fn polar(side: f64, cell: f64, pole: [f64; 2]) -> Small {
    let mut small = Small::clear();
    for (name, value) in [
        ("MAP_PROJ", 2.0),
        ("TRUELAT1", 60.0 * side),
        ("STAND_LON", 0.0),
        ("DX", cell),
        ("DY", cell),
    ] {
        small.set(name, value as f32);
    }
    let scale = RADIUS * (1.0 + 60.0_f64.to_radians().sin());
    let [latitude, longitude] = ["XLAT", "XLONG"];
    for (name, is_latitude) in [(latitude, true), (longitude, false)] {
        for (at, value) in small.values(name).indexed_iter_mut() {
            let [x, y] = [(at[1] as f64 - pole[0]) * cell, (at[0] as f64 - pole[1]) * cell];
            let from_pole = 2.0 * (x.hypot(y) / scale).atan().to_degrees();
            let found = if is_latitude {
                side * (90.0 - from_pole)
            } else {
                x.atan2(-side * y).to_degrees()
            };
            *value = found as f32;
        }
    }
    for name in ["MAPFAC_MX", "MAPFAC_MY", "MAPFAC_UX", "MAPFAC_UY", "MAPFAC_VX", "MAPFAC_VY"] {
        small.values(name).fill(1.0);
    }
    flat(&mut small);
    small.values("U").fill(20.0);
    small.values("V").fill(0.0);
    small
}

/// Takes the hill away, so that the wind need not be changed to go around it.
fn flat(small: &mut Small) {
    for name in ["MU", "HGT", "PH", "P", "T", "QVAPOR"] {
        let values = small.values(name);
        if values.ndim() == 2 {
            let first = values.iter().next().copied().unwrap_or_default();
            values.fill(first);
        } else {
            for mut level in values.outer_iter_mut() {
                let first = level.iter().next().copied().unwrap_or_default();
                level.fill(first);
            }
        }
    }
}

fn weights(place: &Place, spacing: &str) -> String {
    let arguments =
        ["weights", "--input", "small.nc", "--target", "latlon", "--spacing", spacing, "--force"];
    let mut program = place.program(&[&arguments[..], &["--output", "w.nc"]].concat());
    let output = program.output().expect("the program starts");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{message}");
    message
}

/// Different longitudes of the target's columns, and its rows.
fn columns(place: &Place) -> (Vec<f64>, Vec<f64>) {
    let file = place.open("w.nc");
    let sorted = |name: &str| {
        let mut values: Vec<f64> = file.values(name).iter().copied().collect();
        values.sort_by(f64::total_cmp);
        values.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
        values
    };
    (sorted("dst_grid_center_lon"), sorted("dst_grid_center_lat"))
}

/// Every longitude once, from -180 to 180, around either pole.
#[test]
fn around_a_pole_every_column_is_there_once() {
    for side in [1.0, -1.0] {
        let place = Place::with(&polar(side, 150_000.0, [5.3, 4.6]));
        for (spacing, count) in [("1", 360), ("5", 72), ("10", 36), ("0.5", 720), ("7", 51)] {
            let message = weights(&place, spacing);
            assert_eq!(message.contains("does not divide 360"), spacing == "7", "{message}");
            let (longitudes, latitudes) = columns(&place);
            assert_eq!(longitudes.len(), count, "{side} {spacing}");
            let step: f64 = spacing.parse().expect("a number");
            let (first, last) = (longitudes[0], longitudes[count - 1]);
            assert!((first - (-180.0 + 0.5 * step)).abs() < 1e-9, "{first}");
            assert!(last < 180.0 && last - first < 360.0, "{last}");
            // Up to the pole, and not beyond.
            let outermost = if side > 0.0 { latitudes[latitudes.len() - 1] } else { -latitudes[0] };
            assert!(outermost <= 90.0 && outermost > 90.0 - step, "{outermost}");
            let corners = place.open("w.nc").values("dst_grid_corner_lat");
            assert!(corners.iter().all(|latitude| latitude.abs() <= 90.0));
        }
    }
}

/// A grid across the date line has longitudes from 0 to 360, one across Greenwich from -180 to 180.
#[test]
fn across_the_date_line_longitudes_are_of_one_kind() {
    for (middle, first, last) in
        [(180.0, 177.0, 183.0), (178.0, 175.0, 181.0), (0.0, -3.0, 3.0), (-178.0, 179.0, 185.0)]
    {
        let mut small = Small::new();
        for (at, value) in small.values("XLONG").indexed_iter_mut() {
            let longitude: f64 = middle - 2.75 + 0.5 * at[1] as f64;
            *value = ((longitude + 180.0).rem_euclid(360.0) - 180.0) as f32;
        }
        let place = Place::with(&small);
        for (spacing, step) in [("1", 1.0), ("0.5", 0.5)] {
            weights(&place, spacing);
            let (longitudes, _) = columns(&place);
            let edges = [longitudes[0] - 0.5 * step, longitudes[longitudes.len() - 1] + 0.5 * step];
            assert_eq!(longitudes.len() as f64, (last - first) / step, "{middle}: {longitudes:?}");
            assert!((edges[0] - first).abs() < 1e-9 && (edges[1] - last).abs() < 1e-9, "{edges:?}");
        }
    }
}

/// A wind along x on a polar plane: at the longitude λ it blows along the vector that the plane has
/// there, eastward by cos λ and away from the pole by sin λ.
#[test]
fn winds_are_turned_to_meridians_and_parallels() {
    for side in [1.0, -1.0] {
        let place = Place::with(&polar(side, 100_000.0, [5.3, 4.6]));
        weights(&place, "2");
        place.run_small(&["--steps", "1", "--dt", "10", "--regrid", "w.nc"]).good();
        let (output, regrid) = (place.open("small.out.nc"), place.open("small.out.regrid.nc"));
        // The winds of the run, after the projection, which hardly changes them here.
        let wind = output.values("U");
        let most = wind.iter().fold(0.0, |a: f64, u| a.max((u - 20.0).abs()));
        let across = output.values("V").iter().fold(0.0, |a: f64, v| a.max(v.abs()));
        assert!(most < 0.05 && across < 0.05, "{most} {across}");
        let longitudes = regrid.values("lon");
        let missing = 1e30;
        let mut reached = 0;
        for (name, axis) in [("U", 0), ("V", 1)] {
            for (at, found) in regrid.values(name).indexed_iter() {
                if *found < missing {
                    let (sine, cosine) = longitudes[at[3]].to_radians().sin_cos();
                    let expected = [20.0 * cosine, -side * 20.0 * sine][axis];
                    assert!((found - expected).abs() < 0.1, "{side} {name} {at:?}: {found}");
                    reached += 1;
                }
            }
        }
        assert!(reached > 1000, "{reached}");
        assert_eq!(regrid.text_of("U", "standard_name"), "eastward_wind");
        assert_eq!(regrid.text_of("V", "standard_name"), "northward_wind");
    }
}

/// The name of a component in a file, and all its values that are not missing.
fn component(file: &super::result::Output, name: &str) -> (String, Vec<f64>) {
    let values = file.values(name).iter().copied().filter(|x| *x < 1e30).collect();
    (file.text_of(name, "standard_name"), values)
}

#[track_caller]
fn is_near(values: &[f64], expected: f64) {
    assert!(values.len() > 200, "{}", values.len());
    for x in values {
        assert!((x - expected).abs() < 0.1, "{x} instead of {expected}");
    }
}

/// A grid with axes of its own has the wind along these: those of the run where it is made for the run's map, and
/// others where it was made for another map.
#[test]
fn winds_are_turned_to_the_axes_of_the_target() {
    for side in [1.0, -1.0] {
        let place = Place::with(&polar(side, 100_000.0, [5.3, 4.6]));
        let made = ["weights", "--input", "small.nc", "--target", "xy", "--spacing", "60000"];
        let output = place.program(&[&made[..], &["--output", "w.nc"]].concat()).output();
        assert!(output.expect("the program starts").status.success());
        let winds = |name: &str| {
            let step = ["--steps", "1", "--dt", "10", "--force", "--regrid", name];
            place.run_small(&step).good();
            let regrid = place.open("small.out.regrid.nc");
            ["U", "V"].map(|name| component(&regrid, name))
        };
        let [u, v] = winds("w.nc");
        assert_eq!([&*u.0, &*v.0], ["x_wind", "y_wind"]);
        is_near(&u.1, 20.0);
        is_near(&v.1, 0.0);
        // The same cells on a globe that is turned by 30 degrees around the pole: so are the axes of the map.
        const TURN: f64 = 30.0;
        std::fs::copy(place.path("w.nc"), place.path("turned.nc")).expect("a copy");
        let mut file = netcdf::append(place.path("turned.nc")).expect("weights");
        for name in ["dst_grid_center_lon", "dst_grid_corner_lon"] {
            let mut variable = file.variable_mut(name).expect(name);
            let units: String =
                variable.attribute_value("units").unwrap().unwrap().try_into().unwrap();
            let turn = if units.starts_with("rad") { TURN.to_radians() } else { TURN };
            let values = variable.get::<f64, _>(..).expect(name);
            variable.put(values.mapv(|x| x + turn).view(), ..).expect(name);
        }
        file.close().expect("weights");
        // On the plane over the north pole eastward is counterclockwise, over the south pole clockwise.
        let (sine, cosine) = (side * TURN).to_radians().sin_cos();
        let [u, v] = winds("turned.nc");
        assert_eq!([&*u.0, &*v.0], ["x_wind", "y_wind"]);
        is_near(&u.1, 20.0 * cosine);
        is_near(&v.1, -20.0 * sine);
    }
}

/// Stations have eastward and northward winds, by latitude and longitude as by x and y; on a plane those of the run.
#[test]
fn winds_of_stations_are_eastward_and_northward() {
    let side = 1.0;
    let places = [(-120.0, 86.0), (10.0, 87.5), (95.0, 88.0), (170.0, 86.5)];
    let place = Place::with(&polar(side, 100_000.0, [5.3, 4.6]));
    let lines = places.map(|(longitude, latitude)| format!("{longitude},{longitude},{latitude}\n"));
    std::fs::write(place.path("p.csv"), format!("name,lon,lat\n{}", lines.concat())).unwrap();
    let run = |place: &Place| {
        place.run_small(&["--steps", "1", "--dt", "10", "--force", "--points", "p.csv"]).good();
        place.open("small.out.points.profiles.nc")
    };
    let check = |points: &super::result::Output| {
        assert_eq!(points.text_of("U", "standard_name"), "eastward_wind");
        assert_eq!(points.text_of("V", "standard_name"), "northward_wind");
        let longitudes = points.values("lon");
        for (name, axis) in [("U", 0), ("V", 1)] {
            for (at, found) in points.values(name).indexed_iter() {
                let (sine, cosine) = longitudes[[at[0]]].to_radians().sin_cos();
                let expected = [20.0 * cosine, -side * 20.0 * sine][axis];
                assert!((found - expected).abs() < 0.1, "{name} {at:?}: {found}, not {expected}");
            }
        }
    };
    let points = run(&place);
    check(&points);
    let [x, y] = ["x", "y"].map(|name| {
        place.open("small.out.nc").values(match name {
            "x" => "west_east",
            _ => "south_north",
        })
    });
    std::fs::write(
        place.path("p.csv"),
        format!("name,x,y\na,{},{}\nb,{},{}\n", x[[1]], y[[2]], x[[9]], y[[7]]),
    )
    .unwrap();
    check(&run(&place));
    // A plane has no east.
    let mut plane = polar(side, 100_000.0, [5.3, 4.6]);
    plane.remove("XLAT");
    plane.remove("XLONG");
    let place = Place::with(&plane);
    std::fs::write(place.path("p.csv"), "name,x,y\na,300000,400000\n").unwrap();
    let points = run(&place);
    let u = points.values("U");
    assert!(u.iter().all(|u| (u - 20.0).abs() < 0.1), "{u}");
    assert!(points.text_of("U", "long_name").contains("x axis of the grid of the run"));
}

/// Cells along meridians and parallels have one longitude for each column and one latitude for each
/// row, under the names of the dimensions, as readers of maps want it, and as lon and lat.
#[test]
fn a_grid_of_longitudes_and_latitudes_has_coordinates_of_one_dimension() {
    let mut small = Small::new();
    for (name, value) in
        [("MAP_PROJ", 6.0), ("POLE_LAT", 90.0), ("POLE_LON", 0.0), ("STAND_LON", 178.0)]
    {
        small.set(name, value);
    }
    for (at, value) in small.values("XLONG").indexed_iter_mut() {
        let longitude = 178.0 + 0.25 * at[1] as f32;
        *value = if longitude < 180.0 { longitude } else { longitude - 360.0 };
    }
    let place = Place::with(&small);
    place.run_small(&["--steps", "1"]).good();
    let output = place.open("small.out.nc");
    for (names, first, step, units, standard) in [
        (["west_east", "lon"], 178.0, 0.25, "degrees_east", "longitude"),
        (["south_north", "lat"], 45.0, 0.2, "degrees_north", "latitude"),
    ] {
        // CF requires one variable with this standard name: a coordinate, or a variable that is read as one.
        assert_eq!(output.text_of(names[0], "standard_name"), standard);
        let of_name = output.names().into_iter().filter(|name| {
            output.variable(name).attribute_value("standard_name").is_some_and(|value| {
                value.unwrap() == netcdf::AttributeValue::Str(standard.to_owned())
            })
        });
        assert_eq!(of_name.count(), 1, "{standard}");
        for name in names {
            for (n, value) in output.values(name).iter().enumerate() {
                // The file has them in single precision.
                assert!((value - first - step * n as f64).abs() < 1e-4, "{name} {n}: {value}");
            }
            assert_eq!(output.text_of(name, "units"), units);
            assert_eq!(output.variable(name).dimensions().len(), 1);
            assert_eq!(output.variable(name).dimensions()[0].name(), names[0]);
        }
    }
    // With curved rows there are none.
    small.values("XLAT")[[5, 5]] += 0.1;
    small.write(&place.path("small.nc"));
    place.run_small(&["--steps", "1", "--force"]).good();
    assert!(!place.open("small.out.nc").names().contains(&"lon".to_owned()));
}
