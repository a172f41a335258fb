//! The tests detect errors of synchronisation: without any one of its barriers, a version gives other sums, or sums
//! that depend on the order of the threads.

use std::fs;
use std::path::{Path, PathBuf};

use nwp_mini::device::KernelSource;
use nwp_mini::primitives::gpu::reduce::ladder::{self, LadderArrays, RUNGS, THREADS, scratch};
use nwp_mini::primitives::gpu::reduce::{Operation, source};
use nwp_mini::primitives::reduce::{self, Segments};
use rayon::prelude::*;

use super::host::{Memory, program, taken};
use super::random::Random;
use super::segments::{SHAPE, reduced};
use super::whole;

/// Orders of the threads that are tried.
const SEEDS: u64 = 12;
const LENGTH: usize = 5000;
const FOLDER: &str = "kernels/primitives";

/// Copies of the kernels without one barrier each, and the description of that barrier.
fn without_barriers(file: &str) -> Vec<(String, PathBuf)> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(project.join(FOLDER).join(file)).unwrap();
    let barriers = ["__syncthreads();\n", "__syncwarp();\n"];
    let places = barriers.iter().flat_map(|barrier| {
        text.match_indices(barrier).map(|(at, _)| (at, *barrier)).collect::<Vec<_>>()
    });
    places
        .enumerate()
        .map(|(number, (at, barrier))| {
            let name = format!("reduce_{}_{number}", file.replace(['/', '.'], "_"));
            let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
            for part in ["reduce.cu", "reduce/element.cuh", "reduce/operations.cuh", file] {
                let target = copy.join("primitives").join(part);
                fs::create_dir_all(target.parent().unwrap()).unwrap();
                fs::copy(project.join(FOLDER).join(part), target).unwrap();
            }
            let broken = format!("{}{}", &text[..at], &text[at + barrier.len()..]);
            fs::write(copy.join("primitives").join(file), broken).unwrap();
            let line = text[..at].matches('\n').count() + 1;
            (format!("{file}:{line} {}", barrier.trim()), copy)
        })
        .collect()
}

fn unnoticed(
    file: &str,
    source: &KernelSource,
    fault: impl Fn(&str, &str) -> Option<String> + Sync,
) -> Vec<String> {
    let copies = without_barriers(file);
    assert!(copies.len() > 1, "{copies:?} of {}", source.file);
    copies
        .into_par_iter()
        .filter_map(|(what, kernels)| {
            let include = format!("-I{}", kernels.display());
            let name = kernels.file_name().unwrap().to_string_lossy().into_owned();
            fault(&name, &include).is_none().then_some(what)
        })
        .collect()
}

#[test]
fn every_barrier_of_the_ladder_is_missed() {
    let source = ladder::source::<f32>();
    let x: Vec<f32> = whole(&mut Random::new(41), LENGTH).into_iter().map(|x| x as f32).collect();
    let expected = reduce::sum(&x);
    let none = unnoticed("reduce/ladder.cu", &source, |name, include| {
        let program = program(name, &source, &[include]);
        RUNGS.into_iter().find_map(|rung| {
            (0..SEEDS).find_map(|seed| {
                let mut memory = Memory::default();
                let values = memory.array(&x).read();
                let scratch = [0, 1].map(|_| memory.array(&vec![0.0; scratch(LENGTH, 1)]));
                let result = memory.array(&[0.0_f32]);
                let places = LadderArrays { values, length: LENGTH, scratch, result };
                for (args, blocks) in rung.launches(places, 1) {
                    memory.launch(rung.kernel, &args, blocks as usize, THREADS);
                }
                match program.attempt(&memory.records, seed) {
                    Ok(found) => {
                        let sum = f64::from(taken(&found, result)[0]);
                        (sum != expected).then(|| format!("{}: {sum}", rung.name))
                    }
                    Err(why) => Some(why),
                }
            })
        })
    });
    assert!(none.is_empty(), "nothing is wrong without {none:#?}");
}

#[test]
fn every_barrier_of_the_best_rung_is_missed() {
    let source = source::<f32>(SHAPE);
    let x: Vec<f32> = whole(&mut Random::new(42), LENGTH).into_iter().map(|x| x as f32).collect();
    let expected = reduce::sum(&x);
    let none = unnoticed("reduce/segment.cuh", &source, |name, include| {
        let program = program(name, &source, &[include]);
        (0..SEEDS).find_map(|seed| {
            let segments = Segments::whole(LENGTH);
            match reduced(&program, &[Operation::Sum], [&x, &x], segments, seed) {
                Ok(found) => {
                    let sum = f64::from(f32::from_bits(found[0][0] as u32));
                    (sum != expected).then(|| format!("{sum}"))
                }
                Err(why) => Some(why),
            }
        })
    });
    assert!(none.is_empty(), "nothing is wrong without {none:#?}");
}
