//! `nwp-mini bench` as far as it goes without a GPU: options, tables, figures, refusals.

use assert_cmd::Command;
use serde_json::Value;

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

fn bench(options: &[&str]) -> std::process::Output {
    Command::cargo_bin("nwp-mini")
        .expect("built by cargo for this test")
        .current_dir(FOLDER)
        .args(["-q", "bench", "--runs", "1"])
        .args(options)
        .output()
        .expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The design promises these to whoever reads the figures.
const PROMISED: [&str; 12] = [
    "bench",
    "variant",
    "backend",
    "threads",
    "grid_or_n",
    "median_s",
    "min_s",
    "max_s",
    "runs",
    "cells_per_s",
    "gb_per_s",
    "percent_of_copy",
];

#[test]
fn figures_have_what_is_promised() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("bench.json");
    let name = json.to_str().expect("a name in UTF-8");
    let sizes = ["--tile", "9x7", "--tile", "12x5"];
    let output = bench(&[&["all", "--backend", "cpu", "--json", name][..], &sizes].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    assert_eq!(table.matches("% of the columns hold condensate").count(), 2, "{table}");
    let figures: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(&json).expect("written")).expect("JSON");
    for figure in &figures {
        for key in PROMISED {
            assert!(figure.get(key).is_some(), "{key} in {figure}");
        }
        let variant = figure["variant"].as_str().expect("a text");
        let lines = table.lines().filter(|line| line.contains(variant));
        assert!(lines.count() > 0, "{variant} stands in the table: {table}");
    }
    for (part, count) in [("wsm5", 4), ("advection", 3), ("step", 2)] {
        for size in ["9x7x27", "12x5x27"] {
            let is_one =
                |f: &&Value| f["bench"] == part && f["grid_or_n"] == size && f["threads"] == 1;
            assert_eq!(figures.iter().filter(is_one).count(), count, "{part} {size}");
        }
    }
    // Nothing is replaced unasked.
    assert_eq!(bench(&["wsm5", "--backend", "cpu", "--json", name]).status.code(), Some(3));
}

#[test]
fn options_choose_what_is_measured() {
    let count = |options: &[&str]| {
        let output = bench(&[&["--tile", "8x6", "--backend", "cpu"], options].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let table = text(&output.stdout);
        let is_figure = |line: &&str| line.contains("8x6x27 ") && line.contains(" wall ");
        let lines: Vec<&str> = table.lines().filter(is_figure).collect();
        // Every pool of threads measures the same.
        let alone = lines.iter().filter(|line| line.contains(" wall       1 ")).count();
        assert_eq!(lines.len() % alone.max(1), 0, "{table}");
        alone
    };
    assert_eq!(count(&["wsm5", "--fallout", "substepped"]), 2);
    assert_eq!(count(&["advection", "--limiter", "monotonic"]), 1);
    assert_eq!(count(&["advection", "step", "--limiter", "none"]), 3);
    assert_eq!(count(&["all", "--dense"]), 4, "dense columns have no winds");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    for (options, code, words) in [
        (&["advection", "--dense"][..], 2, "--dense takes columns out of their winds"),
        (&["wsm5", "--group", "storm"], 3, "has no group storm"),
        (&["wsm5", "--tracers", "0"], 2, "1..=1000"),
        (&["wsm5", "--mapping", "row"], 2, "possible values: column, tile, auto"),
        (&["wsm5", "--dt", "0"], 2, "give a positive number"),
        (&["advection", "--dt", "5000", "--backend", "cpu"], 2, "the longest time step"),
    ] {
        let output = bench(options);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{options:?}: {message}");
        assert!(message.contains(words), "{options:?}: {message}");
    }
}

/// A driver is looked for where the system has its libraries; a device that cannot be seen is none.
#[test]
fn without_a_gpu_the_cpu_is_measured_or_nothing() {
    let with = |backend: &str| {
        Command::cargo_bin("nwp-mini")
            .expect("built by cargo for this test")
            .current_dir(FOLDER)
            .env("CUDA_VISIBLE_DEVICES", "")
            .args(["-q", "bench", "wsm5", "--runs", "1", "--tile", "8x6", "--backend", backend])
            .output()
            .expect("it starts")
    };
    for backend in ["gpu", "both"] {
        let output = with(backend);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert_eq!(text(&output.stdout), "");
    }
    let output = with("auto");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("surface outputs"));
}
