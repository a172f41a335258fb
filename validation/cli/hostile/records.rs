//! The input of the WSM5 of 2008, valid and corrupted: big-endian records between marks of their length.

use super::random::Random;
use super::spoil::{below, one_of};

/// Columns eastward and northward, and levels.
const SHAPE: [usize; 3] = [3, 2, 5];

/// Fields over the cells, and over the columns where there is none.
const FIELDS: [f32; 15] =
    [290.0, 0.01, 1e-4, 2e-4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.95, 85_000.0, 500.0];

/// The numbers of the fields over the columns.
const OF_COLUMNS: std::ops::Range<usize> = 6..11;

/// A good file.
pub(crate) fn good() -> Vec<u8> {
    let [nx, ny, nz] = SHAPE;
    let bounds = [
        1,
        nx + 2,
        1,
        ny + 2,
        1,
        nz + 1,
        1,
        nx + 2,
        1,
        ny + 2,
        1,
        nz + 1,
        2,
        nx + 1,
        2,
        ny + 1,
        1,
        nz,
    ];
    let mut records = vec![bounds.map(|n| n as u32).to_vec()];
    let constants: [f32; 18] = [
        180.0, 9.81, 287.0, 461.6, 273.15, 1.28, 1004.5, 1846.4, 0.608, 0.622, 1e-15, 2.85e6,
        2.5e6, 3.5e5, 4190.0, 2106.0, 610.78, 1000.0,
    ];
    records.push(constants.map(f32::to_bits).to_vec());
    for (n, value) in FIELDS.into_iter().enumerate() {
        let levels = if OF_COLUMNS.contains(&n) { 1 } else { nz };
        records.push(vec![value.to_bits(); nx * ny * levels]);
    }
    let mut bytes = Vec::new();
    for record in records {
        let mark = (4 * record.len() as u32).to_be_bytes();
        bytes.extend(mark);
        bytes.extend(record.iter().flat_map(|word| word.to_be_bytes()));
        bytes.extend(mark);
    }
    bytes
}

/// Words that lead astray, as whole numbers or as numbers of single precision.
const WORDS: [u32; 12] = [
    0,
    1,
    2,
    72,
    0xffff_ffff,
    0x7fff_ffff,
    0x8000_0000,
    0x0001_0000,
    0x7fc0_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7f7f_ffff,
];

/// Corrupts a word of a file, or the byte order of all words; returns a description.
pub(crate) fn spoil_records(bytes: &mut [u8], random: &mut Random) -> String {
    if below(random, 16) == 0 {
        bytes.chunks_exact_mut(4).for_each(<[u8]>::reverse);
        return "the other order of bytes".to_owned();
    }
    // Half of the corrupted words are in the bounds and the constants, which matter most.
    let words = bytes.len() / 4;
    let reach = if below(random, 2) == 0 { words.min(40) } else { words };
    let at = below(random, reach);
    let word = *one_of(random, &WORDS);
    if let Some(place) = bytes.get_mut(4 * at..4 * at + 4) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    format!("word {at} is {word:#x}")
}
