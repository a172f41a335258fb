//! Contents of pictures.

use nwp_mini::plot::colour::{Colour, Scale};

use super::files::{colour, pixels, plot, small, storm, texts};

/// Upper left corner of a map, and the length of the longer side that the storm's map has.
const CORNER: [f64; 2] = [82.0, 86.0];

/// Position of the middle of a cell of the storm on its map.
fn on_map([i, j]: [usize; 2]) -> [f64; 2] {
    // 71 x 58 cells on at most 700 x 560.
    let cell = (700.0_f64 / 71.0).min(560.0 / 58.0);
    [CORNER[0] + (i as f64 + 0.5) * cell, CORNER[1] + (58.0 - j as f64 - 0.5) * cell]
}

#[test]
fn the_storm_has_all_pictures() {
    let place = storm();
    let ended = plot(&place, &["storm.nc"]).good();
    let names = ["precipitation", "reflectivity", "section", "profiles", "sounding", "series"];
    let lines: Vec<String> = names.iter().map(|name| format!("storm.plots/{name}.png")).collect();
    assert_eq!(ended.stdout.lines().collect::<Vec<_>>(), lines);
    for line in &lines {
        let pixels = pixels(&place.path(line));
        assert!(pixels.width() > 1000 && pixels.height() > 800, "{line}");
        // Not an empty sheet.
        let dark = pixels.pixels().iter().filter(|pixel| pixel.red() < 100).count();
        assert!(dark > 2000, "{line}: {dark}");
    }
}

/// The pixel in the middle of every cell of the maps has the colour of its value.
#[test]
fn maps_have_the_colours_of_their_values() {
    let place = storm();
    plot(&place, &["storm.nc", "--only", "precipitation,reflectivity", "--output", "o"]).good();
    let file = place.open("storm.nc");
    let last = file.frames() - 1;
    let rain = file.values("RAINNC");
    let dbz = file.values("REFL_10CM");
    let most = (0..58).flat_map(|j| (0..71).map(move |i| [j, i]));
    let most = most.map(|[j, i]| rain[[last, j, i]]).fold(0.0, f64::max);
    let scales = [Scale::amounts("mm", most), Scale::radar()];
    let maps = ["o/precipitation.png", "o/reflectivity.png"].map(|name| pixels(&place.path(name)));
    let (mut seen, mut coloured) = (0, 0);
    for (n, (scale, map)) in scales.iter().zip(&maps).enumerate() {
        for j in 0..58 {
            for i in 0..71 {
                let column = |k: usize| dbz[[last, k, j, i]];
                let value = match n {
                    0 => rain[[last, j, i]],
                    _ => (0..27).map(column).fold(f64::NEG_INFINITY, f64::max),
                };
                let Colour(wanted) = scale.colour(value).unwrap_or(Colour([255; 3]));
                let found = colour(map, on_map([i, j]));
                coloured += usize::from(wanted != [255; 3]);
                seen += usize::from(found == wanted);
            }
        }
    }
    // The line of the section and its letters cover some cells.
    let all = 2 * 58 * 71;
    assert!(seen > all - 200 && coloured > 1000, "{seen} of {all}, {coloured} with a colour");
}

#[test]
fn pictures_have_titles_units_and_numbers() {
    let place = storm();
    plot(&place, &["storm.nc", "--format", "svg", "--output", "o"]).good();
    for (name, wanted) in [
        (
            "precipitation",
            &["Accumulated precipitation", "precipitation, mm", "x, km", "y, km", "2000"][..],
        ),
        ("reflectivity", &["reflectivity, dBZ", "5", "35", "75", "A", "B"]),
        (
            "section",
            &["height, km", "distance from A, km", "reflectivity, dBZ", "0 °C", "rain", "snow"],
        ),
        (
            "profiles",
            &["Vapour", "Hydrometeors", "height, km", "cloud ice", "mixing ratio, g kg⁻¹"],
        ),
        ("sounding", &["temperature, °C", "pressure, hPa", "850", "LCL", "dew point"]),
        ("series", &["Rain rate", "mm h⁻¹", "kg m⁻²", "fallen", "time, min"]),
    ] {
        let texts = texts(&place.path(&format!("o/{name}.svg")));
        for words in wanted {
            assert!(texts.iter().any(|text| text == words), "{name}: {words} in {texts:?}");
        }
        assert!(texts.iter().any(|text| text.starts_with("storm.nc")), "{name}: {texts:?}");
        assert!(texts.iter().any(|text| text.contains("0001-01-01 10:")), "{name}: {texts:?}");
    }
}

/// The first time of the storm: there is no precipitation, and the map reports that.
#[test]
fn times_are_chosen_by_number_and_by_date() {
    let place = storm();
    let run = |time: &str, folder: &str| {
        let arguments = ["storm.nc", "--format", "svg", "--only", "precipitation", "--time", time];
        plot(&place, &[&arguments[..], &["--output", folder]].concat()).good();
        texts(&place.path(folder).join("precipitation.svg"))
    };
    let [number, date] = [run("0", "a"), run("0001-01-01_10:00:00", "b")];
    assert_eq!(number, date);
    assert!(number.iter().any(|text| text == "nothing has fallen"), "{number:?}");
    assert!(number.iter().any(|text| text.ends_with("0001-01-01 10:00:00")), "{number:?}");
}

/// Sections and soundings at places that are given in cells, metres and degrees.
#[test]
fn places_are_given_in_three_ways() {
    let place = small(|_| {});
    let texts_of = |arguments: &[&str]| {
        let fixed = ["small.nc", "--format", "svg", "--output", "o", "--force"];
        plot(&place, &[&fixed[..], arguments].concat()).good();
        ["section", "sounding"].map(|name| texts(&place.path(&format!("o/{name}.svg"))))
    };
    let only = ["--only", "section,sounding"];
    let [section, sounding] =
        texts_of(&[&only[..], &["--section", "1,2,8,6", "--point", "3,4"]].concat());
    let has = |texts: &[String], words: &str| {
        assert!(texts.iter().any(|text| text.contains(words)), "{words} in {texts:?}");
    };
    has(&section, "from A at i=1 j=2 to B at i=8 j=6");
    // 140 km along x, 72 km along y.
    has(&section, "157 km");
    has(&sounding, "at i=3 j=4 (45.80°N 9.60°E)");
    let [section, sounding] = texts_of(
        &[&only[..], &["--section", "latlon:45.4,9.2,46.2,10.6", "--point", "latlon:45.8,9.6"]]
            .concat(),
    );
    has(&section, "from A at i=1 j=2 to B at i=8 j=6");
    has(&sounding, "at i=3 j=4");
}

/// A file of WRF without precipitation and reflectivity.
#[test]
fn pictures_without_variables_are_left_out_and_said() {
    let place = small(|_| {});
    let ended = plot(&place, &["small.nc", "-o", "o"]).good();
    assert_eq!(ended.stdout.lines().count(), 3, "{}", ended.stdout);
    for words in ["reflectivity is left out", "REFL_10CM", "RAINNC"] {
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
}

/// NaN is drawn in grey and counted, in every picture.
#[test]
fn what_is_no_number_is_grey() {
    let place = storm();
    {
        let mut file = netcdf::append(place.path("storm.nc")).expect("the file");
        for name in ["RAINNC", "REFL_10CM", "T", "QVAPOR", "QSNOW", "W"] {
            let mut variable = file.variable_mut(name).expect("a variable");
            let places = variable.dimensions().len();
            let mut extents: Vec<_> =
                variable.dimensions().iter().map(|d| d.len() - 1..d.len()).collect();
            // In the lowest layer and in the middle of the plane.
            for (axis, at) in [(places - 1, 35), (places - 2, 29)] {
                extents[axis] = at..at + 1;
            }
            variable.put_values(&[f32::NAN], extents).expect("a value");
        }
        file.close().expect("the file");
    }
    plot(&place, &["storm.nc", "--output", "o"]).good();
    let map = pixels(&place.path("o/precipitation.png"));
    assert_eq!(colour(&map, on_map([35, 29])), [0xB4; 3]);
    plot(&place, &["storm.nc", "--output", "o", "--format", "svg"]).good();
    let texts = texts(&place.path("o/precipitation.svg"));
    assert!(texts.iter().any(|text| text.contains("one cell (grey) holds no number")), "{texts:?}");
}

/// A file against itself, and against one with more rain in one cell.
#[test]
fn differences_are_found_and_symmetric() {
    let place = storm();
    std::fs::copy(place.path("storm.nc"), place.path("other.nc")).expect("a copy");
    let run = |folder: &str| {
        let arguments =
            ["--compare", "storm.nc", "other.nc", "--format", "svg", "--output", folder];
        plot(&place, &arguments).good()
    };
    let ended = run("same");
    assert_eq!(ended.stdout.lines().count(), 6, "{}", ended.stdout);
    let same = texts(&place.path("same/difference-precipitation.svg"));
    assert!(same.iter().any(|text| text == "no difference"), "{same:?}");
    {
        let mut file = netcdf::append(place.path("other.nc")).expect("the file");
        let mut rain = file.variable_mut("RAINNC").expect("the rain");
        let last = rain.dimensions()[0].len() - 1;
        let old: f32 = rain.get_value([last, 20, 30]).expect("a value");
        rain.put_value(old + 3.0, [last, 20, 30]).expect("a value");
        file.close().expect("the file");
    }
    run("other");
    let other = texts(&place.path("other/difference-precipitation.svg"));
    for words in ["other.nc minus storm.nc", "farthest +3 at i=30 j=20"] {
        assert!(other.iter().any(|text| text.contains(words)), "{words} in {other:?}");
    }
    // 3 mm in eleven classes around nothing: 0.6 mm each.
    for label in ["3.3", "0.3", "−0.3", "−3.3"] {
        assert!(other.iter().any(|text| text == label), "{label} in {other:?}");
    }
    let profiles = texts(&place.path("other/difference-profiles.svg"));
    for name in ["storm.nc", "other.nc", "snow"] {
        assert!(profiles.iter().any(|text| text == name), "{name} in {profiles:?}");
    }
}
