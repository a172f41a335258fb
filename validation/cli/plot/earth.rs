//! Pictures with discontinuous longitude, and with a grid that is not aligned with north.

use roxmltree::{Document, ParsingOptions};

use super::files::{plot, small, texts};
use super::place::Place;
use super::small::Small;

/// A plane over a pole, the meridian of 0 downward in the north, with a wind of 20 m/s along x.
fn polar(side: f64) -> Place {
    small(|small| {
        for (name, value) in [("MAP_PROJ", 2.0), ("TRUELAT1", 60.0 * side), ("STAND_LON", 0.0)] {
            small.set(name, value as f32);
        }
        let place = |at: &ndarray::IxDyn| [at[1] as f64 - 5.3, at[0] as f64 - 4.6];
        for (at, value) in small.values("XLAT").indexed_iter_mut() {
            let [x, y] = place(&at);
            *value = (side * (90.0 - 0.2 * x.hypot(y))) as f32;
        }
        for (at, value) in small.values("XLONG").indexed_iter_mut() {
            let [x, y] = place(&at);
            *value = x.atan2(-side * y).to_degrees() as f32;
        }
        fallen(small);
        small.values("U").fill(20.0);
        small.values("V").fill(0.0);
    })
}

/// Adds rain, so that there is a map.
fn fallen(small: &mut Small) {
    let mut rain = small.fields["HGT"].clone();
    rain.units = None;
    small.fields.insert("RAINNC", rain);
}

/// The direction of the staff of the lowest barb, eastward and northward, as a unit vector, and that of
/// its outermost barb.
fn barb(place: &Place, point: &str) -> [[f64; 2]; 2] {
    let only = ["small.nc", "--only", "sounding", "--format", "svg", "--force", "--output", "o"];
    plot(place, &[&only[..], &["--point", point]].concat()).good();
    let svg = std::fs::read_to_string(place.path("o/sounding.svg")).expect("a picture");
    let document = Document::parse_with_options(&svg, ParsingOptions::default()).expect("XML");
    // Barbs are the last lines of ink right of the frame: a staff, then its barbs.
    let lines: Vec<Vec<[f64; 2]>> = document
        .descendants()
        .filter_map(|node| node.attribute("d").or(node.attribute("points")))
        .map(numbers)
        .filter(|line| line.len() == 2 && line.iter().all(|[x, _]| *x > 640.0))
        .collect();
    let length = |line: &[[f64; 2]]| {
        let [a, b] = [line[0], line[1]];
        (b[0] - a[0]).hypot(b[1] - a[1])
    };
    let way = |line: &[[f64; 2]]| {
        let long = length(line);
        [(line[1][0] - line[0][0]) / long, -(line[1][1] - line[0][1]) / long]
    };
    let staff = lines.iter().position(|line| (length(line) - 26.0).abs() < 0.5).expect("a staff");
    [way(&lines[staff]), way(&lines[staff + 1])]
}

/// The numbers of a path in pairs.
fn numbers(path: &str) -> Vec<[f64; 2]> {
    let numbers: Vec<f64> = path
        .split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
        .filter_map(|word| word.parse().ok())
        .collect();
    numbers.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
}

fn near(found: [f64; 2], expected: [f64; 2]) {
    let off = (found[0] - expected[0]).hypot(found[1] - expected[1]);
    // The ends of lines of 10 units have one decimal.
    assert!(off < 0.03, "{found:?}, not {expected:?}");
}

/// On the meridian of 90 E the x axis points away from the pole: the wind along it is from the north in the north and
/// from the south in the south. Barbs are on the side of low pressure: seen from the foot of the staff, on its right in
/// the north and on its left in the south.
#[test]
fn barbs_are_turned_to_the_meridians_and_mirrored_in_the_south() {
    for side in [1.0, -1.0] {
        let [staff, barb] = barb(&polar(side), "10.3,4.6");
        near(staff, [0.0, side]);
        // East of the staff in both, and leaning to its end by four tenths.
        let length = 1.0_f64.hypot(0.4);
        near(barb, [1.0 / length, side * 0.4 / length]);
    }
}

/// A stored rotation angle takes precedence.
#[test]
fn stored_angles_count() {
    let place = small(|small| {
        small.values("U").fill(20.0);
        small.values("V").fill(0.0);
        for (name, value) in [("SINALPHA", 1.0), ("COSALPHA", 0.0)] {
            let mut field = small.fields["HGT"].clone();
            field.values.fill(value);
            small.fields.insert(name, field);
        }
    });
    // The x axis points north: a wind from the south.
    near(barb(&place, "5,5")[0], [0.0, -1.0]);
}

#[test]
fn there_are_meridians_around_a_pole() {
    for side in [1.0, -1.0] {
        let place = polar(side);
        let only = ["small.nc", "--only", "precipitation", "--format", "svg", "--output", "o"];
        plot(&place, &only).good();
        let texts = texts(&place.path("o/precipitation.svg"));
        let names = ["30°E", "60°E", "90°E", "120°E", "150°E", "180°"].into_iter();
        for name in names.chain(["0°", "30°W", "60°W", "90°W", "120°W", "150°W"]) {
            assert!(texts.iter().any(|text| text == name), "{side} {name}: {texts:?}");
        }
    }
}

#[test]
fn there_are_meridians_around_the_date_line() {
    let place = small(|small| {
        for (at, value) in small.values("XLONG").indexed_iter_mut() {
            let longitude = 178.9 + 0.2 * at[1] as f32;
            *value = if longitude < 180.0 { longitude } else { longitude - 360.0 };
        }
        small.set("STAND_LON", 180.0);
        fallen(small);
    });
    let only = ["small.nc", "--only", "precipitation,sounding", "--format", "svg", "--output", "o"];
    plot(&place, &[&only[..], &["--point", "5.5,4"]].concat()).good();
    let map = texts(&place.path("o/precipitation.svg"));
    for name in ["179°E", "180°", "179°W"] {
        assert!(map.iter().any(|text| text == name), "{name}: {map:?}");
    }
    // Between the cells at 179.9 E and 179.9 W.
    let sounding = texts(&place.path("o/sounding.svg"));
    let is_there = |text: &String| text.contains("180.00°E");
    assert!(sounding.iter().any(is_there), "{sounding:?}");
}

/// Dry air condenses nowhere.
#[test]
fn dry_air_has_no_level_of_condensation() {
    let place = small(|small| small.values("QVAPOR").fill(0.0));
    plot(&place, &["small.nc", "--only", "sounding", "--format", "svg", "--output", "o"]).good();
    let texts = texts(&place.path("o/sounding.svg"));
    assert!(texts.iter().any(|text| text.contains("no LCL")), "{texts:?}");
    assert!(!texts.iter().any(|text| text == "LCL" || text.contains("hPa;")), "{texts:?}");
}

/// A map states the region of its mean.
#[test]
fn a_mean_says_of_what_it_is() {
    let place = small(fallen);
    plot(&place, &["small.nc", "--only", "precipitation", "--format", "svg", "--output", "o"])
        .good();
    let texts = texts(&place.path("o/precipitation.svg"));
    assert!(texts.iter().any(|text| text.contains("mm over all cells")), "{texts:?}");
}
