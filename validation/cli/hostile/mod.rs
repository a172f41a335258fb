//! Corrupted files of every kind that the program reads. For any contents the program must end in time and within its
//! memory limit, with a documented exit code and a message that names the file.
//!
//! `NWP_HOSTILE_CASE=N` runs case N only and describes it.
#![allow(clippy::print_stdout, reason = "tells what was tried")]

pub(crate) mod child;
mod findings;
mod restarts;
pub(crate) mod spoil;
mod tuning;

use nwp_mini_support::files::{bases, model, weights};
use nwp_mini_support::random;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use bases::{Base, Content, Kind};
use child::Ended;
use model::Flavour;
use random::Random;
use spoil::{below, one_of, spoil, spoil_bytes, spoil_text};

/// Maximum size of a corrupted file, bytes, so that tests do not fill a disk.
const LONGEST: u64 = 64 << 20;

/// All good files; `folder` is a furnished one.
fn all_bases(folder: &Path) -> Vec<Base> {
    let mut all = bases::all(folder);
    let content = Content::Text(tuning::good());
    all.push(Base { name: "tuning", kind: Kind::Tuning, content });
    all
}

/// A corrupted file.
#[derive(Debug)]
struct Spoilt {
    /// Kind of the file that was corrupted.
    kind: Kind,
    /// Description of the corruption.
    said: String,
    /// Name of the file.
    name: &'static str,
    /// The command that is to read it.
    command: Vec<&'static str>,
}

/// Writes the corrupted file of case `number` to the folder. `None` if the library does not write such a file.
fn make(number: u64, bases: &[Base], folder: &Path) -> Option<Spoilt> {
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
            // Equal numbers of corruptions of contents and of bytes, and some of both.
            let way = below(random, 5);
            if way < 3 {
                said.extend((0..=below(random, 3)).map(|_| spoil(&mut model, random)));
            }
            // A restart file whose checksum does not match its contents is rejected for that alone.
            let is_sealed = base.kind == Kind::Restart && way < 3 && below(random, 8) > 0;
            let written = if is_sealed {
                said.push("sealed".to_owned());
                model.write_sealed(&path, flavour)
            } else {
                model.write(&path, flavour)
            };
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
    let command = if commands.is_empty() { Vec::new() } else { one_of(random, &commands).clone() };
    Some(Spoilt { kind: base.kind, said: said.join("; "), name, command })
}

/// Reads the corrupted file by its reader: the library for measured settings, else the program.
///
/// # Errors
///
/// A violated requirement.
fn read(spoilt: &Spoilt, folder: &Path) -> Result<Ended, String> {
    match spoilt.kind {
        Kind::Tuning => tuning::survives(&folder.join(spoilt.name)),
        _ => child::survives(folder, spoilt.name, &spoilt.command),
    }
}

/// Results of many cases.
#[derive(Debug, Default)]
struct Record {
    /// Numbers of cases by kind of file and by exit code.
    codes: BTreeMap<String, BTreeMap<i32, u32>>,
    /// The slowest case: s, and which.
    slowest: (f64, String),
    /// Largest memory of a case, KiB, and the case.
    largest: (u64, String),
    /// Files that the library would not write.
    unwritten: u32,
    /// Violated requirements, by case.
    findings: Vec<String>,
}

impl Record {
    /// Number of files that were read.
    fn read(&self) -> u32 {
        self.codes.values().flat_map(BTreeMap::values).sum::<u32>() + self.findings.len() as u32
    }

    /// Number of files that ended with an exit code.
    fn with(&self, code: i32) -> u32 {
        self.codes.values().filter_map(|of_kind| of_kind.get(&code)).sum()
    }

    fn add(&mut self, spoilt: &Spoilt, case: &str, ended: &Ended) {
        let of_kind = self.codes.entry(format!("{:?}", spoilt.kind)).or_default();
        *of_kind.entry(ended.code).or_default() += 1;
        if ended.seconds > self.slowest.0 {
            self.slowest = (ended.seconds, case.to_owned());
        }
        if ended.memory > self.largest.0 {
            self.largest = (ended.memory, case.to_owned());
        }
    }
}

/// Tries cases from `first` until `count` files were read.
fn attack(first: u64, count: u32) -> Record {
    let record = Mutex::new(Record::default());
    let next = AtomicU64::new(first);
    let locked = || record.lock().unwrap_or_else(PoisonError::into_inner);
    // Created before any program starts, which would inherit open files and their locks.
    let folders = [0, 1].map(|_| tempfile::tempdir().expect("a folder"));
    for folder in &folders {
        bases::furnish(folder.path());
    }
    let bases = all_bases(folders[0].path());
    std::thread::scope(|scope| {
        for folder in &folders {
            scope.spawn(|| {
                let folder = folder.path();
                while locked().read() < count {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(spoilt) = make(number, &bases, folder) else {
                        locked().unwritten += 1;
                        continue;
                    };
                    let case = format!("case {number} ({}): {:?}", spoilt.said, spoilt.command);
                    match read(&spoilt, folder) {
                        Ok(ended) => locked().add(&spoilt, &case, &ended),
                        Err(why) => {
                            let finding = format!("{case} {why}");
                            println!("{finding}");
                            locked().findings.push(finding);
                        }
                    }
                    fs::remove_file(folder.join(spoilt.name)).expect("the spoilt file");
                }
            });
        }
    });
    record.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn report(record: &Record, start: Instant) {
    println!(
        "{} files, {} more that NetCDF would not write; {:.0} s; findings: {}",
        record.read(),
        record.unwritten,
        start.elapsed().as_secs_f64(),
        record.findings.len()
    );
    println!("by exit code:");
    for (kind, codes) in &record.codes {
        println!("  {kind:<14}{codes:?}");
    }
    println!("slowest: {:.1} s, {}", record.slowest.0, record.slowest.1);
    println!("largest: {} KiB, {}", record.largest.0, record.largest.1);
}

/// Unspoilt, every file is read by every command that takes it.
#[test]
fn the_files_are_good() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    bases::furnish(folder);
    for base in all_bases(folder) {
        let name = base.kind.file();
        base.write(&folder.join(name));
        let mut codes = Vec::new();
        for command in base.kind.commands(name) {
            let ended = child::survives(folder, name, &command).unwrap_or_else(|why| {
                panic!("{}: {command:?}: {why}", base.name);
            });
            codes.push(ended.code);
        }
        if base.kind == Kind::Tuning {
            codes.push(tuning::survives(&folder.join(name)).expect("a good file").code);
        }
        // Other files differ from the small one, and a file is no series with itself.
        let good = codes.iter().filter(|code| **code == 0).count();
        assert!(codes[0] == 0 && good * 2 >= codes.len(), "{}: {codes:?}", base.name);
        fs::remove_file(folder.join(name)).expect("the file");
    }
}

/// A few hundred cases, the same in every run.
#[test]
fn spoilt_files_are_refused_in_good_order() {
    let start = Instant::now();
    if let Some(number) = std::env::var("NWP_HOSTILE_CASE").ok().and_then(|n| n.parse().ok()) {
        let folder = tempfile::tempdir().expect("a folder");
        bases::furnish(folder.path());
        let made = make(number, &all_bases(folder.path()), folder.path());
        let ended = made.as_ref().map(|spoilt| read(spoilt, folder.path()));
        println!("{made:?} in {}: {ended:?}", folder.keep().display());
        return;
    }
    let record = attack(1, 400);
    report(&record, start);
    assert!(record.findings.is_empty(), "{:#?}", record.findings);
    assert!(record.with(3) > record.with(0) && record.codes.len() == 9, "{record:?}");
}

/// Ten thousand other cases, or `NWP_HOSTILE_COUNT` from case `NWP_HOSTILE_FIRST` on.
#[test]
#[ignore = "takes five minutes"]
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
