//! Stores that are damaged or hostile: an error that names the store, or a result; nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use nwp_mini_support::random::Random;
use serde_json::{Value, json};

use super::place::{Place, storm};
use super::small::Small;
use super::{copy, document};
use crate::hostile::child::survives;
use crate::hostile::spoil::{below, one_of, spoil_bytes, spoil_text};

/// Stores that are damaged at random.
const CASES: u64 = 80;

/// A place with a small store.
fn good() -> Place {
    let place = Place::with(&Small::new());
    place.run_small(&["-q", "--steps", "1", "-o", "a.zarr"]).good();
    place
}

/// Replaces a part of the metadata of an array, at the root too.
fn state(place: &Place, name: &str, key: &str, value: &Value) {
    let own = format!("a.zarr/{name}/zarr.json");
    let (mut about, mut root) = (document(place, &own), document(place, "a.zarr/zarr.json"));
    about[key] = value.clone();
    root["consolidated_metadata"]["metadata"][name] = about.clone();
    fs::write(place.path(&own), about.to_string()).expect("a document");
    fs::write(place.path("a.zarr/zarr.json"), root.to_string()).expect("a document");
}

const RUN: [&str; 7] = ["-q", "--input", "a.zarr", "--steps", "1", "-o", "b.nc"];

#[test]
fn what_is_wrong_is_named() {
    for (key, value, words) in [
        ("shape", json!([2, 8, 10, 11]), "west_east = 12"),
        ("shape", json!([2, 8, 10, 1e30]), "no shape of whole numbers"),
        ("shape", json!([u64::MAX, u64::MAX, 10, 12]), "QVAPOR"),
        ("data_type", json!("complex64"), "complex64"),
        ("data_type", json!(17), "17"),
        ("codecs", json!([{"name": "homemade"}]), "homemade"),
        ("chunk_grid", json!({"name": "spiral"}), "spiral"),
        ("dimension_names", json!(["Time", "z", "y", "x"]), "QVAPOR"),
    ] {
        let place = good();
        state(&place, "QVAPOR", key, &value);
        place.run(&RUN).refused(3, &["a.zarr", "QVAPOR", words]);
    }
    let place = good();
    for (path, words) in [("QVAPOR/c/0/0/0/0", "QVAPOR"), ("zarr.json", "not JSON")] {
        let path = place.path(&format!("a.zarr/{path}"));
        let whole = fs::read(&path).expect("a file");
        fs::write(&path, &whole[..whole.len() / 2]).expect("a file");
        place.run(&RUN).refused(3, &["a.zarr", words]);
        fs::write(&path, whole).expect("a file");
    }
    fs::remove_file(place.path("a.zarr/zarr.json")).expect("a document");
    place.run(&RUN).refused(3, &["a.zarr", "without zarr.json"]);
    place.command(&["info", "a.zarr/T"]).refused(3, &["a.zarr/T", "single array"]);
}

/// All files of a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.append(&mut files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn any_damage_is_survived() {
    let place = good();
    let bad = place.path("bad.zarr");
    let mut findings = Vec::new();
    for case in 0..CASES {
        let random = &mut Random::new(case);
        copy(&place.path("a.zarr"), &bad);
        let mut told = Vec::new();
        for _ in 0..=below(random, 3) {
            // Half of the damage is to the document that everything depends on.
            let all = files(&bad);
            let path = if below(random, 2) == 0 {
                bad.join("zarr.json")
            } else {
                one_of(random, &all).clone()
            };
            let Ok(mut bytes) = fs::read(&path) else { continue };
            let what = match below(random, 4) {
                0 => {
                    fs::remove_file(&path).expect("a file");
                    "removed".to_owned()
                }
                1 => {
                    fs::write(&path, &bytes[..bytes.len() / 3]).expect("a file");
                    "cut".to_owned()
                }
                _ => {
                    let is_document = path.extension().is_some();
                    let said = if is_document && below(random, 2) == 0 {
                        spoil_text(&mut bytes, random)
                    } else {
                        spoil_bytes(&mut bytes, random)
                    };
                    fs::write(&path, bytes).expect("a file");
                    said
                }
            };
            told.push(format!("{}: {what}", path.display()));
        }
        let commands: [&[&str]; 3] = [
            &["info", "bad.zarr"],
            &["diff", "a.zarr", "bad.zarr"],
            &["run", "-q", "--input", "bad.zarr", "--steps", "1", "-o", "b.nc"],
        ];
        let command = one_of(random, &commands);
        if let Err(why) = survives(&place.path("."), "bad.zarr", command) {
            findings.push(format!("case {case}, {command:?}, {told:?}: {why}"));
        }
        fs::remove_dir_all(&bad).expect("a folder");
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// The checksum of an index, bit by bit: the polynomial of Castagnoli, lowest bit first.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |rest: u32, _| if rest & 1 == 1 { (rest >> 1) ^ 0x82f6_3b78 } else { rest >> 1 };
    let with = |rest: u32, byte: &u8| (0..8).fold(rest ^ u32::from(*byte), step);
    !bytes.iter().fold(!0, with)
}

#[test]
fn damaged_shards_are_refused() {
    assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    let place = Place::empty();
    let storm = storm();
    let storm = storm.to_str().expect("text");
    let large = ["run", "-q", "-i", storm, "--steps", "1", "--refine", "4"];
    place.command(&[&large[..], &["--output-vars", "QVAPOR", "-o", "a.zarr"]].concat()).good();
    copy(&place.path("a.zarr"), &place.path("b.zarr"));
    let shard = place.path("b.zarr/QVAPOR/c/1/0/0/0");
    let whole = fs::read(&shard).expect("a shard");
    // Offset and length of each of nine chunks, and the checksum.
    let index = whole.len() - (9 * 16 + 4);
    let with_index = |change: &dyn Fn(&mut [u8])| {
        let mut bytes = whole.clone();
        let end = bytes.len() - 4;
        change(&mut bytes[index..end]);
        let sum = crc32c(&bytes[index..end]).to_le_bytes();
        bytes[end..].copy_from_slice(&sum);
        bytes
    };
    assert!(with_index(&|_| ()) == whole, "the index stands at the end");
    let mut flipped = whole.clone();
    flipped[index] ^= 1;
    for (what, bytes) in [
        ("cut", whole[..whole.len() / 2].to_vec()),
        ("a byte short", whole[..whole.len() - 1].to_vec()),
        ("a few bytes", whole[..7].to_vec()),
        ("an index of another checksum", flipped),
        ("a chunk beyond the end", with_index(&|index| index[..8].fill(0x7f))),
        ("a chunk longer than the shard", with_index(&|index| index[8..16].fill(0x3f))),
        ("a chunk of no length", with_index(&|index| index[8..16].fill(0))),
    ] {
        fs::write(&shard, bytes).expect("a shard");
        for command in [&["diff", "a.zarr", "b.zarr"][..], &["info", "b.zarr"]] {
            if let Err(why) = survives(&place.path("."), "b.zarr", command) {
                panic!("{what}: {command:?}: {why}");
            }
        }
        let ended = place.command(&["diff", "a.zarr", "b.zarr"]);
        assert_eq!(ended.code, Some(3), "{what}: {ended:?}");
        assert!(ended.stderr.contains("QVAPOR"), "{what}: {ended:?}");
    }
}
