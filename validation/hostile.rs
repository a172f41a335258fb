//! Spoilt files of every kind that the program reads: whatever they say, it ends in time and within
//! its memory, with an exit code that it promises and a message that names the file.
//!
//! `NWP_HOSTILE_CASE=N` makes case N alone and says what it is.
#![allow(clippy::print_stdout, reason = "tells what was tried")]

#[path = "hostile/bases.rs"]
mod bases;
#[path = "hostile/child.rs"]
mod child;
#[path = "hostile/findings.rs"]
mod findings;
#[path = "hostile/model.rs"]
mod model;
#[path = "support/random.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod random;
#[path = "run/small.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod small;
#[path = "hostile/spoil.rs"]
mod spoil;
#[path = "beside/weights.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod weights;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use bases::{Base, Content};
use model::Flavour;
use random::Random;
use spoil::{below, one_of, spoil, spoil_bytes, spoil_text};

/// No spoilt file is longer, in bytes: whoever tests must not fill a disk.
const LONGEST: u64 = 64 << 20;

/// Writes the spoilt file of case `number` to the folder; returns how it came about, its name, and
/// the command that is to read it. `None` where the library does not write such a file.
fn make(number: u64, bases: &[Base], folder: &Path) -> Option<(String, String, Vec<String>)> {
    let random = &mut Random::new(number);
    let base = one_of(random, bases);
    let name = base.kind.file();
    let path = folder.join(name);
    let mut said = vec![base.name.to_owned()];
    match &base.content {
        Content::NetCdf(good) => {
            let mut model = good.clone();
            let flavour = *one_of(random, &Flavour::ALL);
            said.push(format!("{flavour:?}"));
            // As many in what they say as in their bytes, and some in both.
            let way = below(random, 5);
            if way < 3 {
                said.extend((0..=below(random, 3)).map(|_| spoil(&mut model, random)));
            }
            let written = model.write(&path, flavour);
            let length = fs::metadata(&path).map_or(0, |about| about.len());
            assert!(length < LONGEST, "case {number} is {length} bytes long: {said:?}");
            if written.is_err() {
                let _ = fs::remove_file(&path);
                return None;
            }
            if way > 1 {
                let mut bytes = fs::read(&path).expect("the file just written");
                said.extend((0..=below(random, 2)).map(|_| spoil_bytes(&mut bytes, random)));
                fs::write(&path, bytes).expect("a file");
            }
        }
        Content::Text(good) => {
            let mut text = good.clone();
            said.extend((0..=below(random, 3)).map(|_| spoil_text(&mut text, random)));
            fs::write(&path, text).expect("a file");
        }
    }
    let commands = base.kind.commands(name);
    let command = one_of(random, &commands).iter().map(ToString::to_string).collect();
    Some((said.join("; "), name.to_owned(), command))
}

/// What came of many cases.
#[derive(Debug, Default)]
struct Record {
    /// Cases by exit code.
    codes: BTreeMap<i32, u32>,
    /// Files that the library would not write.
    unwritten: u32,
    /// What was not kept, by case.
    findings: Vec<String>,
}

impl Record {
    /// Number of files that were read.
    fn read(&self) -> u32 {
        self.codes.values().sum::<u32>() + self.findings.len() as u32
    }
}

/// Tries cases from `first` until `count` files were read.
fn attack(first: u64, count: u32) -> Record {
    let record = Mutex::new(Record::default());
    let next = AtomicU64::new(first);
    let locked = || record.lock().unwrap_or_else(PoisonError::into_inner);
    // Made before any program starts, which would inherit open files and their locks.
    let folders = [0, 1].map(|_| tempfile::tempdir().expect("a folder"));
    for folder in &folders {
        bases::furnish(folder.path());
    }
    let bases = bases::all(folders[0].path());
    std::thread::scope(|scope| {
        for folder in &folders {
            scope.spawn(|| {
                let folder = folder.path();
                while locked().read() < count {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((said, name, command)) = make(number, &bases, folder) else {
                        locked().unwritten += 1;
                        continue;
                    };
                    let command: Vec<&str> = command.iter().map(String::as_str).collect();
                    match child::survives(folder, &name, &command) {
                        Ok((code, _)) => *locked().codes.entry(code).or_default() += 1,
                        Err(why) => {
                            let finding = format!("case {number} ({said}): {command:?} {why}");
                            println!("{finding}");
                            locked().findings.push(finding);
                        }
                    }
                    fs::remove_file(folder.join(name)).expect("the spoilt file");
                }
            });
        }
    });
    record.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn report(record: &Record, start: Instant) {
    println!(
        "{} files, {} more that NetCDF would not write; {:.0} s\nby exit code: {:?}; findings: {}",
        record.read(),
        record.unwritten,
        start.elapsed().as_secs_f64(),
        record.codes,
        record.findings.len()
    );
}

/// Unspoilt, every file is read by every command that takes it.
#[test]
fn the_files_are_good() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    bases::furnish(folder);
    for base in bases::all(folder) {
        let name = base.kind.file();
        base.write(&folder.join(name));
        let mut codes = Vec::new();
        for command in base.kind.commands(name) {
            let (code, _) = child::survives(folder, name, &command).unwrap_or_else(|why| {
                panic!("{}: {command:?}: {why}", base.name);
            });
            codes.push(code);
        }
        // Other files differ from the small one, and a file is no series with itself.
        let good = codes.iter().filter(|code| **code == 0).count();
        assert!(codes[0] == 0 && good * 2 >= codes.len(), "{}: {codes:?}", base.name);
        fs::remove_file(folder.join(name)).expect("the file");
    }
}

/// A few hundred of them, the same in every run.
#[test]
fn spoilt_files_are_refused_in_good_order() {
    let start = Instant::now();
    if let Some(number) = std::env::var("NWP_HOSTILE_CASE").ok().and_then(|n| n.parse().ok()) {
        let folder = tempfile::tempdir().expect("a folder");
        bases::furnish(folder.path());
        let made = make(number, &bases::all(folder.path()), folder.path());
        println!("{made:?} in {}", folder.keep().display());
    }
    let record = attack(1, 400);
    report(&record, start);
    assert!(record.findings.is_empty(), "{:#?}", record.findings);
    assert!(record.codes.get(&3) > record.codes.get(&0), "{record:?}");
}

/// Ten thousand others, or `NWP_HOSTILE_COUNT` from case `NWP_HOSTILE_FIRST` on.
#[test]
#[ignore = "takes ten minutes"]
fn ten_thousand_spoilt_files() {
    let start = Instant::now();
    let first = std::env::var("NWP_HOSTILE_FIRST").ok().and_then(|n| n.parse().ok());
    let first = first.unwrap_or(1_000_000);
    let count = std::env::var("NWP_HOSTILE_COUNT").ok().and_then(|n| n.parse().ok());
    let count = count.unwrap_or(10_000);
    println!("from case {first}");
    let record = attack(first, count);
    report(&record, start);
    assert!(record.findings.is_empty(), "{:#?}", record.findings);
}
