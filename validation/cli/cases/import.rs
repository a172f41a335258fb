//! The input of the stand-alone WSM5, written here in the format of the original.

use std::fs;

use nwp_mini::io::benchmark::Benchmark;

use super::place::Place;
use super::random::Random;
use super::story::command;

/// Columns eastward and northward, and levels.
const SHAPE: [usize; 3] = [3, 2, 5];

/// Fields over the cells, with a value that they have about.
const CELLS: [(&str, f32); 10] = [
    ("th", 290.0),
    ("q", 0.01),
    ("qc", 1e-4),
    ("qr", 2e-4),
    ("qi", 0.0),
    ("qs", 0.0),
    ("den", 1.0),
    ("pii", 0.95),
    ("p", 85_000.0),
    ("delz", 500.0),
];

/// The value of a field in a cell: another one in each.
fn value(field: usize, [i, j, k]: [usize; 3]) -> f32 {
    CELLS[field].1 * (1.0 + 0.001 * i as f32 + 0.01 * j as f32 + 0.002 * k as f32)
}

/// Records as numbers of four bytes, not yet in any order of bytes.
fn records() -> Vec<Vec<u32>> {
    let [nx, ny, nz] = SHAPE;
    let whole = |numbers: Vec<usize>| numbers.into_iter().map(|n| n as u32).collect::<Vec<u32>>();
    let bits = |numbers: Vec<f32>| numbers.into_iter().map(f32::to_bits).collect::<Vec<u32>>();
    let domain = vec![1, nx + 3, 1, ny + 3, 1, nz + 1];
    let tile = vec![2, nx + 1, 2, ny + 1, 1, nz];
    let bounds = whole([domain.clone(), domain, tile].concat());
    let constants = bits(vec![
        180.0,
        9.81,
        287.0,
        461.6,
        273.15,
        1.28,
        1004.5,
        1846.4,
        0.608_362_4,
        0.621_750_4,
        1e-15,
        2.85e6,
        2.5e6,
        3.5e5,
        4190.0,
        2106.0,
        610.78,
        1000.0,
    ]);
    let cells = |field: usize| {
        let mut values = Vec::new();
        for j in 0..ny {
            for k in 0..nz {
                values.extend((0..nx).map(|i| value(field, [i, j, k])));
            }
        }
        bits(values)
    };
    let mut records = vec![bounds, constants];
    records.extend((0..6).map(cells));
    records.extend((0..5).map(|_| bits(vec![0.0; nx * ny])));
    records.extend((6..10).map(cells));
    records
}

/// The records between their marks, big-endian.
fn file(records: &[Vec<u32>]) -> Vec<u8> {
    written(records, u32::to_be_bytes)
}

fn written(records: &[Vec<u32>], bytes: fn(u32) -> [u8; 4]) -> Vec<u8> {
    let mut all = Vec::new();
    for record in records {
        let mark = bytes(4 * record.len() as u32);
        all.extend(mark);
        all.extend(record.iter().flat_map(|word| bytes(*word)));
        all.extend(mark);
    }
    all
}

/// Imports these bytes, which must be refused in these words.
#[track_caller]
fn refuses(bytes: &[u8], words: &[&str]) {
    let place = Place::empty();
    fs::write(place.path("wsm5_in_010"), bytes).expect("a file");
    let ended = command(&place, &["import", "wsm5_in_010", "--output", "in.nc"]);
    ended.refused(3, &[&["wsm5_in_010"], words].concat());
    assert_eq!(place.files(), ["wsm5_in_010"]);
}

#[test]
fn a_file_becomes_columns() {
    let place = Place::empty();
    fs::write(place.path("wsm5_in_010"), file(&records())).expect("a file");
    let ended = command(&place, &["import", "wsm5_in_010", "--output", "in.nc"]).good();
    assert!(ended.stdout.contains("3 x 2 columns of 5 levels, dt 180 s"), "{}", ended.stdout);
    assert!(!ended.stderr.contains("WARN"), "{}", ended.stderr);
    let [nx, ny, nz] = SHAPE;
    let columns = place.open("in.nc");
    assert_eq!([columns.number("dt"), columns.number("calls")], [180.0, 1.0]);
    for (field, (name, _)) in CELLS.iter().enumerate() {
        let values = columns.values(name);
        assert_eq!(values.shape(), [nz, nx * ny], "{name}");
        for j in 0..ny {
            for i in 0..nx {
                for k in 0..nz {
                    let wanted = f64::from(value(field, [i, j, k]));
                    assert_eq!(values[[k, j * nx + i]], wanted, "{name} {i} {j} {k}");
                }
            }
        }
    }
    // The purpose of the import.
    let options = ["--output", "out.nc", "--fallout", "substepped", "--backend", "cpu"];
    command(&place, &[&["columns", "--input", "in.nc"], &options[..]].concat()).good();
    let th = place.open("out.nc").values("th");
    assert!(th.iter().all(|th| (280.0..310.0).contains(th)), "{th}");
    // Not over another file, nor over the input.
    let again = ["import", "wsm5_in_010", "--output", "in.nc"];
    command(&place, &again).refused(3, &["in.nc exists", "--force"]);
    let onto = ["import", "wsm5_in_010", "--output", "wsm5_in_010", "--force"];
    command(&place, &onto).refused(2, &["--output is the input file"]);
}

#[test]
fn another_order_of_bytes_is_reported() {
    refuses(&written(&records(), u32::to_le_bytes), &["record 1", "little-endian", "big-endian"]);
    // Marks of one order and numbers of the other.
    let swapped: Vec<Vec<u32>> =
        records().iter().map(|record| record.iter().map(|x| x.swap_bytes()).collect()).collect();
    refuses(&file(&swapped), &["levels (kts to kte)", "4 to 256"]);
    // Marks of eight bytes.
    let mut long = 72_u64.to_be_bytes().to_vec();
    long.extend([0; 80]);
    refuses(&long, &["eight bytes", "-frecord-marker=4"]);
}

#[test]
fn every_truncation_is_reported() {
    let whole = file(&records());
    refuses(&[], &["is empty"]);
    // Within each mark, after each mark, and within each record.
    let mut at = 0;
    for record in &records() {
        let length = 4 * record.len();
        for cut in [at + 2, at + 4, at + 4 + length / 2, at + 4 + length, at + 6 + length] {
            refuses(&whole[..cut], &["wsm5_in_010"]);
        }
        at += length + 8;
    }
    assert_eq!(at, whole.len());
    refuses(
        &whole[..200],
        &["holds 40 bytes after its second record", "3 x 2 columns of 5 levels"],
    );
    refuses(&whole[..100], &["inside of record 2 (the constants)"]);
    refuses(&whole[..whole.len() - 4], &["is the file complete"]);
    refuses(&[&whole[..], &[0; 4]].concat(), &["is the file complete"]);
}

#[test]
fn other_lengths_and_numbers_are_reported() {
    let changed = |change: &dyn Fn(&mut Vec<Vec<u32>>)| {
        let mut records = records();
        change(&mut records);
        file(&records)
    };
    let short = changed(&|records| {
        records[0].pop();
    });
    refuses(&short, &["record 1", "68 bytes", "72 are needed"]);
    // One field a value longer, another a value shorter.
    let moved = changed(&|records| {
        let value = records[3].pop().expect("a value");
        records[4].push(value);
    });
    refuses(&moved, &["record 4 (q)", "116 bytes", "120 are needed"]);
    refuses(&changed(&|r| r[0][13] = 1), &["its = 2 to ite = 1", "empty"]);
    refuses(&changed(&|r| r[0][17] = 3), &["has 3 levels", "4 to 256"]);
    refuses(&changed(&|r| r[0][13] = 2_000_000_000), &["is the file complete"]);
    refuses(&changed(&|r| r[1][0] = 0), &["delt is 0 s"]);
    refuses(&changed(&|r| r[1][0] = f32::NAN.to_bits()), &["delt is NaN"]);
    let nan = f32::NAN.to_bits();
    refuses(&changed(&|r| r[3][1 + 3 * 2 + 15] = nan), &["q is NaN", "i=1 j=1 k=2", "finite"]);
    refuses(&changed(&|r| r[2][0] = 0), &["th is 0", "i=0 j=0 k=0", "positive"]);
    refuses(&changed(&|r| r[16][0] = (-5.0_f32).to_bits()), &["delz is -5", "positive"]);
    // A mark at the end that is not the one at the beginning.
    let mut torn = file(&records());
    torn[4 + 72 + 3] = 71;
    refuses(&torn, &["record 1", "mark of 72", "one of 71"]);
}

/// Constants of another build are ignored, with a message.
#[test]
fn other_constants_are_named() {
    let place = Place::empty();
    let mut other = records();
    other[1][1] = 9.8_f32.to_bits();
    fs::write(place.path("in"), file(&other)).expect("a file");
    let ended = command(&place, &["import", "in", "--output", "in.nc"]).good();
    let warnings: Vec<&str> = ended.stderr.lines().filter(|x| x.contains("WARN")).collect();
    assert_eq!(warnings.len(), 1, "{}", ended.stderr);
    assert!(warnings[0].contains("the constant g is 9.8"), "{}", ended.stderr);
    assert!(warnings[0].contains("9.81 here"), "{}", ended.stderr);
    // Neither a folder nor a missing file.
    fs::create_dir(place.path("folder")).expect("a folder");
    command(&place, &["import", "folder", "--output", "x.nc"]).refused(3, &["is a folder"]);
    command(&place, &["import", "absent", "--output", "x.nc"])
        .refused(3, &["cannot read", "absent"]);
}

/// Damage of any kind is an error or a file of the form, at once, and never a panic: bits turned,
/// parts left out, repeated, or filled with noise.
#[test]
fn damaged_files_are_reported() {
    let whole = file(&records());
    let place = Place::empty();
    let path = place.path("damaged");
    let random = &mut Random::new(7);
    let mut below = |n: usize| (random.between(0.0, 1.0) * n as f64) as usize;
    let mut refused = 0;
    for _ in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..=below(3) {
            let (a, b) = (below(bytes.len()), below(bytes.len()));
            let (from, to) = (a.min(b), a.max(b));
            match below(5) {
                0 => bytes[a] ^= 1 << below(8),
                1 => bytes.truncate(a.max(1)),
                2 => drop(bytes.drain(from..to)),
                3 => bytes.extend_from_within(from..to),
                _ => bytes[from..to.min(from + 8)].fill(0xff),
            }
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        fs::write(&path, &bytes).expect("a file");
        refused += usize::from(Benchmark::read(&path).is_err());
    }
    // A flipped bit of a number may give another valid number.
    assert!((1500..3000).contains(&refused), "{refused}");
}
