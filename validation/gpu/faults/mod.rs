//! Errors of launchers and of kernels, which this suite has to find: the emulated device makes them one by one, and the
//! results of a small task have to change, or the task to fail.

mod tasks;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use rayon::prelude::*;

use crate::{project, support};

/// The tasks.
const TASKS: [&str; 9] = [
    "weather",
    "members",
    "microphysics",
    "chemistry",
    "lattice",
    "reductions",
    "matrices",
    "potential",
    "parts",
];
/// Fewest errors of each kind.
const LEAST: [(&str, usize); 6] = [
    ("blocks ", 40),
    ("wait ", 10),
    ("preceding ", 5),
    ("barrier ", 40),
    ("copy ", 20),
    ("offset ", 50),
];
/// Kernels whose blocks take work until none is left, or rows in turn, so that one block less changes nothing.
const SHARING: [&str; 8] = [
    "chemistry_integrate",
    "descent_energy_acc64",
    "descent_product_acc64",
    "descent_update_acc64",
    "ladder_block_atomics",
    "ladder_warp_atomics",
    "passive_amount_acc64",
    "passive_decay_acc64",
];
/// Orders of threads, streams and nodes, in one of which a forgotten wait has to show; other errors show in any.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=16;
const FIRST: u64 = 1;
/// Copies that are left out, and pointers of a kernel that are led elsewhere, one after the other, of which one has to
/// show: some belong to what a small task does not need, such as values at the sides, or the masses at y-faces, which
/// matter where wind nearly empties a cell.
const COPIES: usize = 16;
const POINTERS: usize = 12;

/// Text that a task prints with an error; `None` if it fails.
fn outcome(task: &str, fault: Option<&str>, seed: u64) -> Option<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("faults::tasks::{task}"), "--ignored", "--nocapture"]);
    command.env("NWP_MINI_SEED", seed.to_string());
    match fault {
        Some(fault) => command.env("NWP_MINI_FAULT", fault),
        None => command.env_remove("NWP_MINI_FAULT"),
    };
    let output = command.output().expect("it starts");
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn lines(text: &str, start: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| line.split_once(start))
        .map(|(_, rest)| rest.to_owned())
        .collect()
}

/// `true` if a barrier is needed on this device. Those of a warp with a comment on their line order memory accesses
/// alone; here shuffles already keep the threads in order. And blocks run one after the other: a barrier before a ticket
/// is for the others.
fn is_needed(barrier: &str) -> bool {
    let place = barrier.trim_start_matches("barrier ").trim_start_matches("kernels/");
    let Some((file, line)) = place.rsplit_once(':') else { return true };
    let number: usize = line.parse().expect("the number of a line");
    let text = fs::read_to_string(Path::new(&project()).join("kernels").join(file));
    text.is_ok_and(|text| {
        let mut lines = text.lines().skip(number - 1);
        let [barrier, next] = [0, 1].map(|_| lines.next().unwrap_or_default());
        !barrier.contains("__syncwarp();  //") && !next.contains("take_ticket")
    })
}

/// An error that is tried: alternatives of task and error, of which one has to show.
type Tried = (String, Vec<(&'static str, String)>);

/// The errors that are tried, of the errors that could be made in each task.
fn tried(all: &[(&'static str, BTreeSet<String>)]) -> Vec<Tried> {
    let mut tried: BTreeMap<String, Vec<(&'static str, String)>> = BTreeMap::new();
    for (task, faults) in all {
        let mut pointers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut copies = 0;
        for fault in faults {
            let (kind, of) = fault.split_once(' ').expect("a kind and what it is of");
            let name = match kind {
                // Those of a part are those of a whole, beside the tables of its margins.
                "copy" if *task == "parts" => None,
                "copy" => {
                    copies += 1;
                    Some(format!("copy {} of {task}", (copies - 1) / COPIES))
                }
                "wait" => Some(format!("{fault} of {task}")),
                "offset" => {
                    let kernel = of.split(' ').next().unwrap_or(of);
                    let number = pointers.entry(kernel).or_default();
                    *number += 1;
                    (*number <= POINTERS).then(|| format!("offset {kernel}"))
                }
                "blocks" => (!SHARING.contains(&of)).then(|| fault.clone()),
                "barrier" => is_needed(fault).then(|| fault.clone()),
                _ => Some(fault.clone()),
            };
            if let Some(name) = name {
                tried.entry(name).or_default().push((task, fault.clone()));
            }
        }
    }
    tried.into_iter().collect()
}

#[test]
fn errors_of_launchers_and_kernels_show() {
    if !support::device::is_emulated() {
        support::skip::left_out_on_a_gpu("errors are made by the emulated device");
        return;
    }
    let digest_of = |text: &str| lines(text, "digest: ");
    let mut digests = BTreeMap::new();
    let all = TASKS.map(|task| {
        let listed = outcome(task, Some("list"), FIRST).expect("the task without an error");
        let digest = digest_of(&listed);
        assert_eq!(digest.len(), 1, "{listed}");
        for seed in SEEDS.take(4) {
            let again = outcome(task, None, seed).expect("the task in another order");
            assert_eq!(digest_of(&again), digest, "{task}: seed {seed}");
        }
        digests.insert(task, digest);
        (task, lines(&listed, "fault: "))
    });
    let tried = tried(&all);
    for (kind, least) in LEAST {
        let count = tried.iter().filter(|(name, _)| name.starts_with(kind)).count();
        println!("{kind}: {count} errors");
        assert!(count >= least, "{kind}: {count}");
    }
    let shows = |(task, fault): &(&'static str, String)| {
        let depends = ["wait ", "preceding ", "barrier "].iter().any(|x| fault.starts_with(x));
        let mut seeds = if depends { SEEDS } else { FIRST..=FIRST };
        seeds.any(|seed| {
            let found = outcome(task, Some(fault), seed);
            found.is_none_or(|text| digest_of(&text) != digests[task])
        })
    };
    let unnoticed: Vec<_> =
        tried.par_iter().filter(|(_, faults)| !faults.iter().any(shows)).collect();
    assert!(unnoticed.is_empty(), "nobody notices {unnoticed:#?}");
}
