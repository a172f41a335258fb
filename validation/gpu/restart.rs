//! Runs on the GPU through the command: the same bits from run to run, with and without frames in between, and in two
//! halves; concurrent runs share the device and the cache of kernels.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::gpu;
use crate::small::Small;
use crate::support;

/// The program in a folder, with its own cache there; on the GPU unless the arguments select the CPU.
fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut program = Command::new(support::program());
    program.current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache"));
    program.env("NWP_BACKEND", "gpu");
    program.args(["run", "-q", "--force", "--no-compare"]).args(arguments);
    program
}

fn run(folder: &Path, arguments: &[&str]) {
    let ended = program(folder, arguments).output().expect("it starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{arguments:?}: {said}");
}

/// The bits of all variables at the last time of a file.
fn last_bits(folder: &Path, name: &str) -> Vec<(String, Vec<u64>)> {
    let file = netcdf::open(folder.join(name)).expect("an output");
    let last = file.dimension_len("Time").expect("times") - 1;
    let of = |variable: netcdf::Variable<'_>| {
        let lengths = variable.dimensions().iter().map(netcdf::Dimension::len);
        let mut extents: Vec<_> = lengths.map(|length| 0..length).collect();
        extents[0] = last..last + 1;
        let values: Vec<f64> = variable.get_values(extents).expect("values");
        (variable.name(), values.iter().map(|x| x.to_bits()).collect())
    };
    file.variables().filter(|variable| variable.name() != "Times").map(of).collect()
}

/// Names of the variables that differ at the last time.
fn differing(folder: &Path, a: &str, b: &str) -> Vec<String> {
    let (a, b) = (last_bits(folder, a), last_bits(folder, b));
    assert_eq!(a.len(), b.len());
    a.into_iter().zip(b).filter(|(a, b)| a != b).map(|(a, _)| a.0).collect()
}

/// The figures of a run that may not depend on its division into parts.
fn figures(folder: &Path, name: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join(name)).expect("figures");
    let all: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let names =
        ["steps", "seconds", "water", "precipitation_mean_mm", "input_frames", "projection"];
    names.iter().map(|name| ((*name).to_owned(), all[name].clone())).collect()
}

/// Three times of input, five minutes apart.
fn series(folder: &Path) -> [String; 3] {
    ["18:00", "18:05", "18:10"].map(|time| {
        let mut small = Small::of(crate::sized([24, 20, 12], [13, 11, 9]), true);
        let stamp = format!("2005-08-28_{time}:00");
        small.stamp = Box::leak(stamp.into_boxed_str());
        let faster = if time == "18:05" { 1.4 } else { 1.0 };
        small.values("U").mapv_inplace(|u| u * faster);
        let path = folder.join(format!("in_{time}.nc"));
        small.write(&path);
        path.to_str().expect("a path in UTF-8").to_owned()
    })
}

#[test]
fn halves_have_the_bits_of_a_whole_run() {
    if gpu(true).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let storm = crate::storm_file().display().to_string();
    let [a, b, c] = series(folder);
    let long = crate::sized(14, 11);
    let cases: [(&[&str], &[&str], usize, usize); 5] = [
        (&[&storm], &[], crate::sized(20, 5), crate::sized(9, 2)),
        (&[&storm], &["--precision", "f64", "--fallout", "substepped"], crate::sized(6, 3), 2),
        (
            &[&storm],
            &["--boundary", "periodic", "--limiter", "monotonic"],
            crate::sized(12, 3),
            crate::sized(5, 1),
        ),
        (&[&a, &b, &c], &["--boundary", "open"], long, 5),
        (&[&a, &b, &c], &["--refine", "2"], long, crate::sized(12, 7)),
    ];
    // Each side and each kind of input once on the emulated device.
    for (inputs, options, steps, first) in cases.into_iter().skip(crate::sized(0, 1)) {
        let about = format!("{inputs:?} {options:?} {first} of {steps}");
        let input = [&["--input"], inputs, &["--dt", "60"], options].concat();
        let [steps, left, first] = [steps, steps - first, first].map(|n| n.to_string());
        let whole = ["--steps", &steps, "-o", "whole.nc", "--json", "whole.json"];
        run(folder, &[&input[..], &whole].concat());
        // Frequent restart files and frames in between change no result.
        let often = ["--restart-interval", "60", "--output-interval", "60"];
        let half = ["--steps", &first, "-o", "a.nc", "--restart-output", "r.nc"];
        run(folder, &[&input[..], &half, &often].concat());
        run(folder, &["--restart", "r.nc", "--steps", &left, "-o", "b.nc", "--json", "b.json"]);
        assert_eq!(differing(folder, "whole.nc", "b.nc"), Vec::<String>::new(), "{about}");
        assert_eq!(figures(folder, "whole.json"), figures(folder, "b.json"), "{about}");
    }
}

#[test]
fn every_run_has_the_same_bits() {
    if gpu(true).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let storm = crate::storm_file().display().to_string();
    for &precision in crate::sized(&["f32", "f64"][..], &["f32"]) {
        let steps = [
            "--input",
            &storm,
            "--dt",
            "60",
            "--steps",
            crate::sized("30", "4"),
            "--precision",
            precision,
        ];
        run(folder, &[&steps[..], &["-o", "first.nc"]].concat());
        let rarely = crate::sized("700", "180");
        for more in
            [&[][..], &["--output-interval", "60"], &["--output-interval", rarely, "--profiles"]]
        {
            run(folder, &[&steps[..], &["-o", "again.nc"], more].concat());
            let differ = differing(folder, "first.nc", "again.nc");
            assert_eq!(differ, Vec::<String>::new(), "{precision} {more:?}");
        }
        // The comparison detects different runs.
        run(folder, &[&steps[..], &["-o", "other.nc", "--limiter", "monotonic"]].concat());
        assert!(!differing(folder, "first.nc", "other.nc").is_empty());
    }
}

/// From an empty cache, all runs compile and store the same kernels.
#[test]
fn runs_at_once_share_the_device_and_the_cache() {
    if gpu(true).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let storm = crate::storm_file().display().to_string();
    let steps = crate::sized("10", "3");
    let start = |number: usize| {
        let name = format!("{number}.nc");
        let mut run = program(folder, &["--input", &storm, "--steps", steps, "-o", &name]);
        run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let runs: Vec<_> = (0..3).map(start).collect();
    for run in runs {
        let ended = run.wait_with_output().expect("it ends");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    for number in 1..3 {
        let differ = differing(folder, "0.nc", &format!("{number}.nc"));
        assert_eq!(differ, Vec::<String>::new(), "{number}");
    }
    // The next run uses the stored kernels.
    run(folder, &["--input", &storm, "--steps", steps, "-o", "3.nc"]);
    assert_eq!(differing(folder, "0.nc", "3.nc"), Vec::<String>::new());
}

/// A run continues from the checkpoint of another backend, with all accumulated precipitation.
#[test]
fn a_run_goes_on_on_the_other_backend() {
    if gpu(true).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let storm = crate::storm_file().display().to_string();
    for [first, second] in [["gpu", "cpu"], ["cpu", "gpu"]] {
        let input =
            ["--input", &storm, "--dt", "60", "--steps", "5", "-o", "a.nc", "--backend", first];
        run(folder, &[&input[..], &["--restart-output", "r.nc", "--precision", "f64"]].concat());
        let restart = ["--restart", "r.nc", "--steps", "5", "-o", "b.nc", "--json", "b.json"];
        run(folder, &[&restart[..], &["--backend", second]].concat());
        // The budget of both halves is closed, in double precision as in other runs.
        let closure = figures(folder, "b.json")["water"]["closure_rel"].as_f64().expect("a number");
        assert!(closure.abs() < 1e-10, "{first} {second}: {closure}");
    }
}
