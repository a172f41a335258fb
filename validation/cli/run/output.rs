//! The output file: properties that other programs rely on, and the frames of a run.

use netcdf::types::{FloatType, NcVariableType};

use super::place::{Place, storm};
use super::result::Output;
use super::small::Small;

const VOLUME: [&str; 4] = ["Time", "bottom_top", "south_north", "west_east"];
const PLANE: [&str; 3] = ["Time", "south_north", "west_east"];

/// Variables that the run computes: WRF's name, dimensions, MemoryOrder, stagger and units.
const COMPUTED: [(&str, &[&str], &str, &str, &str); 16] = [
    ("T", &VOLUME, "XYZ", "", "K"),
    ("QVAPOR", &VOLUME, "XYZ", "", "kg kg-1"),
    ("QCLOUD", &VOLUME, "XYZ", "", "kg kg-1"),
    ("QRAIN", &VOLUME, "XYZ", "", "kg kg-1"),
    ("QICE", &VOLUME, "XYZ", "", "kg kg-1"),
    ("QSNOW", &VOLUME, "XYZ", "", "kg kg-1"),
    ("U", &["Time", "bottom_top", "south_north", "west_east_stag"], "XYZ", "X", "m s-1"),
    ("V", &["Time", "bottom_top", "south_north_stag", "west_east"], "XYZ", "Y", "m s-1"),
    ("W", &["Time", "bottom_top_stag", "south_north", "west_east"], "XYZ", "Z", "m s-1"),
    ("REFL_10CM", &VOLUME, "XYZ", "", "dBZ"),
    ("RE_CLOUD", &VOLUME, "XYZ", "", "m"),
    ("RE_ICE", &VOLUME, "XYZ", "", "m"),
    ("RE_SNOW", &VOLUME, "XYZ", "", "m"),
    ("RAINNC", &PLANE, "XY ", "", "mm"),
    ("SNOWNC", &PLANE, "XY ", "", "mm"),
    ("SR", &PLANE, "XY ", "", "1"),
];

/// Variables that are copied from the input.
const GIVEN: [(&str, &[&str], &str, &str, &str); 20] = [
    ("P", &VOLUME, "XYZ", "", "Pa"),
    ("PB", &VOLUME, "XYZ", "", "Pa"),
    ("PH", &["Time", "bottom_top_stag", "south_north", "west_east"], "XYZ", "Z", "m2 s-2"),
    ("PHB", &["Time", "bottom_top_stag", "south_north", "west_east"], "XYZ", "Z", "m2 s-2"),
    ("MU", &PLANE, "XY ", "", "Pa"),
    ("MUB", &PLANE, "XY ", "", "Pa"),
    ("HGT", &PLANE, "XY ", "", "m"),
    ("ZNU", &["Time", "bottom_top"], "Z  ", "", "1"),
    ("ZNW", &["Time", "bottom_top_stag"], "Z  ", "Z", "1"),
    ("DNW", &["Time", "bottom_top"], "Z  ", "", "1"),
    ("RDNW", &["Time", "bottom_top"], "Z  ", "", "1"),
    ("C1H", &["Time", "bottom_top"], "Z  ", "", "1"),
    ("C2H", &["Time", "bottom_top"], "Z  ", "", "Pa"),
    ("P_TOP", &["Time"], "0  ", "", "Pa"),
    ("MAPFAC_MX", &PLANE, "XY ", "", "1"),
    ("MAPFAC_MY", &PLANE, "XY ", "", "1"),
    ("MAPFAC_UX", &["Time", "south_north", "west_east_stag"], "XY ", "X", "1"),
    ("MAPFAC_VY", &["Time", "south_north_stag", "west_east"], "XY ", "Y", "1"),
    ("XLAT", &PLANE, "XY ", "", "degree_north"),
    ("XLONG", &PLANE, "XY ", "", "degree_east"),
];

/// The fields that the output's first frame takes from the input without a change.
const STATE: [&str; 6] = ["T", "QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW"];

fn axes(output: &Output, name: &str) -> Vec<String> {
    output.variable(name).dimensions().iter().map(netcdf::Dimension::name).collect()
}

fn bits(output: &Output, name: &str, time: usize) -> Vec<u64> {
    output.frame(name, time).iter().map(|x| x.to_bits()).collect()
}

#[test]
fn variables_are_named_and_described_as_wrf_does_it() {
    let place = Place::with(&Small::hybrid());
    let (_, output) = place.figures(&["--steps", "2"]);
    let file = &output.file;
    assert!(file.dimension("Time").expect("Time").is_unlimited());
    let lengths = [
        ("DateStrLen", 19),
        ("west_east", 12),
        ("south_north", 10),
        ("bottom_top", 8),
        ("west_east_stag", 13),
        ("south_north_stag", 11),
        ("bottom_top_stag", 9),
    ];
    for (name, length) in lengths {
        assert_eq!(file.dimension_len(name), Some(length), "{name}");
    }
    assert_eq!(axes(&output, "Times"), ["Time", "DateStrLen"]);
    assert_eq!(output.variable("Times").vartype(), NcVariableType::Char);
    assert_eq!(axes(&output, "XTIME"), ["Time"]);
    assert_eq!(output.text_of("XTIME", "units"), "minutes since 2005-08-28 18:00:00");
    assert_eq!(output.text_of("XTIME", "standard_name"), "time");

    for (name, dimensions, order, stagger, units) in COMPUTED.into_iter().chain(GIVEN) {
        assert_eq!(axes(&output, name), dimensions, "{name}");
        assert_eq!(output.text_of(name, "MemoryOrder"), order, "{name}");
        assert_eq!(output.text_of(name, "stagger"), stagger, "{name}");
        assert_eq!(output.text_of(name, "units"), units, "{name}");
        assert!(!output.text_of(name, "description").is_empty(), "{name}");
        assert!(!output.text_of(name, "long_name").is_empty(), "{name}");
        let is_centred = ["", "Z"].contains(&stagger) && order.starts_with("XY");
        if is_centred && !name.starts_with("XL") {
            assert_eq!(output.text_of(name, "coordinates"), "XLONG XLAT XTIME", "{name}");
        } else {
            // There are no positions of the x- and y-faces to name.
            assert!(output.variable(name).attribute("coordinates").is_none(), "{name}");
        }
    }
    // Every variable has a description.
    for name in output.names().iter().filter(|name| *name != "Times") {
        for attribute in ["units", "description", "long_name", "MemoryOrder", "stagger"] {
            output.text_of(name, attribute);
        }
        assert!(output.variable(name).attribute("_FillValue").is_none(), "{name}");
    }
    let names = [
        ("QVAPOR", "humidity_mixing_ratio"),
        ("U", "x_wind"),
        ("W", "upward_air_velocity"),
        ("REFL_10CM", "equivalent_reflectivity_factor"),
        ("QVAPOR_PATH", "atmosphere_mass_content_of_water_vapor"),
        ("QICE_PATH", "atmosphere_mass_content_of_cloud_ice"),
        ("RAINNC", "lwe_thickness_of_stratiform_precipitation_amount"),
    ];
    for (name, standard) in names {
        assert_eq!(output.text_of(name, "standard_name"), standard);
    }
    assert_eq!(output.text_of("T_RMS", "cell_methods"), "area: root_mean_square");
    // The table has none for rain and snow.
    for name in ["QRAIN", "QSNOW", "QRAIN_PATH", "QSNOW_PATH"] {
        assert!(output.variable(name).attribute("standard_name").is_none(), "{name}");
    }
}

#[test]
fn precision_sets_the_types() {
    let place = Place::with(&Small::new());
    for (precision, float, code) in [("f32", FloatType::F32, 104), ("f64", FloatType::F64, 105)] {
        let (figures, output) = place.figures(&["--steps", "2", "--precision", precision]);
        assert_eq!(figures["precision"], precision);
        assert_eq!(output.text("precision"), precision);
        for (name, ..) in COMPUTED {
            let variable = output.variable(name);
            assert_eq!(variable.vartype(), NcVariableType::Float(float), "{name}");
            let kind = variable.attribute_value("FieldType").expect("FieldType").expect("readable");
            assert_eq!(i32::try_from(kind).expect("a whole number"), code, "{name}");
        }
    }
}

#[test]
fn the_file_says_where_it_came_from() {
    let place = Place::with(&Small::new());
    let (_, output) = place.figures(&["--steps", "2", "--dt", "50", "--boundary", "periodic,open"]);
    assert!(output.text("Conventions").starts_with("CF-1."));
    // WRF's tools read the version from the title.
    assert!(output.text("TITLE").contains("V4."));
    for name in ["title", "institution", "source", "references", "history", "git_hash"] {
        assert!(!output.text(name).is_empty(), "{name}");
    }
    assert_eq!(output.text("nwp_mini_version"), env!("CARGO_PKG_VERSION"));
    assert!(output.text("command_line").ends_with("--boundary periodic,open"));
    assert!(output.text("history").contains("small.nc"));
    assert_eq!(output.text("input_file"), "small.nc");
    let digest = output.text("input_sha256");
    assert!(digest.len() == 64 && digest.chars().all(|x| x.is_ascii_hexdigit()), "{digest}");
    assert_eq!(output.text("backend"), "cpu");
    assert!(!output.text("device_name").is_empty());
    assert_eq!(output.text("NWP_MINI_BOUNDARY"), "periodic,open");
    assert_eq!(output.text("START_DATE"), "2005-08-28_18:00:00");
    assert_eq!(output.text("SIMULATION_START_DATE"), "2005-08-28_18:00:00");
    let numbers = [
        ("DX", 20_000.0),
        ("DY", 18_000.0),
        ("DT", 50.0),
        ("MP_PHYSICS", 4.0),
        ("WEST-EAST_GRID_DIMENSION", 13.0),
        ("SOUTH-NORTH_GRID_DIMENSION", 11.0),
        ("BOTTOM-TOP_GRID_DIMENSION", 9.0),
        ("MAP_PROJ", 1.0),
        ("CEN_LAT", 45.0),
        ("STAND_LON", 9.0),
    ];
    for (name, value) in numbers {
        assert!((output.number(name) - value).abs() < 1e-9, "{name} is {}", output.number(name));
    }
}

#[test]
fn the_first_frame_is_the_input_to_the_last_bit() {
    let mut small = Small::hybrid();
    // Transport produces such values, and they are part of the state.
    small.values("QVAPOR")[[7, 4, 4]] = -3.0e-9;
    small.values("QCLOUD")[[2, 0, 0]] = -1.0e-12;
    let place = Place::with(&small);
    let input = place.open("small.nc");
    for precision in ["f32", "f64"] {
        let (_, output) = place.figures(&["--steps", "2", "--precision", precision]);
        for name in STATE {
            assert!(bits(&output, name, 0) == bits(&input, name, 0), "{name} {precision}");
        }
        assert!(output.frame("QVAPOR", 0).iter().any(|&q| q < 0.0), "{precision}");
        for (name, ..) in GIVEN {
            let at_all_times =
                (0..2).all(|time| bits(&output, name, time) == bits(&input, name, 0));
            assert!(at_all_times, "{name} {precision}");
        }
        for name in ["RAINNC", "SNOWNC", "SR"] {
            assert!(output.frame(name, 0).iter().all(|x| x.abs() == 0.0), "{name} {precision}");
        }
    }
}

#[test]
fn the_storms_first_frame_is_the_storm_and_all_frames_are_finite() {
    let place = Place::empty();
    place.run_storm(&["-q", "--steps", "4", "--output-interval", "300"]).good();
    let (input, output) = (Output::open(&storm()), place.open("soc.out.nc"));
    assert_eq!(
        output.times(),
        ["0001-01-01_10:00:00", "0001-01-01_10:05:00", "0001-01-01_10:10:00"]
    );
    for name in STATE {
        assert!(bits(&output, name, 0) == bits(&input, name, 0), "{name}");
    }
    // The storm has such values, from the model that produced it.
    assert!(input.values("QVAPOR").iter().any(|&q| q < 0.0));
    for name in output.names().iter().filter(|name| *name != "Times") {
        assert!(output.values(name).iter().all(|x| x.is_finite()), "{name}");
    }
    // The last frame is another one: the run did something.
    for name in STATE {
        assert!(bits(&output, name, 2) != bits(&output, name, 0), "{name}");
    }
    assert!(output.last("RAINNC").iter().any(|&x| x > 0.0));
    assert!(output.last("SNOWNC").iter().zip(&output.last("RAINNC")).all(|(s, r)| s <= r));
    // The model that produced the storm computed 49.5 dBZ in it.
    let most = output.frame("REFL_10CM", 0).fold(0.0_f64, |most, &z| most.max(z));
    assert!((49.0..50.0).contains(&most), "{most}");
}

/// The output is an input like any other. Its winds are projected already: only their rounding to
/// single precision, 4e-6 m/s of 70 m/s, is left to repair.
#[test]
fn the_output_is_an_input() {
    let place = Place::with(&Small::hybrid());
    let (before, first) = place.figures(&["--steps", "3", "--boundary", "periodic,open"]);
    place.run(&["-q", "--input", "out.nc", "--steps", "3", "--json", "2.json"]).good();
    let (after, second) = (place.json("2.json"), place.open("out.out.nc"));
    assert_eq!(second.text("input_file"), "out.nc");
    assert_eq!(after["boundary"], "periodic,open");
    for figure in ["max_du", "max_dv"] {
        let [before, after] = [&before, &after].map(|x| x["projection"][figure].as_f64());
        assert!(after < Some(1e-5) && before > Some(1e-3), "{figure}: {before:?} {after:?}");
    }
    // With the same messages, and the same bits of fields that do not depend on the wind.
    assert!(
        first.bits().iter().map(|(name, _)| name).eq(second.bits().iter().map(|(name, _)| name))
    );
    for name in STATE.into_iter().chain(GIVEN.into_iter().map(|(name, ..)| name)) {
        assert!(bits(&first, name, 0) == bits(&second, name, 0), "{name}");
    }
    // Both times of the file are frames of the second run: its air changes in time, that of the first did not, and the
    // states differ accordingly.
    assert_eq!(after["input_frames"].as_array().map(Vec::len), Some(2));
    let [first, second] = [first, second].map(|x| x.last("T"));
    let apart = (&first - &second).mapv(f64::abs).fold(0.0, |most: f64, &x| most.max(x));
    assert!(apart > 0.0 && apart < 1.0, "{apart}");
}

/// The outermost rows have rain and snow, but no precipitation.
#[test]
fn nothing_falls_in_the_specified_zone() {
    let place = Place::with(&Small::new());
    let is_outside = |at: &ndarray::IxDyn, x: bool, y: bool| {
        (y && [0, 9].contains(&at[0])) || (x && [0, 11].contains(&at[1]))
    };
    let kinds = [
        ("specified", true, true),
        ("periodic,specified", false, true),
        ("specified,open", true, false),
        ("open", false, false),
        ("periodic", false, false),
    ];
    for (boundary, x, y) in kinds {
        let (_, output) = place.figures(&["--steps", "5", "--boundary", boundary]);
        for name in ["RAINNC", "SNOWNC"] {
            let fallen = output.last(name);
            let mut inside = 0;
            for (at, value) in fallen.indexed_iter() {
                if is_outside(&at, x, y) {
                    assert!(value.abs() == 0.0, "{name} {boundary} {at:?}: {value}");
                } else {
                    inside += usize::from(*value > 0.0);
                }
            }
            assert!(inside > 20 || name == "SNOWNC", "{name} {boundary}: {inside} cells");
        }
        // All four corners have rain if no row is specified.
        let rain = output.last("RAINNC");
        let corners = [[0, 0], [0, 11], [9, 0], [9, 11]].map(|corner| rain[&corner[..]] > 0.0);
        assert_eq!(corners, [!(x || y); 4], "{boundary}");
    }
}
