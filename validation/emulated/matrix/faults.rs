//! Without any one of its barriers a kernel gives other results, or does not end.

use std::fs;
use std::path::{Path, PathBuf};

use nwp_mini::primitives::gpu::{csr, transpose};
use nwp_mini::primitives::matrices;
use nwp_mini::primitives::transpose::Matrices;
use nwp_mini::real::Precision;

use super::host::program_with;
use super::{csr as products, transpose as transposes};

/// Orders of the threads that are tried.
const SEEDS: u64 = 12;

const BARRIER: &str = "__syncthreads();";

/// Copies of the kernels without one barrier of a file each, and the description of that barrier.
fn without_barriers(files: &[&str]) -> Vec<(String, PathBuf)> {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/primitives");
    let mut copies = Vec::new();
    for file in files {
        let text = fs::read_to_string(kernels.join(file)).expect("the file is there");
        for (number, (at, _)) in text.match_indices(BARRIER).enumerate() {
            let name = format!("without_{}_{number}", file.replace('/', "_"));
            let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
            copy_tree(&kernels, &copy.join("primitives"));
            let broken = format!("{};{}", &text[..at], &text[at + BARRIER.len()..]);
            fs::write(copy.join("primitives").join(file), broken).expect("the copy can be written");
            copies.push((format!("{file}:{}", text[..at].matches('\n').count() + 1), copy));
        }
    }
    copies
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the folder is there") {
        let entry = entry.expect("the entry can be read");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("the file can be copied");
        }
    }
}

#[test]
fn every_barrier_of_the_transpose_is_missed() {
    let shape = transposes::SHAPES[0];
    let source = shape.source(Precision::F32);
    let copies = without_barriers(&["transpose.cu", "transpose/tile.cuh"]);
    assert_eq!(copies.len(), 6, "{copies:?}");
    // Of any alignment, of sixteen bytes, of few rows and of few columns.
    let sizes = [[65, 67], [64, 68], [27, 70], [70, 27]]
        .map(|[rows, columns]| Matrices::one(rows, columns));
    for (number, (what, kernels)) in copies.iter().enumerate() {
        let program = program_with(&format!("transpose-without-{number}"), &source, kernels);
        let is_noticed = (0..SEEDS).any(|seed| {
            sizes.iter().any(|&matrices| {
                transpose::Rung::ALL
                    .iter()
                    .any(|&rung| !transposes::is_right(&program, shape, rung, matrices, seed))
            })
        });
        assert!(is_noticed, "nothing is wrong without {what}");
    }
}

#[test]
fn every_barrier_of_the_sparse_product_is_missed() {
    let shape = products::SHAPES[0];
    let source = shape.source(Precision::F32);
    let matrix = matrices::skewed::<f32>(1000).expect("a good matrix");
    let copies = without_barriers(&["csr.cu", "csr/tile.cuh"]);
    assert_eq!(copies.len(), 5, "{copies:?}");
    for (number, (what, kernels)) in copies.iter().enumerate() {
        let program = program_with(&format!("csr-without-{number}"), &source, kernels);
        let is_noticed = (0..SEEDS).any(|seed| {
            csr::Rung::ALL
                .iter()
                .any(|&rung| !products::is_right(&program, shape, rung, &matrix, seed))
        });
        assert!(is_noticed, "nothing is wrong without {what}");
    }
}
