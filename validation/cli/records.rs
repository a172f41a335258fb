//! Cost as a function of the grid size, records of several machines, and measured settings, as far as they need no GPU.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nwp_mini_support::project;
use roxmltree::Document;
use serde_json::Value;

fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_nwp-mini"));
    program.current_dir(env!("CARGO_MANIFEST_DIR")).env("NWP_BACKEND", "cpu").arg("-q");
    program
}

fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().expect("the program starts")
}

/// Standard output of the command, which must succeed.
fn said(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn refused(code: i32, arguments: &[&str], words: &[&str]) {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    for word in words {
        assert!(message.contains(word), "{word:?} in {message:?}");
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn rows(path: &Path) -> Vec<Value> {
    serde_json::from_str(&fs::read_to_string(path).expect("figures")).expect("a list")
}

/// Texts of a picture, which has to be well-formed, with all numbers finite.
fn texts(path: &Path) -> Vec<String> {
    let svg = fs::read_to_string(path).expect("a picture");
    let document = Document::parse(&svg).expect("well-formed");
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "svg");
    for name in ["width", "height"] {
        assert!(
            root.attribute(name).and_then(|x| x.parse::<f64>().ok()).is_some_and(|x| x > 100.0)
        );
    }
    let numbers = ["x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "width", "height"];
    for node in root.descendants().filter(|node| *node != root) {
        for attribute in node.attributes().filter(|a| numbers.contains(&a.name())) {
            let value = attribute.value();
            let is_number = value == "100%" || value.parse::<f64>().is_ok_and(f64::is_finite);
            assert!(is_number, "{attribute:?}");
        }
    }
    let texts = root.descendants().filter(|node| node.has_tag_name("text") || node.is_element());
    texts.filter_map(|node| node.text()).map(str::to_owned).collect()
}

#[test]
fn cost_is_measured_over_a_range_of_grids() {
    let folder = tempfile::tempdir().expect("a folder");
    let [json, svg] = ["a.json", "a.svg"].map(|name| folder.path().join(name));
    let range = ["--columns-from", "10", "--columns-to", "100", "--runs", "1", "--threads", "2"];
    let files = ["--json", text(&json), "--svg", text(&svg)];
    let table = said(&[&["bench", "scale"], &range[..], &files].concat());
    let rows = rows(&json);
    let (points, findings): (Vec<&Value>, Vec<&Value>) =
        rows.iter().partition(|row| row["bench"] != "scale");
    // 16, 32 and 64 columns, three parts, on one thread and on two.
    assert_eq!((points.len(), findings.len()), (18, 3), "{table}");
    for point in points {
        let columns = point["columns"].as_u64().expect("columns");
        let side = 2_u64.pow(columns.ilog2() / 2);
        assert_eq!(point["grid_or_n"], format!("{}x{side}x27", columns / side), "{point}");
        let ns = point["ns_per_cell"].as_f64().expect("a time");
        let median = point["median_s"].as_f64().expect("a time");
        assert!((ns / (median * 1e9 / (27.0 * columns as f64)) - 1.0).abs() < 1e-9, "{point}");
        // Memory is reported for whole steps.
        assert_eq!(point["host_bytes_per_cell"].is_number(), point["bench"] == "step", "{point}");
        for key in ["date", "cpu", "cores", "input", "version", "commit", "driver"] {
            assert!(point.get(key).is_some(), "{key} of {point}");
        }
    }
    for (finding, part) in findings.iter().zip(["wsm5", "advection", "step"]) {
        assert_eq!(finding["variant"], part);
        let courses = finding["findings"]["courses"].as_array().expect("courses");
        assert_eq!(courses.len(), 2);
        for course in courses {
            let from = course["saturated_from"].as_u64().expect("columns");
            assert!((16..=64).contains(&from) && course["is_flat"].is_boolean(), "{course}");
        }
    }
    assert!(table.contains("ns a cell at best"), "{table}");
    let texts = texts(&svg);
    for part in ["WSM5, a call", "CPU, 2 threads", "columns", "time of a cell, ns"] {
        assert!(texts.iter().any(|found| found == part), "{part}: {texts:?}");
    }
    assert!(texts.iter().any(|found| found.starts_with("bound of the CPU")), "{texts:?}");
}

#[test]
fn ranges_and_pictures_without_sense_are_refused() {
    let scale = |from, to| ["bench", "scale", "--columns-from", from, "--columns-to", to];
    refused(2, &scale("64", "32"), &["--columns-from 64", "no power of two"]);
    refused(2, &scale("2", "32"), &["--columns-from 2", "16"]);
    refused(2, &scale("4K", "8Ki"), &["4K", "4Mi"]);
    refused(2, &["bench", "wsm5", "--svg", "a.svg"], &["--svg", "scale"]);
    refused(3, &["bench", "scale", "--svg", "nowhere/a.svg"], &["nowhere"]);
}

/// A record of a small measurement, and the record of a fictitious other machine.
fn records(folder: &Path) -> [PathBuf; 2] {
    let own = folder.join("own.json");
    let parts = ["bench", "--tile", "8x6", "--runs", "1", "--threads", "2", "--json"];
    said(&[&parts[..], &[text(&own)]].concat());
    let mut rows = rows(&own);
    for row in &mut rows {
        row["cpu"] = "Abacus & Sons".into();
        row["cores"] = 3.into();
        row["date"] = "2001-01-01".into();
        if row["threads"] == 2 {
            row["backend"] = "gpu".into();
            row["device"] = "Loom <12>".into();
            row["driver"] = "1.2.3".into();
            row["threads"] = Value::Null;
            row["timing"] = "graph".into();
        }
    }
    let other = folder.join("other.json");
    fs::write(&other, serde_json::to_string(&rows).expect("JSON")).expect("written");
    [own, other]
}

/// A table and a picture of records by `benches/table.py`, in any version of Python that a machine has.
fn tables(arguments: &[&str]) -> Output {
    let mut table = Command::new("python3");
    table.current_dir(env!("CARGO_MANIFEST_DIR")).arg("benches/table.py").args(arguments);
    table.output().expect("python3 starts")
}

#[test]
fn records_of_two_machines_become_one_table_and_one_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let [own, other] = records(folder.path());
    let svg = folder.path().join("a.svg");
    let found = tables(&["--svg", text(&svg), text(&own), text(&other)]);
    assert!(found.status.success(), "{found:?}");
    let table = String::from_utf8(found.stdout).expect("UTF-8");
    for part in ["| Loom <12> | 1.2.3 |", "Abacus & Sons, 3 cores, 1 thread", "2001-01-01"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    // Four of the microphysics, three of the transport, two of the step, on two platforms of two machines each.
    assert_eq!(table.lines().filter(|line| line.contains(" .. ")).count(), 9 * 4, "{table}");
    let texts = texts(&svg);
    for platform in ["Loom <12>", "Abacus & Sons, 3 cores, 1 thread"] {
        // The microphysics, the transport, the step.
        let count = texts.iter().filter(|found| *found == platform).count();
        assert_eq!(count, 3, "{texts:?}");
    }
}

/// `benches/table.py benches/results/*/*.json`, as in benches/README.md.
#[test]
fn all_records_that_we_keep_become_one_table() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/results");
    let entries = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect()
    };
    let folders = entries(&results).into_iter().filter(|path| path.is_dir());
    let mut files: Vec<PathBuf> = folders.flat_map(|folder| entries(&folder)).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let files: Vec<&str> = files.iter().map(|path| text(path)).collect();
    let found = tables(&files);
    assert!(found.status.success(), "{found:?}");
    let table = String::from_utf8(found.stdout).expect("UTF-8");
    for part in ["NVIDIA H200", "AMD EPYC", "2026-11-21-epyc, 1 thread", "142.5"] {
        assert!(table.contains(part), "{part}: {table}");
    }
}

#[test]
fn what_is_no_record_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.json");
    for record in ["[{\"bench\": \"wsm5\"}", "{\"bench\": 1}", "[1]", "[]"] {
        fs::write(&path, record).expect("written");
        let found = tables(&[text(&path)]);
        assert_eq!(found.status.code(), Some(3), "{record}: {found:?}");
        assert!(String::from_utf8_lossy(&found.stderr).contains("a.json"), "{record}: {found:?}");
    }
    assert_eq!(tables(&["nowhere.json"]).status.code(), Some(3));
    assert_eq!(tables(&[]).status.code(), Some(2));
}

/// A mechanism is looked over as files are.
#[test]
fn mechanisms_are_described() {
    let mut info = program();
    let path = project().join("data/chemistry/radm2.kpp");
    let found = info.env("CUDA_VISIBLE_DEVICES", "").arg("info").arg(&path).output();
    let found = found.expect("the program starts");
    let listing = String::from_utf8_lossy(&found.stdout);
    assert!(found.status.success(), "{found:?}");
    for words in [
        "radm2: 59 variable and 2 fixed species, 156 reactions",
        "entries",
        "21 photolysis frequencies; a clear sky knows all of them",
        "GPU kernels    no GPU here",
        "nwp-mini kernels --mechanism",
    ] {
        assert!(listing.contains(words), "{words}: {listing}");
    }
    refused(3, &["info", "nowhere.kpp"], &["nowhere.kpp"]);
}

/// A device that is not visible does not count, whatever drivers are installed.
#[test]
fn without_a_gpu_there_is_nothing_to_tune() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("tuning.toml");
    let mut tune = program();
    tune.env("CUDA_VISIBLE_DEVICES", "").args(["tune", "--output", text(&output)]);
    let found = tune.output().expect("the program starts");
    let message = String::from_utf8_lossy(&found.stderr);
    assert_eq!(found.status.code(), Some(4), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    // A mechanism is read before anything is measured, and before a device is looked for.
    for parts in [&["tune"][..], &["tune", "chemistry"]] {
        let mechanism = ["--mechanism", "nowhere.kpp"];
        refused(3, &[parts, &mechanism].concat(), &["nowhere.kpp"]);
    }
    refused(2, &["tune", "--dt", "0"], &["--dt 0"]);
    refused(2, &["tune", "--dry-run", "--output", "a"], &["--dry-run", "--output"]);
    for value in ["1", "true", "0", ""] {
        let mut info = program();
        let found = info.env("NWP_NO_TUNING", value).arg("info").output().expect("it starts");
        assert!(found.status.success(), "{value:?}: {found:?}");
    }
}
