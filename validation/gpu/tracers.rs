//! Passive tracers on the GPU: compared with the CPU up to rounding, restarts with equal bits, members of an ensemble.

use std::path::Path;
use std::process::Command;

use nwp_mini_support::run::tracers::{NAMES, TRACERS};

use crate::gpu;
use crate::small::Small;
use crate::support;

fn run(folder: &Path, arguments: &[&str]) {
    let mut program = Command::new(support::program());
    program.current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache"));
    program.args(["run", "-q", "--force", "--no-compare", "--dt", "60"]).args(arguments);
    let ended = program.output().expect("it starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{arguments:?}: {said}");
}

fn json(folder: &Path, name: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join(name)).expect("figures");
    serde_json::from_str(&text).expect("JSON")
}

fn last(folder: &Path, file: &str, variable: &str) -> Vec<f64> {
    let file = netcdf::open(folder.join(file)).expect("an output");
    let variable = file.variable(variable).unwrap_or_else(|| panic!("no {variable}"));
    let lengths = variable.dimensions().iter().map(netcdf::Dimension::len);
    let mut extents: Vec<_> = lengths.map(|length| 0..length).collect();
    extents[0].start = extents[0].end - 1;
    variable.get_values(extents).expect("values")
}

/// Largest difference of two fields, as a part of the largest value.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let most = a.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    a.iter().zip(b).fold(0.0_f64, |off, (a, b)| off.max((a - b).abs())) / most
}

/// The storm and a small file of periodic sides and several frames, by all limiters.
#[test]
fn they_are_those_of_the_cpu() {
    if gpu(true).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("t.toml"), TRACERS).unwrap();
    Small::of(crate::sized([24, 20, 12], [13, 11, 9]), true).write(&folder.join("small.nc"));
    let storm = crate::storm_file().display().to_string();
    for (number, (input, limiter, boundary)) in [
        (&*storm, "pd", "specified"),
        (&storm, "none", "specified"),
        ("small.nc", "monotonic", "periodic"),
        ("small.nc", "pd", "open,specified"),
    ]
    .into_iter()
    .enumerate()
    {
        let precisions = [("f64", 1e-11, 1e-12), ("f32", 2e-5, 1e-6)];
        // The emulated device takes them in turn.
        let [first, end] = crate::sized([0, 2], [number % 2, number % 2 + 1]);
        for &(precision, near, close) in &precisions[first..end] {
            let about = format!("{input} {limiter} {boundary} {precision}");
            for backend in ["cpu", "gpu"] {
                let (output, figures) = (format!("{backend}.nc"), format!("{backend}.json"));
                run(
                    folder,
                    &[
                        "--input",
                        input,
                        "--steps",
                        crate::sized("8", "4"),
                        "--tracers",
                        "t.toml",
                        "--limiter",
                        limiter,
                        "--boundary",
                        boundary,
                        "--precision",
                        precision,
                        "--backend",
                        backend,
                        "-o",
                        &output,
                        "--json",
                        &figures,
                    ],
                );
            }
            for name in NAMES {
                let [a, b] = ["cpu.nc", "gpu.nc"].map(|file| last(folder, file, name));
                let off = apart(&a, &b);
                println!("{about} {name}: {off:.1e}");
                assert!(off <= near, "{about} {name}: {off:e}");
            }
            let [a, b] = ["cpu.json", "gpu.json"].map(|file| json(folder, file)["tracers"].clone());
            for (a, b) in a.as_array().unwrap().iter().zip(b.as_array().unwrap()) {
                let term = |x: &serde_json::Value, name: &str| x[name].as_f64().unwrap();
                assert!(term(b, "closure_rel").abs() <= close, "{about}: {b}");
                let scale = term(a, "start").abs().max(term(a, "end").abs());
                for name in ["start", "end", "sides", "decayed"] {
                    assert!(
                        (term(a, name) - term(b, name)).abs() <= near * scale,
                        "{about}: {a} {b}"
                    );
                }
            }
        }
    }
}

#[test]
fn restarts_and_ensembles_have_them() {
    if gpu(true).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("t.toml"), TRACERS).unwrap();
    std::fs::write(folder.join("e.toml"), "members = 3\n[initial.QVAPOR]\namplitude = 0.02\n")
        .unwrap();
    Small::of([13, 11, 9], true).write(&folder.join("small.nc"));
    let storm = crate::storm_file().display().to_string();
    let storm = crate::sized(storm.as_str(), "small.nc");
    let [whole, first, left] = crate::sized(["12", "5", "7"], ["5", "2", "3"]);
    let begin = ["--input", storm, "--tracers", "t.toml", "--backend", "gpu"];
    run(
        folder,
        &[&begin[..], &["--steps", whole, "-o", "whole.nc", "--json", "whole.json"]].concat(),
    );
    let half = ["--steps", first, "-o", "a.nc", "--restart-output", "r.nc"];
    run(folder, &[&begin[..], &half].concat());
    run(
        folder,
        &[
            "--restart",
            "r.nc",
            "--steps",
            left,
            "--backend",
            "gpu",
            "-o",
            "b.nc",
            "--json",
            "b.json",
        ],
    );
    let members = ["--steps", whole, "--ensemble", "e.toml", "-o", "e.nc"];
    run(folder, &[&begin[..], &members].concat());
    assert_eq!(json(folder, "whole.json")["tracers"], json(folder, "b.json")["tracers"]);
    for name in NAMES.into_iter().chain(["T", "QVAPOR", "RAINNC"]) {
        let whole = last(folder, "whole.nc", name);
        assert_eq!(whole, last(folder, "b.nc", name), "{name}: a restart");
        // The control is the first of the members.
        assert_eq!(whole, last(folder, "e.nc", name)[..whole.len()], "{name}: a member");
    }
    // Places and profiles bring them to the host on another way.
    std::fs::write(folder.join("p.csv"), "name,x,y\nhere,200000,100000\n").unwrap();
    let aux = ["--steps", whole, "--points", "p.csv", "--profiles", "-o", "o.nc"];
    run(folder, &[&begin[..], &aux].concat());
    for name in NAMES {
        let profiles = last(folder, "o.profiles.nc", name);
        let mut levels = last(folder, "whole.nc", name);
        let mut columns = profiles.clone();
        levels.sort_by(f64::total_cmp);
        columns.sort_by(f64::total_cmp);
        assert_eq!(levels, columns, "{name}: the columns hold the values of the levels");
    }
}
