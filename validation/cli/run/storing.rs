//! The form of the output: compressed or not, rounded or not, all of it or a part.

use ndarray::ArrayD;
use serde_json::Value;

use super::place::Place;
use super::result::Output;
use super::small::Small;

/// Volumes that are rounded on request.
const VOLUMES: [&str; 13] = [
    "T",
    "QVAPOR",
    "QCLOUD",
    "QRAIN",
    "QICE",
    "QSNOW",
    "U",
    "V",
    "W",
    "REFL_10CM",
    "RE_CLOUD",
    "RE_ICE",
    "RE_SNOW",
];

/// Volumes of which differences are taken.
const WHOLE: [&str; 4] = ["P", "PB", "PH", "PHB"];

const FRAMES: [&str; 6] = ["--steps", "4", "--dt", "60", "--output-interval", "60"];

fn run(arguments: &[&str]) -> (Place, Value, Output) {
    let place = Place::with(&Small::new());
    let (figures, output) = place.figures(&[&FRAMES[..], arguments].concat());
    (place, figures, output)
}

fn number(figures: &Value, pointer: &str) -> f64 {
    figures
        .pointer(pointer)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("{pointer}: {figures}"))
}

fn bits_of(output: &Output, variable: &str) -> Option<i32> {
    let value = output.variable(variable).attribute_value("quantization_nsb")?;
    Some(value.expect("readable").try_into().expect("a whole number"))
}

#[test]
fn every_compression_holds_the_same_bits() {
    let (_fast, of_fast, fast) = run(&[]);
    let (_none, of_none, none) = run(&["--compression", "none"]);
    let (_small, of_small, small) = run(&["--compression", "small"]);
    assert_eq!(fast.frames(), 5);
    assert_eq!(fast.bits(), none.bits());
    assert_eq!(fast.bits(), small.bits());
    assert_eq!(fast.times(), none.times());
    // For every field, with two or three dimensions besides time.
    let fields = fast.file.variables().filter(|field| field.dimensions().len() > 2);
    let bytes = 4 * fields.map(|field| field.len()).sum::<usize>();
    assert!(bytes > 5 * 4 * (VOLUMES.len() + WHOLE.len()) * 12 * 10 * 8, "{bytes}");
    for figures in [&of_fast, &of_none, &of_small] {
        assert_eq!(number(figures, "/timing/output/raw_bytes"), bytes as f64);
    }
    let stored = |figures| number(figures, "/timing/output/compressed_bytes");
    assert_eq!(stored(&of_none), bytes as f64);
    assert!(stored(&of_fast) < 0.8 * stored(&of_none), "{of_fast}");
    assert!(stored(&of_small) < stored(&of_fast), "{of_small}");
}

/// Byte by byte: nothing of a file depends on the process or its threads.
#[test]
fn the_same_run_makes_the_same_file() {
    let place = Place::with(&Small::new());
    let mut files = Vec::new();
    for threads in ["1", "2", "2"] {
        let options = ["-q", "--force", "--output", "out.nc", "--keepbits", "auto"];
        // The command line is an attribute.
        let mut program = place.program(&["run", "--input", "small.nc"]);
        program.args(options).args(FRAMES).env("RAYON_NUM_THREADS", threads);
        assert!(program.status().expect("the program starts").success());
        files.push(std::fs::read(place.path("out.nc")).expect("the file"));
    }
    assert!(files[0] == files[1] && files[1] == files[2], "the files differ");
}

#[test]
fn waiting_is_a_part_of_the_output_and_that_of_the_run() {
    let (_place, figures, _) = run(&[]);
    let [wait, total] =
        ["wait_s", "total_s"].map(|x| number(&figures, &format!("/timing/output/{x}")));
    let run = number(&figures, "/timing/run/total_s");
    assert!(wait > 0.0 && wait <= total && total <= run, "{wait} {total} {run}");
    assert_eq!(figures["rounded"], Value::Array(Vec::new()));
}

/// The largest error, as a part of the value, between fields.
fn error(rounded: &ArrayD<f64>, exact: &ArrayD<f64>) -> f64 {
    let apart = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { ((a - b) / b).abs() };
    rounded.iter().zip(exact).map(apart).fold(0.0, f64::max)
}

#[test]
fn rounding_keeps_the_bound_that_it_states() {
    let (_place, _, exact) = run(&[]);
    for (keep, bits) in [("9", Some(9)), ("auto", None), ("30", Some(23))] {
        let (_place, figures, output) = run(&["--keepbits", keep]);
        let listed = figures["rounded"].as_array().expect("a list");
        assert_eq!(listed.len(), VOLUMES.len(), "{figures}");
        for name in VOLUMES {
            let entry = listed.iter().find(|row| row["variable"] == name).expect("listed");
            let kept = bits_of(&output, name).expect("an attribute");
            assert_eq!(entry["bits"], kept, "{name}");
            assert!(kept >= 7 && bits.is_none_or(|bits| bits == kept), "{name} {kept}");
            let bound = 0.5_f64.powi(kept + 1);
            let stated = entry["max_relative_error"].as_f64().expect("a number");
            assert!((stated / bound - 1.0).abs() < 1e-12, "{name}: {stated} {bound}");
            let found = error(&output.values(name), &exact.values(name));
            assert!(found <= bound, "{name}: {found} beyond {bound} of {kept} bits");
            // The bound is not loose if the field has digits to round.
            assert!(name != "T" || kept >= 20 || found > 0.5 * bound, "{name}: {found} {bound}");
            assert_eq!(output.text_of(name, "quantization"), "quantization_info");
        }
        assert_eq!(output.text_of("quantization_info", "algorithm"), "bitround");
        let planes = ["RAINNC", "MU", "MUB", "QVAPOR_PATH", "XLAT", "HGT", "T_MEAN", "ZNW"];
        for name in WHOLE.into_iter().chain(planes) {
            assert_eq!(output.values(name), exact.values(name), "{name} keeps all bits");
            assert_eq!(bits_of(&output, name), None, "{name}");
        }
    }
    assert_eq!(bits_of(&exact, "T"), None);
}

/// The depth of layers is a small difference of geopotentials: with few bits left it is zero or too large.
#[test]
fn a_rounded_file_is_no_input_where_layers_have_lost_their_depth() {
    let place = Place::with(&Small::new());
    let steps = ["-q", "--steps", "1", "--force", "--output"];
    let own = [&steps[..], &["own.nc", "--keepbits", "3", "--input", "small.nc"]].concat();
    place.run(&own).good();
    // What is rounded here is good enough to go on with.
    place.run(&[&steps[..], &["out.nc", "--input", "own.nc"]].concat()).good();
    let refused = |attribute: &str, words: &[&str]| {
        let name = "other.nc";
        std::fs::copy(place.path("small.nc"), place.path(name)).expect("a copy");
        round_geopotential(&place.path(name), attribute).expect("a file to change");
        let ended = place.run(&[&steps[..], &["no.nc", "--input", name]].concat());
        ended.refused(
            3,
            &[words, &["other.nc: the depth of the layer from PH + PHB (m) is"]].concat(),
        );
        assert_ne!(ended.stderr.contains("quantization"), ended.stderr.contains("units"));
    };
    for attribute in ["quantization_nsb", "significant_digits"] {
        let said = format!("by quantization of PHB ({attribute} = 1)");
        refused(attribute, &[&said, "before it was rounded"]);
    }
    // Without such an attribute units are the likeliest reason.
    refused("number", &["check the units"]);
}

/// Rounds the geopotential to powers of two, all of it in the base state, with the number of bits as an attribute.
fn round_geopotential(path: &std::path::Path, attribute: &str) -> netcdf::Result<()> {
    let mut file = netcdf::append(path)?;
    let [ph, phb] = ["PH", "PHB"].map(|name| {
        let variable = file.variable(name).expect("the geopotential");
        variable.get::<f32, _>(..).expect("values")
    });
    let cut = |x: f32| if x > 0.0 { x.log2().round().exp2() } else { x };
    let [none, all] = [ph.mapv(|_| 0.0), (&ph + &phb).mapv(cut)];
    file.variable_mut("PH").expect("the perturbation").put(none.view(), ..)?;
    let mut variable = file.variable_mut("PHB").expect("the base state");
    variable.put(all.view(), ..)?;
    variable.put_attribute(attribute, 1)?;
    file.close()
}

#[test]
fn rounding_makes_a_file_smaller() {
    let stored = |arguments: &[&str]| number(&run(arguments).1, "/timing/output/compressed_bytes");
    let [all, many, few] = [&[][..], &["--keepbits", "14"], &["--keepbits", "7"]].map(stored);
    assert!(few < many && many < all, "{few} {many} {all}");
}

#[test]
fn values_that_are_no_number_of_bits_are_refused() {
    let place = Place::with(&Small::new());
    for keep in ["0", "53", "some", "-3"] {
        let option = format!("--keepbits={keep}");
        place.run_small(&[&option]).refused(2, &["--keepbits", "auto", "52"]);
    }
    place.run_small(&["--output-vars", "T,QVAPUR"]).refused(2, &["QVAPUR", "QVAPOR"]);
    for list in ["", "T,"] {
        place.run_small(&["--output-vars", list]).refused(2, &["no variable \"\""]);
    }
    place.run_small(&["--compression", "much"]).refused(2, &["--compression", "fast"]);
    assert_eq!(place.files(), ["small.nc"]);
}

#[test]
fn a_part_of_the_variables_has_the_values_of_all() {
    let (_place, _, all) = run(&[]);
    let always = ["Times", "XTIME", "XLAT", "XLONG"];
    for (list, names) in [
        ("QRAIN,W", &["QRAIN", "W"][..]),
        ("minimal", &["T", "QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW", "RAINNC", "SNOWNC"]),
    ] {
        let (_place, _, output) = run(&["--output-vars", list]);
        let mut found = output.names();
        found.retain(|name| all.names().contains(name) && !always.contains(&name.as_str()));
        found.retain(|name| name != "crs");
        found.sort();
        let mut expected: Vec<String> = names.iter().map(ToString::to_string).collect();
        expected.sort();
        assert_eq!(found, expected, "{list}");
        for name in names.iter().chain(&always[1..]) {
            assert_eq!(output.values(name), all.values(name), "{name}");
        }
        assert_eq!(output.times(), all.times());
    }
    let (_place, _, wrf) = run(&["--output-vars", "wrf"]);
    assert!(wrf.names().iter().any(|name| name == "REFL_10CM"));
    assert!(!wrf.names().iter().any(|name| name.ends_with("_PATH") || name.ends_with("_MEAN")));
}

/// A run in two parts has the frames of an uninterrupted one, with any rounding of its output.
#[test]
fn restart_files_are_not_rounded() {
    let place = Place::with(&Small::new());
    let run = |steps: &str, names: &[&str]| {
        let length = ["-q", "--steps", steps, "--output-interval", "60", "--force"];
        place.run(&[&length[..], names].concat()).good();
    };
    let input = ["--input", "small.nc", "--dt", "60"];
    run("6", &[&input[..], &["-o", "whole.nc"]].concat());
    let restart = ["--restart-output", "restart.nc", "--restart-interval", "120"];
    let rounded = ["--keepbits", "3", "--output-vars", "minimal", "-o", "first.nc"];
    run("3", &[&input[..], &restart[..], &rounded[..]].concat());
    assert_eq!(bits_of(&place.open("first.nc"), "T"), Some(3));
    run("3", &["--restart", "restart.nc", "-o", "second.nc"]);
    let (whole, second) = (place.open("whole.nc"), place.open("second.nc"));
    assert_eq!((whole.frames(), second.frames()), (7, 4));
    for name in VOLUMES.into_iter().chain(WHOLE).chain(["RAINNC", "XTIME", "QRAIN_PATH"]) {
        for frame in 0..4 {
            assert_eq!(second.frame(name, frame), whole.frame(name, 3 + frame), "{name} {frame}");
        }
    }
}

#[test]
fn options_of_the_form_come_from_a_file_too() {
    let place = Place::with(&Small::new());
    let options = "keepbits = 8\ncompression = \"none\"\noutput-vars = \"T,U\"\n";
    std::fs::write(place.path("run.toml"), options).expect("a file");
    let (_, output) = place.figures(&["--steps", "1", "--config", "run.toml"]);
    assert_eq!(bits_of(&output, "T"), Some(8));
    assert!(!output.names().iter().any(|name| name == "V"));
}
