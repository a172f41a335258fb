//! Restart files that do not fit, or are none.

use std::fs;

use super::place::Place;
use super::small::Small;

const USAGE: i32 = 2;
const FILES: i32 = 3;

/// A place with a restart file of two steps.
fn kept(options: &[&str]) -> Place {
    let place = Place::with(&Small::new());
    let run = ["-q", "--dt", "60", "--steps", "2", "-o", "a.nc", "--restart-output", "r.nc"];
    place.run_small(&[&run[..], options].concat()).good();
    place
}

/// Continues from `r.nc`; it must be rejected with these words, and no file may be left.
#[track_caller]
fn refuses(place: &Place, code: i32, options: &[&str], words: &[&str]) {
    let before = place.files();
    place.run(&[&["-q", "--restart", "r.nc", "-o", "b.nc"], options].concat()).refused(code, words);
    assert_eq!(place.files(), before);
}

#[test]
fn other_options_are_named() {
    let place = kept(&["--precision", "f64", "--limiter", "monotonic"]);
    for (options, words) in [
        (["--precision", "f32"], ["--precision f32", "r.nc", "--precision f64"]),
        (["--limiter", "pd"], ["--limiter pd", "r.nc", "--limiter monotonic"]),
        (
            ["--fallout", "substepped"],
            ["--fallout substepped", "r.nc", "--fallout semi-lagrangian"],
        ),
        (
            ["--boundary", "open"],
            ["--boundary open,open", "r.nc", "--boundary specified,specified"],
        ),
        (["--refine", "2"], ["--refine 2", "r.nc", "--refine 1"]),
        (
            ["--projection-residual", "0.01"],
            ["--projection-residual 0.01", "r.nc", "--projection-residual 0.001"],
        ),
        (["--dt", "30"], ["--dt 30", "r.nc", "steps of 60 s"]),
        (["--input", "small.nc"], ["--input", "--restart", "cannot be used with"]),
    ] {
        refuses(&place, USAGE, &options, &words);
    }
    // The same options are accepted.
    let same = ["--precision", "f64", "--limiter", "monotonic", "--fallout", "semi-lagrangian"];
    let more = ["--boundary", "specified", "--refine", "1", "--dt", "60", "--steps", "1"];
    let more = [&more[..], &["--projection-residual", "1e-3"]].concat();
    place.run(&[&["-q", "--restart", "r.nc", "-o", "b.nc"], &same[..], &more].concat()).good();
    for interval in ["0", "-5", "nan"] {
        let words = ["--restart-interval", "a positive number is needed"];
        refuses(&place, USAGE, &["--restart-interval", interval, "--force"], &words);
    }
}

fn change(place: &Place, name: &str, value: impl Into<netcdf::AttributeValue>) {
    let mut file = netcdf::append(place.path("r.nc")).expect("a restart file");
    file.add_attribute(name, value.into()).expect("an attribute");
    file.close().expect("it is written");
}

#[test]
fn another_version_is_named() {
    let place = kept(&[]);
    change(&place, "nwp_mini_version", "0.0.9");
    let own = env!("CARGO_PKG_VERSION");
    refuses(&place, FILES, &[], &["r.nc", "written by nwp-mini 0.0.9", own, "start again"]);
    let place = kept(&[]);
    change(&place, "nwp_mini_restart", 99);
    refuses(&place, FILES, &[], &["r.nc", "form 99", "form 2"]);
}

/// A file that was changed by hand is no valid restart file.
#[test]
fn a_changed_file_is_noticed() {
    for (name, value) in
        [("precision", "f64"), ("limiter", "none"), ("begin", "2005-08-28_19:00:00")]
    {
        let place = kept(&[]);
        change(&place, name, value);
        refuses(&place, FILES, &[], &["r.nc", "is damaged or was modified"]);
    }
    let place = kept(&[]);
    let mut file = netcdf::append(place.path("r.nc")).expect("a restart file");
    let mut variable = file.variable_mut("qv").expect("vapour");
    variable.put_value(0.5_f32, [0, 0, 0]).expect("a value");
    file.close().expect("it is written");
    refuses(&place, FILES, &[], &["r.nc", "is damaged or was modified"]);
}

/// Cut anywhere, or with a bit turned over in any field: refused in one line.
#[test]
fn damaged_files() {
    let place = kept(&[]);
    let good = fs::read(place.path("r.nc")).expect("a restart file");
    for cut in [0, 1, 100, good.len() / 3, good.len() / 2, good.len() - 1] {
        fs::write(place.path("r.nc"), &good[..cut]).expect("a file");
        refuses(&place, FILES, &[], &["r.nc"]);
    }
    fs::write(place.path("r.nc"), &good).expect("a file");
    let mut random = super::random::Random::new(7);
    for name in ["theta", "qs", "rain", "sr", "mu", "c1h", "frame_u", "frame_geopotential_base"] {
        let file = place.open("r.nc");
        let values = file.variable(name).get_raw_values(..).expect("values");
        drop(file);
        let start = good.windows(values.len()).position(|bytes| bytes == values);
        let at = start.expect("values as they are") + (random.bits() as usize) % values.len();
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (random.bits() % 8);
        fs::write(place.path("r.nc"), &bytes).expect("a file");
        refuses(&place, FILES, &[], &["r.nc", "is damaged or was modified"]);
        fs::write(place.path("r.nc"), &good).expect("a file");
    }
    place.run(&["-q", "--restart", "r.nc", "--steps", "1", "-o", "b.nc"]).good();
}

#[test]
fn files_of_another_kind() {
    let place = kept(&[]);
    let to_restart = place.run(&["-q", "--restart", "small.nc", "-o", "b.nc"]);
    to_restart.refused(FILES, &["small.nc", "is not a restart file", "--input"]);
    let to_input = place.run(&["-q", "--input", "r.nc", "-o", "b.nc"]);
    to_input.refused(FILES, &["r.nc", "is a restart file", "--restart"]);
    place.run(&["-q", "--restart", "none.nc"]).refused(FILES, &["cannot read none.nc"]);
    fs::write(place.path("text"), "no NetCDF").expect("a file");
    place.run(&["-q", "--restart", "text"]).refused(FILES, &["text", "NetCDF"]);
    place.run(&["-q", "--restart", "."]).refused(FILES, &["is a folder"]);
}

#[test]
fn names_that_are_one() {
    let place = kept(&[]);
    refuses(&place, USAGE, &["--restart-output", "r.nc", "--force"], &["--restart-output is the"]);
    refuses(&place, USAGE, &["--restart-output", "b.nc"], &["--restart-output is the output file"]);
    let words = ["--output is the"];
    place.run(&["--restart", "r.nc", "-o", "r.nc", "--force"]).refused(USAGE, &words);
}

/// Winds that come after the restart may admit no steps as long as those before.
#[test]
fn faster_winds_later() {
    let place = Place::empty();
    for (name, stamp, faster) in [
        ("x.nc", "2005-08-28_18:00:00", 1.0),
        ("y.nc", "2005-08-28_18:10:00", 1.0),
        ("z.nc", "2005-08-28_18:20:00", 6.0),
    ] {
        let mut small = Small::new();
        small.stamp = stamp;
        small.values("U").mapv_inplace(|u| u * faster);
        small.write(&place.path(name));
    }
    let inputs = ["-q", "--input", "x.nc", "y.nc", "z.nc", "--dt", "300", "-o", "a.nc"];
    // A whole run needs the later winds, and keeps to them.
    place
        .run(&[&inputs[..], &["--steps", "4"]].concat())
        .refused(USAGE, &["a time step of 300 s", "longest", "--dt"]);
    let first = ["--steps", "1", "--restart-output", "r.nc"];
    place.run(&[&inputs[..], &first].concat()).good();
    place.run(&["-q", "--restart", "r.nc", "--steps", "1", "-o", "b.nc"]).good();
    let words = ["the run that wrote r.nc has time steps of 300 s", "at most", "start again"];
    place.run(&["-q", "--restart", "r.nc", "--steps", "3", "-o", "c.nc"]).refused(USAGE, &words);
}
