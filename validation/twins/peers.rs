//! The matrices in the timings of libraries are those in the timings of this program.

use std::path::Path;
use std::process::Command;

use nwp_mini::primitives::matrices::{Kind, operand};

/// FNV-1a, word by word.
fn digest(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0xcbf2_9ce4_8422_2325, |digest, word| (digest ^ word).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn peers_multiply_the_same_matrices() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("patterns");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("validation/twins/peers.cc");
    let compiled =
        Command::new("c++").args(["-std=c++17", "-O2", "-o"]).args([&program, &source]).output();
    let compiled = compiled.expect("a C++ compiler named c++");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let found = Command::new(program).output().expect("the program runs").stdout;
    let found = String::from_utf8(found).expect("a table");
    let expected = Kind::ALL.map(|kind| {
        let matrix = kind.large::<f64>().expect("a matrix");
        let starts = matrix.starts().iter().map(|&start| start as u64);
        let columns = matrix.column_of().iter().map(|&column| u64::from(column));
        let values = matrix.values().iter().map(|value| (8.0 * value) as u64);
        let x = operand::<f64>(matrix.columns());
        let x = x.iter().map(|x| (16.0 * x) as u64);
        let digest = digest(starts.chain(columns).chain(values).chain(x));
        let [rows, columns] = [matrix.rows(), matrix.columns()];
        format!("{} {rows} {columns} {} {digest:016x}", kind.name(), matrix.nonzeros())
    });
    let mut found: Vec<&str> = found.lines().collect();
    found.sort_unstable();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected);
}
