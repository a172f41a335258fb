//! Chemistry in runs on the GPU: compared with the CPU up to rounding, restarts with equal bits, budgets, steps of
//! cells.

use std::path::Path;
use std::process::Command;

use crate::small::Small;
use crate::support;
use crate::{gpu, project};

fn run(folder: &Path, arguments: &[&str]) {
    let mut program = Command::new(support::program());
    program.current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache"));
    program.args(["run", "-q", "--force", "--no-compare"]).args(arguments);
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

/// Root mean square of the difference of two fields, as a part of that of the first.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let square = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>();
    let off = square(&mut a.iter().zip(b).map(|(a, b)| a - b));
    (off / square(&mut a.iter().copied()).max(f64::MIN_POSITIVE)).sqrt()
}

/// Species that are produced and lost on all time scales.
const GASES: [&str; 8] = ["o3", "no", "no2", "oh", "ho2", "hno3", "pan", "so2"];

#[test]
fn species_are_those_of_the_cpu() {
    if gpu(true).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    Small::of(crate::sized([24, 20, 12], [7, 6, 6]), true).write(&folder.join("small.nc"));
    let radm2 = format!("{}/data/chemistry/radm2.kpp", project());
    let cases = [
        // Rounding moves lengths of steps, whose tolerance is 1e-3; radicals follow.
        ("f64", "specified", 1e-5, 1e-11),
        ("f32", "open,specified", 1e-3, 1e-6),
        ("f32", "specified", 1e-3, 1e-6),
        ("f32", "periodic", 1e-3, 1e-6),
    ];
    for (precision, boundary, near, close) in cases.into_iter().take(crate::sized(4, 2)) {
        let about = format!("{precision} {boundary}");
        let options = ["--input", "small.nc", "--dt", "60", "--steps", "6", "--chemistry", &radm2];
        let more = ["--chem-dt", "120", "--precision", precision, "--boundary", boundary];
        for backend in ["cpu", "gpu"] {
            let files = [format!("{backend}.nc"), format!("{backend}.json")];
            let [output, figures] = &files;
            let place = ["--output", output, "--json", figures, "--backend", backend];
            run(folder, &[&options[..], &more, &place].concat());
        }
        for name in GASES {
            let [a, b] = ["cpu.nc", "gpu.nc"].map(|file| last(folder, file, name));
            let off = apart(&a, &b);
            assert!(off < near, "{about} {name}: {off:e}");
        }
        let [cpu, gpu] = ["cpu.json", "gpu.json"].map(|name| json(folder, name));
        for name in ["calls", "failed"] {
            assert_eq!(cpu["chemistry"][name], gpu["chemistry"][name], "{about} {name}");
        }
        let steps = [&cpu, &gpu].map(|x| x["chemistry"]["steps_mean"].as_f64().expect("steps"));
        assert!((steps[0] / steps[1] - 1.0).abs() < 1e-3, "{about}: {steps:?}");
        let atoms =
            [&cpu, &gpu].map(|x| x["chemistry"]["atoms"].as_array().expect("atoms").clone());
        for (a, b) in atoms[0].iter().zip(&atoms[1]) {
            let term =
                |budget: &serde_json::Value, name: &str| budget[name].as_f64().expect("a number");
            assert!(term(b, "closure_rel").abs() < close, "{about}: {b}");
            let off = (term(a, "reacted") - term(b, "reacted")).abs();
            assert!(off < 1e-6 * term(a, "start"), "{about}: {a} {b}");
        }
    }
}

#[test]
fn a_restart_goes_on_to_the_bit() {
    if gpu(true).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    Small::of(crate::sized([24, 20, 12], [7, 6, 6]), true).write(&folder.join("small.nc"));
    let radm2 = format!("{}/data/chemistry/radm2.kpp", project());
    let begin = ["--input", "small.nc", "--dt", "60", "--chemistry", &radm2, "--chem-dt", "120"];
    let gpu = ["--backend", "gpu"];
    let [steps, first, left] = crate::sized(["7", "3", "4"], ["5", "3", "2"]);
    let whole = ["--steps", steps, "--output", "whole.nc", "--json", "whole.json"];
    run(folder, &[&begin[..], &gpu, &whole].concat());
    let half = ["--steps", first, "--output", "a.nc", "--restart-output", "r.nc"];
    run(folder, &[&begin[..], &gpu, &half].concat());
    let rest = ["--restart", "r.nc", "--steps", left, "--output", "b.nc", "--json", "b.json"];
    run(folder, &[&rest[..], &gpu].concat());
    for name in GASES {
        let [a, b] = ["whole.nc", "b.nc"].map(|file| last(folder, file, name));
        assert!(a == b, "{name}");
    }
    let [whole, again] = ["whole.json", "b.json"].map(|name| json(folder, name));
    for name in ["calls", "steps_mean", "steps_most"] {
        assert_eq!(whole["chemistry"][name], again["chemistry"][name], "{name}");
    }
}

/// Five minutes of the storm, judged against the CPU like the other fields.
#[test]
fn the_storm_is_judged_with_its_species() {
    if gpu(true).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    Small::of([7, 6, 6], true).write(&folder.join("small.nc"));
    let storm = crate::storm_file().display().to_string();
    let radm2 = format!("{}/data/chemistry/radm2.kpp", project());
    let input = crate::sized(storm.as_str(), "small.nc");
    let input = ["--input", input, "--chemistry", &radm2, "--dt", "60", "--steps", "2"];
    let both = ["--backend", "both", "--output", "o.nc", "--json", "o.json"];
    run(folder, &[&input[..], &both].concat());
    let figures = json(folder, "o.json");
    assert_eq!(figures["chemistry"]["failed"], 0);
    assert!(figures["verdict"].as_array().is_some_and(|verdicts| !verdicts.is_empty()));
}
