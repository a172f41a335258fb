//! Coordinates of the cells, and kinds of levels.

use super::{place_of, refused, run_as_promised};
use crate::eras::cut::Cut;
use crate::eras::place::Place;

/// 30 km in degrees of a meridian of a sphere of 6370 km.
const STEP: f32 = 0.269_84;

/// The piece around 45 N 9 E, with the spacing of its columns a factor different from DX.
fn on_earth(factor: f32) -> Cut {
    let mut cut = Cut::new();
    let latitude = move |j: usize| 45.0 + factor * STEP * (j as f32 - 5.5);
    cut.add_plane("XLAT", move |j, _| latitude(j));
    cut.add_plane("XLONG", move |j, i| {
        9.0 + factor * STEP / latitude(j).to_radians().cos() * (i as f32 - 6.5)
    });
    cut.numbers.insert("MAP_PROJ", 1.0);
    cut
}

#[track_caller]
fn messages(cut: &Cut) -> String {
    run_as_promised(&place_of(cut)).good().stderr
}

#[test]
fn coordinates_are_held_against_the_distances() {
    assert!(!messages(&on_earth(1.0)).contains("XLAT"));
    let words = messages(&on_earth(2.0));
    for word in ["XLAT and XLONG", "DX", "60.0", "30.0"] {
        assert!(words.contains(word), "{word}: {words}");
    }
    // Map factors count: here cells are half as large as DX.
    let mut cut = on_earth(0.5);
    for name in ["MX", "MY", "UX", "UY", "VX", "VY"] {
        cut.values(&format!("MAPFAC_{name}")).fill(2.0);
    }
    assert!(!messages(&cut).contains("XLAT"));
    refused(&on_earth(5.0), &["in.nc", "XLAT and XLONG", "DX"]);
}

#[test]
fn metres_are_no_degrees() {
    let mut cut = on_earth(1.0);
    cut.add_plane("XLAT", |j, _| 30_000.0 * j as f32);
    refused(&cut, &["in.nc", "XLAT is 30000", "between -90 and 90"]);
    cut.add_plane("XLONG", |_, i| 30_000.0 * i as f32);
    cut.numbers.insert("MAP_PROJ", 0.0);
    assert!(messages(&cut).contains("MAP_PROJ is 0"));
    let place = place_of(&cut);
    let degrees =
        ["weights", "--input", "in.nc", "--target", "latlon", "--spacing", "1", "--output", "w.nc"];
    let ended = place.command(&degrees);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("no latitudes"), "{}", ended.stderr);
    // So near to the origin all are degrees by their numbers, and not by their distances.
    cut.add_plane("XLAT", |j, _| 5.0 * j as f32);
    cut.add_plane("XLONG", |_, i| 5.0 * i as f32);
    cut.numbers.extend([("DX", 5.0), ("DY", 5.0), ("DT", 0.01)]);
    run_as_promised(&place_of(&cut)).good();
}

#[test]
fn places_are_those_of_the_time_that_is_drawn() {
    let first = on_earth(1.0);
    let mut second = on_earth(1.0).at("0001-01-01_11:00:00");
    // A nest that has moved by six columns.
    second.add_plane("XLONG", |j, i| {
        let latitude = 45.0 + STEP * (j as f32 - 5.5);
        9.0 + STEP / latitude.to_radians().cos() * (i as f32 - 0.5)
    });
    let place = Place::new();
    Cut::write_all(&[&first, &second], &place.path("in.nc"));
    run_as_promised(&place).refused(&[
        "another grid at 0001-01-01_11:00:00",
        "XLONG",
        "moving nests",
    ]);
    let sounding = |time: &str, at: &str| {
        let fixed = ["plot", "in.nc", "--only", "sounding", "--format", "svg", "--force"];
        let ended = place.command(&[&fixed[..], &["--time", time, "--point", at]].concat());
        let picture = std::fs::read_to_string(place.path("in.plots/sounding.svg"));
        (ended, picture.unwrap_or_default())
    };
    // In the middle of the first grid; in the second it is six columns further west.
    let (ended, picture) = sounding("0", "latlon:45,9");
    ended.good();
    assert!(picture.contains("i=6.5") && picture.contains("9.00°E"), "{picture}");
    let (ended, picture) = sounding("1", "latlon:45,9");
    ended.good();
    assert!(picture.contains("i=0.5") && picture.contains("9.00°E"), "{picture}");
    // Beyond the first grid.
    let far = format!("latlon:45,{}", 9.0 + 10.0 * STEP / 45.0_f32.to_radians().cos());
    assert_eq!(sounding("0", &far).0.code, Some(2));
    sounding("1", &far).0.good();
}

#[test]
fn a_grid_alone_is_enough_for_weights() {
    let mut cut = on_earth(1.0);
    let place = Place::new();
    let weights = |file: &str, output: &str| {
        let fixed = ["weights", "--target", "latlon", "--spacing", "0.5"];
        place.command(&[&fixed[..], &["--input", file, "--output", output]].concat()).good();
        netcdf::open(place.path(output))
            .expect("weights")
            .variable("remap_matrix")
            .expect("weights")
            .get_values::<f64, _>(..)
            .expect("numbers")
    };
    cut.write(&place.path("whole.nc"));
    let wanted = weights("whole.nc", "a.nc");
    cut.fields.retain(|name, _| name.starts_with("XL"));
    cut.write(&place.path("grid.nc"));
    assert!(weights("grid.nc", "b.nc") == wanted);
    // As in the files of the geography.
    cut.rename("XLAT", "XLAT_M");
    cut.rename("XLONG", "XLONG_M");
    cut.write(&place.path("geo.nc"));
    assert!(weights("geo.nc", "c.nc") == wanted);
}

#[test]
fn the_hybrid_coordinate_is_reported_by_its_option() {
    let mut cut = Cut::new();
    cut.remove(&["C1H", "C2H"]);
    cut.numbers.insert("HYBRID_OPT", 2.0);
    let place = place_of(&cut);
    run_as_promised(&place).refused(&["HYBRID_OPT is 2", "C1H"]);
    let messages = place.command(&["info", "in.nc"]).good().stdout;
    assert!(
        messages.contains("hybrid eta, C1H missing") && !messages.contains("classic"),
        "{messages}"
    );
}

#[test]
fn a_periodic_axis_may_have_few_cells() {
    for rows in 1..=3 {
        let mut cut = Cut::new();
        for field in cut.fields.values_mut() {
            if let Some(at) = field.axes.iter().position(|axis| axis.starts_with("south_north")) {
                let faces = usize::from(field.axes[at].ends_with("_stag"));
                let axis = ndarray::Axis(at);
                field.values.slice_axis_inplace(axis, ndarray::Slice::from(..rows + faces));
                // All rows are alike, and so are the faces between them.
                let first = field.values.index_axis(axis, 0).to_owned();
                field.values.axis_iter_mut(axis).for_each(|mut row| row.assign(&first));
            }
        }
        let place = place_of(&cut);
        place.run(&["in.nc"], &["--steps", "3"]).refused(&["periodic", "along y"]);
        place.run(&["in.nc"], &["--steps", "3", "--boundary", "open,periodic"]).good();
        let outcome = place.outcome();
        assert!(outcome.unexplained() < 1e-6, "{}", outcome.unexplained());
        let t = outcome.last("T");
        for row in t.axis_iter(ndarray::Axis(1)) {
            assert!(row == t.index_axis(ndarray::Axis(1), 0), "rows of {rows} are alike");
        }
    }
}
