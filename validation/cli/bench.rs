//! `nwp-mini bench`: the measured quantities and their subjects, as far as that needs no GPU.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn bench(folder: &Path, arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_nwp-mini"));
    program.current_dir(env!("CARGO_MANIFEST_DIR")).env("NWP_BACKEND", "cpu");
    program.args(["-q", "bench", "--runs", "1", "--force"]);
    program.arg("--json").arg(folder.join("bench.json")).args(arguments);
    program.output().expect("the program starts")
}

fn figures(arguments: &[&str]) -> (String, Vec<Value>) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = bench(folder.path(), arguments);
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(folder.path().join("bench.json")).expect("figures");
    let figures: Value = serde_json::from_str(&text).expect("JSON");
    let table = String::from_utf8(output.stdout).expect("UTF-8");
    (table, figures.as_array().expect("a list").clone())
}

fn refused(arguments: &[&str], words: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = bench(folder.path(), arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    for word in words {
        assert!(said.contains(word), "{word:?} in {said:?}");
    }
}

fn number(figure: &Value, name: &str) -> f64 {
    figure[name].as_f64().unwrap_or_else(|| panic!("{name} in {figure}"))
}

/// Figures that users can rely on.
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
fn figures_belong_together() {
    let (table, figures) = figures(&["--threads", "2"]);
    assert!(table.contains("of the columns hold condensate, rain"), "{table}");
    // Four of the microphysics, three of the transport, two of the step, on one thread and two.
    assert_eq!(figures.len(), 18);
    for figure in &figures {
        let cells = 71.0 * 58.0 * 27.0;
        let median = number(figure, "median_s");
        assert!(number(figure, "min_s") <= median && median <= number(figure, "max_s"));
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(near(number(figure, "cells_per_s"), cells / median), "{figure}");
        assert!(near(number(figure, "gb_per_s"), number(figure, "bytes") / median / 1e9));
        assert!(number(figure, "percent_of_copy") > 0.0);
        assert_eq!(figure["grid_or_n"], "71x58x27");
        assert_eq!(figure["backend"], "cpu");
        for key in PROMISED {
            assert!(figure.get(key).is_some(), "{key} in {figure}");
        }
    }
    // 16 fields of four bytes; q or q and its start, one written and three winds, thrice.
    let cells = 71.0 * 58.0 * 27.0;
    assert!((number(&figures[0], "bytes") - 64.0 * cells).abs() < 0.5);
    let tracer = figures.iter().find(|figure| figure["bench"] == "advection").expect("a tracer");
    assert!((number(tracer, "bytes") - 68.0 * cells).abs() < 0.5);
}

/// Tiles of any size, smaller and larger than the input and off its multiples.
#[test]
fn columns_are_repeated_on_any_grid() {
    let tiles = ["--tile", "9x5", "--tile", "71x58", "--tile", "150x61"];
    let (table, figures) = figures(&[&["step", "--threads", "1"], &tiles[..]].concat());
    let grids: Vec<&str> =
        figures.iter().filter_map(|figure| figure["grid_or_n"].as_str()).collect();
    let wanted = ["9x5x27", "9x5x27", "71x58x27", "71x58x27", "150x61x27", "150x61x27"];
    assert_eq!(grids, wanted);
    // The input's own size has the input's own share of clouds.
    let share = |grid: &str| {
        let line = table.lines().find(|line| line.contains(&format!("on {grid},")));
        line.and_then(|line| line.split_once("runs; ")).expect("a share").1.to_owned()
    };
    let (whole, _) = self::figures(&["step", "--threads", "1"]);
    assert!(whole.contains(&share("71x58x27")), "{whole} {table}");
}

#[test]
fn a_file_of_columns_can_be_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("columns.nc");
    let mut file = netcdf::create(&path).expect("a file");
    file.add_dimension("level", 5).expect("levels");
    file.add_dimension("column", 3).expect("columns");
    let values = [
        ("th", 300.0_f32),
        ("q", 0.01),
        ("qc", 1e-3),
        ("qr", 1e-3),
        ("qi", 0.0),
        ("qs", 0.0),
        ("den", 1.1),
        ("pii", 0.97),
        ("p", 9e4),
        ("delz", 300.0),
    ];
    for (name, value) in values {
        let mut variable = file.add_variable::<f32>(name, &["level", "column"]).expect(name);
        variable.put_values(&[value; 15], ..).expect(name);
    }
    file.close().expect("written");
    let input = path.to_str().expect("UTF-8");
    let (table, figures) = figures(&["wsm5", "--input", input, "--tile", "8x6", "--threads", "1"]);
    assert_eq!(figures.len(), 4);
    assert_eq!(figures[0]["grid_or_n"], "8x6x5");
    assert!(table.contains("100 % of the columns hold condensate, rain 100 %"), "{table}");
    refused(&["step", "--input", input], &["columns.nc", "without winds", "step"]);
    let of_kessler = ["physics", "--physics", "kessler", "--tile", "8x6"];
    let fallout = ["--fallout", "substepped"];
    refused(&[&of_kessler[..], &fallout].concat(), &["--fallout applies to WSM5 only"]);
    let mapping = ["--mapping", "column"];
    refused(&[&of_kessler[..], &mapping].concat(), &["--mapping column applies to WSM5 only"]);
    refused(&["step", "--dense"], &["--dense selects columns, without winds", "step"]);
}

#[test]
fn options_choose_what_is_measured() {
    let count = |options: &[&str]| {
        figures(&[&["--tile", "8x6", "--threads", "1"], options].concat())
            .1
            .iter()
            .filter(|figure| figure["threads"] == 1)
            .count()
    };
    let all = count(&["wsm5", "advection", "step"]);
    let per_pool = all / 9;
    assert_eq!(all % 9, 0);
    for (options, wanted) in [
        (&["wsm5", "--fallout", "substepped"][..], 2),
        (&["physics"], 4),
        (&["physics", "--physics", "kessler"], 2),
        (&["step", "--physics", "kessler"], 1),
        (&["advection", "--limiter", "monotonic"], 1),
        (&["advection", "step", "--limiter", "none"], 3),
        // Columns without the dry ones have no winds.
        (&["--dense"], 4),
    ] {
        assert_eq!(count(options), wanted * per_pool, "{options:?}");
    }
}

/// The sums of the ladders, in all types, on the CPU.
#[test]
fn ladders_have_lines_of_the_cpu() {
    for (options, kind, width) in [
        (&["--precision", "f32"][..], "f32", 4.0),
        (&["--precision", "f64"], "f64", 8.0),
        (&["--integers"], "i32", 4.0),
    ] {
        let sizes = ["reduce", "--elements", "1", "--elements", "100001", "--threads", "2"];
        let (table, figures) = figures(&[&sizes[..], options].concat());
        assert!(table.contains(&format!("sum of 100001 values of {kind}")), "{table}");
        assert_eq!(figures.len(), 4, "two sizes, on one thread and on two");
        for figure in &figures {
            assert_eq!((&figure["bench"], &figure["is_right"]), (&"reduce".into(), &true.into()));
            for key in PROMISED {
                assert!(figure.get(key).is_some(), "{key} in {figure}");
            }
            let elements: f64 = figure["grid_or_n"].as_str().unwrap().parse().unwrap();
            assert_eq!(number(figure, "bytes"), width * elements, "{figure}");
            let (median, speed) = (number(figure, "median_s"), number(figure, "gb_per_s"));
            assert!((speed * median * 1e9 / (width * elements) - 1.0).abs() < 1e-9, "{figure}");
        }
    }
    let (table, figures) = figures(&["memory"]);
    assert!(table.contains("without a GPU there is nothing to measure") && figures.is_empty());
    refused(&["reduce", "--elements", "4M"], &["4M", "4Mi"]);
    refused(&["reduce", "--elements", "0"], &["expected 1 or more"]);
}

/// A device that is not visible does not count, whatever drivers are installed.
#[test]
fn without_a_gpu_the_cpu_is_measured_or_nothing() {
    let with = |backend: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_nwp-mini"));
        program.current_dir(env!("CARGO_MANIFEST_DIR")).env("CUDA_VISIBLE_DEVICES", "");
        program.args(["-q", "bench", "wsm5", "--runs", "1", "--tile", "8x6", "--backend", backend]);
        program.output().expect("the program starts")
    };
    for backend in ["gpu", "both"] {
        let output = with(backend);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(output.stdout.is_empty());
    }
    let output = with("auto");
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("surface outputs"));
}

#[test]
fn what_cannot_be_measured_is_refused() {
    refused(&["--tile", "1024"], &["1024", "1024x1024"]);
    refused(&["--tile", "3x1024"], &["3x1024", "from 4"]);
    refused(&["step", "--dt", "5000"], &["--dt 5000", "longest time step"]);
    refused(&["--dt", "0"], &["--dt 0"]);
    refused(&["--tracers", "0"], &["1..=1000"]);
    refused(&["--mapping", "row"], &["row", "column", "tile", "auto"]);
}

#[test]
fn transposes_are_measured_and_checked() {
    let (table, figures) =
        figures(&["transpose", "--extent", "300x200", "--extent", "6x27x4118", "--threads", "2"]);
    assert!(table.contains("transpose of 6x27x4118 values of f32"), "{table}");
    // On one thread and on two.
    assert_eq!(figures.len(), 4, "{table}");
    for figure in &figures {
        assert!(figure["bench"] == "transpose" && figure["is_right"] == true, "{figure}");
        assert!(number(figure, "gb_per_s") > 0.0);
    }
    assert_eq!(number(&figures[0], "bytes"), 2.0 * 4.0 * 300.0 * 200.0);
    refused(&["transpose", "--extent", "300"], &["\"300\" is not an extent", "4000x3000"]);
}

#[test]
fn sparse_products_are_measured_and_checked() {
    let (table, figures) =
        figures(&["csr", "--matrix", "interpolation", "--precision", "f64", "--threads", "1"]);
    let sizes: Vec<&str> = figures.iter().filter_map(|f| f["grid_or_n"].as_str()).collect();
    assert_eq!(sizes, ["interpolation", "interpolation x8", "interpolation transposed"], "{table}");
    for figure in &figures {
        assert!(figure["bench"] == "csr" && figure["is_right"] == true, "{figure}");
    }
    refused(&["csr", "--matrix", "stencil"], &["stencil-7", "stencil-27"]);
}

#[test]
fn steps_on_several_gpus_are_of_the_part_scale() {
    for (options, words) in [
        (
            &["step", "--gpus", "2"][..],
            &["--gpus is of the part scale by itself", "bench scale --gpus"][..],
        ),
        (&["--gpus", "1"], &["--gpus is of the part scale"]),
        (&["scale", "step", "--gpus", "1"], &["--gpus is of the part scale"]),
        (&["step", "--strong", "64x64"], &["--strong is of the part scale"]),
        (&["scale", "--gpus", "1", "--backend", "cpu"], &["--gpus measures steps on GPUs alone"]),
        (&["scale", "--gpus", "1", "--backend", "both"], &["--gpus measures steps on GPUs alone"]),
        (&["scale", "--weak", "64x64"], &["--weak measures steps on GPUs alone", "give --gpus"]),
        (
            &["scale", "--gpus", "1", "--backend", "gpu", "--svg", "scale.svg"],
            &["--gpus prints a table", "--svg"],
        ),
        (&["scale", "--gpus", "1,0"], &["--gpus", "1..="]),
        (&["scale", "--gpus", "1", "--strong", "3x64"], &["3x64", "from 4"]),
    ] {
        refused(options, words);
    }
}

/// The process that was started tells it, and the one that started it nothing more.
#[test]
fn scale_over_gpus_without_a_gpu_fails_with_one_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut program = Command::new(env!("CARGO_BIN_EXE_nwp-mini"));
    program.current_dir(env!("CARGO_MANIFEST_DIR")).env("CUDA_VISIBLE_DEVICES", "");
    program.env_remove("NWP_BACKEND").args(["-q", "bench", "scale", "--gpus", "1", "--json"]);
    let output = program.arg(folder.path().join("gpus.json")).output().expect("it starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains("the GPU cannot be used"), "{message}");
    assert!(output.stdout.is_empty(), "{output:?}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
}
