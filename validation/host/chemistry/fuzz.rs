//! Mechanisms with random faults: none ends in a panic or takes long.

use std::time::{Duration, Instant};

use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::lifetime::lifetimes;
use nwp_mini::chemistry::mechanism::parse;
use nwp_mini_support::project;
use nwp_mini_support::random::Random;

/// Pieces that are put in at random places.
const PIECES: [&str; 32] = [
    "#",
    "#EQUATIONS",
    "#DEFVAR",
    "#INLINE",
    "#ENDINLINE",
    "{",
    "}",
    "//",
    ";",
    ":",
    "=",
    "+",
    "-",
    "*",
    "**",
    "/",
    "(",
    ")",
    ",",
    "<",
    ">",
    "1e999",
    "2E1",
    "1.5",
    "0",
    "hv",
    "PROD",
    "j(",
    "EXP(",
    "ARR2(",
    "é",
    "\n",
];

fn spoiled(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=(random.between(0.0, 1.0) * 6.0) as usize {
        let mut place = || (random.between(0.0, 1.0) * bytes.len() as f64) as usize;
        let (at, other) = (place(), place());
        let piece = PIECES[(random.between(0.0, 1.0) * PIECES.len() as f64) as usize].as_bytes();
        match (random.between(0.0, 1.0) * 6.0) as usize {
            0 => bytes.insert(at, (random.between(0.0, 1.0) * 256.0) as u8),
            1 => drop(bytes.drain(at..(at + 1 + other % 20).min(bytes.len()))),
            2 => bytes.swap(at, other),
            3 => {
                let copy = bytes[other..(other + 40).min(bytes.len())].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            4 => bytes.truncate(at.max(1)),
            _ => drop(bytes.splice(at..at, piece.iter().copied())),
        }
        if bytes.is_empty() {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn fuzz(count: usize, seed: u64) {
    let sources = ["small_strato", "radm2"].map(|name| {
        std::fs::read_to_string(project().join(format!("data/chemistry/{name}.kpp"))).unwrap()
    });
    let mut random = Random::new(seed);
    let (mut good, mut longest) = (0, Duration::ZERO);
    for number in 0..count {
        // The large one is spoiled more rarely, since it takes ten times as long.
        let text = spoiled(&sources[usize::from(number % 10 == 0)], &mut random);
        let start = Instant::now();
        let outcome = parse("spoiled", &text).mechanism();
        if let Ok((mechanism, _)) = outcome
            && let Ok(kinetics) = Kinetics::new(&mechanism)
        {
            lifetimes(&mechanism, &kinetics);
            good += 1;
        }
        longest = longest.max(start.elapsed());
        assert!(longest < Duration::from_secs(5), "mechanism {number} of seed {seed}:\n{text}");
    }
    // Some faults are none: in a comment, or another number.
    assert!(good > 0 && good < count, "{good} of {count} are good");
}

#[test]
fn ten_thousand_spoiled_mechanisms_neither_panic_nor_hang() {
    fuzz(10_000, 35);
}

#[test]
#[ignore = "takes minutes"]
fn many_more_spoiled_mechanisms_neither_panic_nor_hang() {
    for seed in 1..=50 {
        fuzz(10_000, seed);
    }
}
