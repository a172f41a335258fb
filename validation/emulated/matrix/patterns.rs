//! The matrices in the timings of libraries are those in the timings of this program.

use nwp_mini::primitives::matrices::{Kind, operand};

use super::emulator::{Program, Records};

/// FNV-1a, word by word.
fn digest(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0xcbf2_9ce4_8422_2325, |digest, word| (digest ^ word).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn peers_multiply_the_same_matrices() {
    let mut given = Records::default();
    for kind in Kind::ALL {
        given.put(kind.name(), &[0_u64; 4]);
    }
    let program = Program::compile("patterns", "emulated/matrix/patterns.cpp", "", &["-O2"]);
    let found = program.run(&given, 0);
    for kind in Kind::ALL {
        let matrix = kind.large::<f64>().expect("a matrix");
        let starts = matrix.starts().iter().map(|&start| start as u64);
        let columns = matrix.column_of().iter().map(|&column| u64::from(column));
        let values = matrix.values().iter().map(|value| (8.0 * value) as u64);
        let x = operand::<f64>(matrix.columns());
        let x = x.iter().map(|x| (16.0 * x) as u64);
        let expected = [
            matrix.rows() as u64,
            matrix.columns() as u64,
            matrix.nonzeros() as u64,
            digest(starts.chain(columns).chain(values).chain(x)),
        ];
        assert_eq!(found.take::<u64>(kind.name()), expected, "{}", kind.name());
    }
}
