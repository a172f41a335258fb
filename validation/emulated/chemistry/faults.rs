//! The tester tested: without any one of its barriers, and with a coefficient that is off by one per cent, the kernel
//! gives other results, or does not end.

use std::fs;
use std::path::{Path, PathBuf};

use nwp_mini::chemistry::gpu::ThreadMapping;
use nwp_mini::chemistry::rosenbrock::Method;
use nwp_mini_support::chemistry::Case;

use super::host::{Circumstances, Emulated};
use super::{findings, some};

/// Orders of the threads that are tried.
const SEEDS: u64 = 8;
const FILES: [&str; 4] = ["kinetics.cuh", "rosenbrock.cu", "sparse_lu.cuh", "step.cuh"];
const BARRIERS: [&str; 2] = ["wait_for_workers();", "__syncthreads();"];

/// Copies of the kernels without one barrier each, and the description of that barrier.
fn without_barriers() -> Vec<(String, PathBuf)> {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/chemistry");
    let mut copies = Vec::new();
    for file in FILES {
        let text = fs::read_to_string(kernels.join(file)).expect("the file is there");
        let all = BARRIERS.iter().flat_map(|barrier| text.match_indices(barrier));
        for (at, barrier) in all {
            let line = text[..at].matches('\n').count() + 1;
            let name = format!("chemistry_without_{file}_{line}");
            let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).join("chemistry");
            fs::create_dir_all(&copy).expect("the folder can be made");
            for entry in fs::read_dir(&kernels).expect("the folder is there") {
                let entry = entry.expect("the entry can be read");
                fs::copy(entry.path(), copy.join(entry.file_name())).expect("it can be copied");
            }
            let broken = format!("{};{}", &text[..at], &text[at + barrier.len()..]);
            fs::write(copy.join(file), broken).expect("the copy can be written");
            let folder = copy.parent().expect("a folder").to_owned();
            copies.push((format!("{file}:{line}"), folder));
        }
    }
    copies
}

#[test]
fn every_barrier_is_missed() {
    let case = Case::named("saprc99");
    let copies = without_barriers();
    assert_eq!(copies.len(), 8, "{copies:?}");
    // Two workers for each cell at least, of different warps, and more cells than places. Rates that follow the sun
    // pass through all of the text.
    let form = ThreadMapping {
        cells: 32,
        workers: 3,
        shared_bytes: 1 << 15,
        resident: 1,
        is_straight: false,
    };
    let mut run = case.run("na", "ros3_600").expect("the run is there");
    // Wrong kernels may take very many steps.
    run.settings.interval = 1e-3;
    let cells = some(&case, 40);
    for (number, (what, kernels)) in copies.iter().enumerate() {
        let label = format!("without-{number}");
        let program = Emulated::with(&label, &case.kinetics, &run.settings, form, Some(kernels));
        let is_noticed = (0..SEEDS).any(|seed| {
            let circumstances = Circumstances { seed, blocks: 1, order: None };
            match program.attempt(&run.settings, &cells, &circumstances) {
                Ok(result) => !findings(&case.kinetics, &run.settings, &cells, &result).is_empty(),
                Err(_) => true,
            }
        });
        assert!(is_noticed, "nothing is wrong without {what}");
    }
}

/// Access to a coefficient.
type Reach = fn(&mut Method) -> &mut f64;

#[test]
fn wrong_coefficients_are_noticed() {
    let case = Case::named("small_strato");
    let run = case.run("au", "ros3_600").expect("the run is there");
    let cells = some(&case, 5);
    let form =
        ThreadMapping { cells: 8, workers: 2, shared_bytes: 0, resident: 1, is_straight: false };
    let wrong: [(&str, Reach); 5] = [
        ("a", |method| &mut method.a[0]),
        ("c", |method| &mut method.c[1]),
        ("m", |method| &mut method.m[2]),
        ("e", |method| &mut method.e[1]),
        ("gamma", |method| &mut method.gamma[0]),
    ];
    for (name, reach) in wrong {
        let mut settings = run.settings;
        *reach(&mut settings.method) *= 1.01;
        let program = Emulated::new(&format!("wrong-{name}"), &case.kinetics, &settings, form);
        let circumstances = Circumstances { seed: 1, blocks: 1, order: None };
        let result = program.attempt(&settings, &cells, &circumstances).unwrap();
        let lines = findings(&case.kinetics, &run.settings, &cells, &result);
        assert!(!lines.is_empty(), "{name} may be wrong unnoticed");
    }
}
