//! The emulator detects errors of synchronisation: without any one of its barriers, a kernel gives other results,
//! results that depend on the order of the threads, or does not end.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use nwp_mini::wsm5::Sedimentation;
use nwp_mini::wsm5::gpu::{Mapping, Tile};

use super::against_cpu::scheme;
use super::columns::columns;
use super::difference::named;
use super::engine::EmulatedWsm5;
use super::weather::{Region, Weather};

const LEVELS: usize = 27;
/// Of two minor steps, s.
const DT: f64 = 200.0;
/// Orders of the threads that are tried.
const SEEDS: u64 = 12;

const TILES: [Tile; 2] =
    [Tile { columns: 8, threads: 256, blocks: 1 }, Tile { columns: 8, threads: 128, blocks: 1 }];

/// Copies of the kernels without one barrier each, and the description of that barrier.
///
/// Barriers with a comment on their line only order memory accesses on a device, where shuffles already keep the
/// threads in order; the emulator does not model that difference.
fn without_barriers() -> Vec<(String, PathBuf)> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut copies = Vec::new();
    for (file, barrier) in
        [("tile.cu", "__syncthreads();\n"), ("tile/sedimentation.cuh", "__syncwarp();\n")]
    {
        let text = fs::read_to_string(project.join("kernels/wsm5").join(file)).unwrap();
        for (number, (at, _)) in text.match_indices(barrier).enumerate() {
            let copy = Path::new(env!("CARGO_TARGET_TMPDIR"))
                .join(format!("without_{}_{number}", file.replace('/', "_")));
            copy_tree(&project.join("kernels"), &copy);
            let broken = format!("{}{}", &text[..at], &text[at + barrier.len()..]);
            fs::write(copy.join("wsm5").join(file), broken).unwrap();
            let line = text[..at].matches('\n').count() + 1;
            copies.push((format!("{file}:{line} {}", barrier.trim()), copy));
        }
    }
    copies
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Description of a fault of a kernel, found by trying orders of the threads.
fn fault(
    name: &str,
    kernels: &Path,
    tile: Tile,
    expected: &Weather<f32>,
    before: &Weather<f32>,
) -> Option<String> {
    let p = scheme::<f32>(Sedimentation::SemiLagrangian);
    let include = format!("-I{}", kernels.display());
    let engine =
        EmulatedWsm5::compile_with(&p, LEVELS, Mapping::Tile(tile), name, &[include.as_str()]);
    let region = Region::whole(before.shape());
    let bits = |weather: &Weather<f32>| -> Vec<u32> {
        named(weather)
            .iter()
            .flat_map(|(_, field)| field.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            .collect()
    };
    let expected = bits(expected);
    for seed in 0..SEEDS {
        let mut weather = before.clone();
        if let Err(why) = engine.attempt(&p, DT as f32, &mut weather, &region, seed) {
            return Some(why.lines().next().unwrap_or_default().to_owned());
        }
        let found = bits(&weather);
        if expected != found {
            return Some(format!("other results with seed {seed}"));
        }
    }
    None
}

#[test]
fn every_barrier_is_missed() {
    let before = Weather::<f32>::of(&columns(LEVELS, 40), 1, 300.0);
    let p = scheme::<f32>(Sedimentation::SemiLagrangian);
    let expected = TILES.map(|tile| {
        let whole = EmulatedWsm5::compile_with(&p, LEVELS, Mapping::Tile(tile), "_whole", &[]);
        let mut expected = before.clone();
        whole.call(&p, DT as f32, &mut expected, &Region::whole(before.shape()), 99);
        expected
    });

    let copies = without_barriers();
    assert!(copies.len() > 6, "{copies:?}");
    let unnoticed: Vec<String> = copies
        .into_par_iter()
        .enumerate()
        .filter_map(|(number, (what, kernels))| {
            let name = format!("_without_{number}");
            let mut kinds = TILES.into_iter().zip(&expected);
            match kinds.find_map(|(tile, expected)| fault(&name, &kernels, tile, expected, &before))
            {
                Some(how) => {
                    println!("without {what}: {how}");
                    None
                }
                None => Some(what),
            }
        })
        .collect();
    assert!(unnoticed.is_empty(), "nothing is wrong without {unnoticed:#?}");
}
