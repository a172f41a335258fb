//! Settings measured on the GPU: found, used by later runs, and ignored where they do not apply.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use nwp_mini::advection::Limiter;
use nwp_mini::device::Gpu;
use nwp_mini::device::tuning::{Choice, Tuning};
use nwp_mini::gpu::tuning::{Knob, KnobSetting};
use nwp_mini::physics::registry;
use nwp_mini::real::Precision;
use serde_json::Value;

use crate::support;
use crate::{IT_MEASURES, gpu, project, real_gpu};

/// Runs the program with its own cache folder.
fn run(cache: &Path, arguments: &[&str]) -> Output {
    let mut program = Command::new(support::program());
    program.current_dir(project()).env("XDG_CACHE_HOME", cache).args(arguments);
    program.output().expect("it starts")
}

/// Standard output and standard error of the program.
fn said(cache: &Path, arguments: &[&str]) -> [String; 2] {
    let output = run(cache, arguments);
    let texts =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{texts:?}");
    texts
}

/// The file of the GPU below a cache folder.
fn file_of(gpu: &Gpu, cache: &Path) -> std::path::PathBuf {
    let path = Tuning::path(&gpu.device().name).expect("a user with a cache folder");
    let folder = cache.join("nwp-mini/tuning");
    fs::create_dir_all(&folder).expect("a folder");
    folder.join(path.file_name().expect("a name"))
}

const STEP: [&str; 12] = [
    "bench",
    "step",
    "--backend",
    "gpu",
    "--fallout",
    "semi-lagrangian",
    "--tile",
    "24x18",
    "--runs",
    "1",
    "--dt",
    "60",
];

/// The mapping of columns of the usual scheme.
fn usual_columns() -> Knob {
    Knob::Columns(registry::usual())
}

#[test]
fn what_was_measured_is_used_unless_it_is_stale() {
    let Some(gpu) = real_gpu(true, IT_MEASURES) else { return };
    let cache = tempfile::tempdir().unwrap();
    let path = file_of(&gpu, cache.path());
    let mut tuning = Tuning::empty(&gpu.device().name);
    tuning.replace(vec![Choice {
        knob: usual_columns().name().to_owned(),
        precision: "f32".to_owned(),
        nz: 27,
        from_columns: 1,
        setting: "tile columns=4 threads=160 blocks=3".to_owned(),
        measured_on: 4118,
        us: 1.0,
        built_in_us: 2.0,
        date: "2026-11-21".to_owned(),
    }]);
    fs::write(&path, tuning.text()).unwrap();
    let is_tuned = |text: &str| text.contains("tile C4 NT160 B3");
    let [table, log] = said(cache.path(), &STEP);
    assert!(is_tuned(&table) && !log.contains("built-in"), "{table}{log}");
    let [about, _] = said(cache.path(), &["info"]);
    assert!(about.contains("tile columns=4 threads=160 blocks=3"), "{about}");
    let [table, _] = said(cache.path(), &[&STEP[..], &["--no-tuning"]].concat());
    assert!(!is_tuned(&table), "{table}");
    let stale = Tuning { kernels: "0".to_owned(), ..tuning.clone() }.text();
    for (text, word) in [(stale, "the kernels have changed"), ("[[[".to_owned(), "damaged")] {
        fs::write(&path, text).unwrap();
        let [table, log] = said(cache.path(), &STEP);
        assert!(!is_tuned(&table), "{table}");
        let warnings: Vec<&str> = log.lines().filter(|line| line.contains("WARN")).collect();
        assert_eq!(warnings.len(), 1, "{log}");
        assert!(warnings[0].contains(word) && warnings[0].contains("nwp-mini tune"), "{log}");
        let [about, _] = said(cache.path(), &["info"]);
        assert!(about.contains("settings       built in") && about.contains(word), "{about}");
    }
}

/// A mechanism's kernels are measured, and the fastest are used.
#[test]
fn mechanisms_have_kernels_as_measured() {
    const MECHANISM: &str = "data/chemistry/small_strato.kpp";
    let Some(gpu) = real_gpu(true, IT_MEASURES) else { return };
    let cache = tempfile::tempdir().unwrap();
    let path = file_of(&gpu, cache.path());
    let [table, _] =
        said(cache.path(), &["tune", "chemistry", "--mechanism", MECHANISM, "--runs", "3"]);
    println!("{table}");
    assert!(table.contains("(built in)") && !table.contains("skipped"), "{table}");
    let load = || Tuning::load(&path, &gpu.device().name, Knob::is_possible).unwrap();
    let tuning = load().expect("a file");
    // For all numbers of cells, or for few and for many.
    assert!((1..=2).contains(&tuning.choices.len()), "{tuning:?}");
    assert!(tuning.choices.iter().all(|choice| choice.us <= choice.built_in_us), "{tuning:?}");

    let cells = cache.path().join("cells.nc");
    let mut file = netcdf::create(&cells).expect("a file");
    file.add_dimension("cell", 5).expect("a dimension");
    for (name, value) in [("temp", 240.0), ("cfactor", 1e-6), ("tstart", 43_200.0)] {
        let mut variable = file.add_variable::<f64>(name, &["cell"]).expect("a variable");
        variable.put_values(&[value; 5], ..).expect("values");
    }
    drop(file);
    let output = cache.path().join("out.nc");
    let [cells, output] = [&cells, &output].map(|path| path.to_str().expect("UTF-8"));
    let solved = ["chemistry", "--mechanism", MECHANISM, "--input", cells, "--output", output];
    let solved = [&solved[..], &["--force", "--backend", "gpu"]].concat();
    for form in ["thread", "straight 32x2"] {
        let mut other = tuning.clone();
        for choice in &mut other.choices {
            form.clone_into(&mut choice.setting);
        }
        fs::write(&path, other.text()).unwrap();
        let [table, log] = said(cache.path(), &solved);
        assert!(table.contains(&format!("(GPU, {form})")), "{table}{log}");
        let [about, _] = said(cache.path(), &["info", MECHANISM]);
        assert!(about.contains(&format!("{form}, factors in f64")), "{about}");
        assert!(about.contains("(measured)") && !about.contains("(built in)"), "{about}");
    }
}

/// Compiles every candidate: half a minute and more.
#[test]
#[ignore = "compiles all candidates"]
fn settings_are_measured_kept_and_used() {
    let Some(gpu) = gpu(true) else { return };
    let cache = tempfile::tempdir().unwrap();
    let path = file_of(&gpu, cache.path());
    let tune = [
        "tune",
        "wsm5",
        "--small",
        "24x18",
        "--large",
        "128x128",
        "--fallout",
        "semi-lagrangian",
        "--runs",
        "5",
    ];
    let [dry, _] = said(cache.path(), &[&tune[..], &["--dry-run"]].concat());
    assert!(dry.contains("no settings are written") && !path.exists(), "{dry}");
    let json = cache.path().join("trials.json");
    let [table, _] = said(cache.path(), &[&tune[..], &["--json", json.to_str().unwrap()]].concat());
    println!("{table}");
    let trials: Vec<Value> = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    assert!(trials.len() > 20 && trials.iter().any(|trial| trial["is_built_in"] == true));
    let tuning =
        Tuning::load(&path, &gpu.device().name, Knob::is_possible).unwrap().expect("a file");
    assert!((1..=2).contains(&tuning.choices.len()), "{tuning:?}");
    for choice in &tuning.choices {
        assert!(choice.us <= choice.built_in_us, "{choice:?}");
    }
    let [about, _] = said(cache.path(), &["info"]);
    assert!(about.contains(&tuning.choices[0].setting), "{about}");

    let march = ["tune", "advection", "--small", "24x18", "--large", "128x128", "--runs", "5"];
    println!("{}", said(cache.path(), &march)[0]);
    let both = Tuning::load(&path, &gpu.device().name, Knob::is_possible).unwrap().expect("a file");
    let is_march = |choice: &&Choice| choice.knob == Knob::Transport.name();
    let marches: Vec<&Choice> = both.choices.iter().filter(is_march).collect();
    assert!((1..=2).contains(&marches.len()), "{both:?}");
    assert!(marches.iter().all(|choice| choice.us <= choice.built_in_us), "{marches:?}");
    assert_eq!(both.choices.len(), tuning.choices.len() + marches.len(), "what was kept stays");
}

/// A run uses the measured configuration of the march, and gives the same bits with it.
#[test]
fn the_transport_marches_as_measured() {
    let Some(gpu) = gpu(true) else { return };
    let cache = tempfile::tempdir().unwrap();
    let storm = crate::storm_file().display().to_string();
    let run = |name: &str| {
        let output = cache.path().join(name);
        let path = output.to_str().expect("a path in UTF-8");
        let on_gpu = ["run", "--input", &storm, "--backend", "gpu", "--no-compare"];
        let steps = ["--steps", "3", "--dt", "60", "--output", path];
        let [_, log] = said(cache.path(), &[&on_gpu[..], &steps].concat());
        assert!(!log.contains("built-in"), "{log}");
        let file = netcdf::open(&output).expect("the output");
        let rain = file.variable("QRAIN").expect("rain");
        rain.get_values::<f32, _>(..).expect("values")
    };
    let built_in = run("built-in.nc");
    let mut tuning = Tuning::empty(&gpu.device().name);
    tuning.replace(vec![Choice {
        knob: Knob::Transport.name().to_owned(),
        precision: "f32".to_owned(),
        nz: 27,
        from_columns: 1,
        setting: "march cells=2 stages=6 limited=4 levels=5 tiles=no".to_owned(),
        measured_on: 4118,
        us: 1.0,
        built_in_us: 2.0,
        date: "2026-11-22".to_owned(),
    }]);
    fs::write(file_of(&gpu, cache.path()), tuning.text()).unwrap();
    assert!(run("measured.nc") == built_in);
    if real_gpu(true, IT_MEASURES).is_none() {
        return;
    }
    let bench = ["bench", "advection", "--backend", "gpu", "--limiter", "pd", "--runs", "1"];
    let bench = [&bench[..], &["--tile", "71x58"]].concat();
    let [table, _] = said(cache.path(), &bench);
    assert!(table.contains("6 blocks = 24 warps"), "{table}");
}

#[test]
fn cost_is_measured_over_a_range_of_grids() {
    if real_gpu(true, IT_MEASURES).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [json, svg] = ["a.json", "a.svg"].map(|name| folder.path().join(name));
    let output = Command::new(support::program())
        .current_dir(project())
        .args(["-q", "bench", "scale", "--backend", "both", "--runs", "2", "--no-tuning"])
        .args(["--columns-from", "256", "--columns-to", "1Ki"])
        .args(["--json".as_ref(), json.as_os_str(), "--svg".as_ref(), svg.as_os_str()])
        .output()
        .expect("it starts");
    let table = String::from_utf8_lossy(&output.stdout);
    println!("{table}");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows: Vec<Value> = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let on_gpu: Vec<&Value> = rows.iter().filter(|row| row["backend"] == "gpu").collect();
    // Three sizes: three mappings, one transport, one step.
    assert_eq!(on_gpu.len(), 3 * 5, "{table}");
    for row in on_gpu {
        assert_eq!(row["device_bytes_per_cell"].is_number(), row["bench"] == "step", "{row}");
    }
    let findings: Vec<&Value> = rows.iter().filter(|row| row["bench"] == "scale").collect();
    assert_eq!(findings.len(), 3);
    for finding in findings {
        let crossovers = finding["findings"]["crossovers"].as_array().expect("a list");
        assert!(!crossovers.is_empty(), "{finding}");
    }
    assert!(fs::read_to_string(svg).unwrap().contains("bound of the GPU"));
}

/// The compiler takes every candidate, and few of them spill registers.
#[test]
#[ignore = "compiles for minutes"]
fn candidates_compile() {
    use nwp_mini::advection::gpu::transport;
    use nwp_mini::advection::gpu::{DeviceLimits, LaunchConfig, TransportSettings};
    use nwp_mini::device::{Architecture, Compiler, ptxas_reports};
    use nwp_mini::grid::gpu::Layout;
    use nwp_mini::grid::{Grid, Shape, Side, Sides};
    use nwp_mini::physics::device::DeviceGrid;
    use nwp_mini::state::gpu::device_fields::ActiveColumns;
    use rayon::prelude::*;
    let source = |knob: &Knob, setting: &KnobSetting| match (knob, setting) {
        (Knob::Columns(scheme), KnobSetting::Columns(mapping)) => {
            // Too few columns for a kernel of their own region.
            let shape = Shape { nx: 16, ny: 16, nz: 27 };
            let (layout, inside) = (Layout::tight(shape), ActiveColumns::all(shape));
            let at = DeviceGrid { layout, inside, is_divided: false, mapping: Some(mapping) };
            scheme.sources(Precision::F32, &at).remove(0)
        }
        (_, KnobSetting::Transport(march)) => {
            let shape = Shape { nx: 71, ny: 58, nz: 27 };
            let sides = Sides::all(Side::Specified);
            let grid = Grid::whole(shape, [1.0; 2], sides);
            let offer = DeviceLimits { multiprocessors: 132, shared_bytes: 227 << 10 };
            let launch_config = LaunchConfig::of(*march, &grid, 6, offer, Precision::F32);
            let limiter = Limiter::PositiveDefinite;
            let settings = TransportSettings {
                tracers: 6,
                unlimited: 1,
                limiter,
                zero_gradient: false,
                launch_config,
            };
            transport::source(Precision::F32, &grid, settings)
        }
        other => panic!("{other:?}"),
    };
    let place = std::env::var_os("NWP_NVRTC").map(std::path::PathBuf::from);
    let compiler = Compiler::find(place.as_deref(), true).1.expect("NVRTC");
    for knob in &Knob::all() {
        let all = knob.candidates(Precision::F32, 27);
        let spills: Vec<String> = all
            .par_iter()
            .filter_map(|setting| {
                let source = source(knob, setting);
                let found = ptxas_reports(&compiler, &source, Architecture(90));
                let receipt = found.unwrap_or_else(|error| panic!("{setting}: {error}")).remove(0);
                (receipt.spill_bytes > 0).then(|| format!("{setting}: {receipt:?}"))
            })
            .collect();
        assert!(2 * spills.len() < all.len(), "{spills:#?}");
    }
}
