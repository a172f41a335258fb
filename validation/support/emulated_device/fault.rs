//! Errors that a launcher or a kernel could have, made by the driver below them, so that tests can tell whether they
//! would find them.
//!
//! NWP_MINI_FAULT has the error, or `list`: then a device that is closed prints all errors that could be made in its
//! calls, a line each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use nwp_mini::device::Launch;

use super::module;

/// Bytes by which a wrong pointer is off: as many as keep it aligned for any vector, and inside the fence of its array.
const OFF: u64 = 64;

/// An error of a launcher, or of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    /// A kernel is launched with one block less in the first direction in which it has several.
    Blocks(String),
    /// The pointer of this number in the arguments of a kernel leads elsewhere in its array.
    Offset(String, usize),
    /// The copy of this number is not made.
    Copy(usize),
    /// The wait of this number, of a stream for an event, is forgotten.
    Wait(usize),
    /// A kernel does not wait for the work that it may start before.
    Preceding(String),
    /// Threads do not wait at the barrier of this file and line.
    Barrier(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks(kernel) => write!(f, "blocks {kernel}"),
            Self::Offset(kernel, pointer) => write!(f, "offset {kernel} {pointer}"),
            Self::Copy(number) => write!(f, "copy {number:04}"),
            Self::Wait(number) => write!(f, "wait {number:04}"),
            Self::Preceding(kernel) => write!(f, "preceding {kernel}"),
            Self::Barrier(place) => write!(f, "barrier {place}"),
        }
    }
}

/// The error that a device makes, and its calls so far.
#[derive(Debug)]
pub(super) struct Faults {
    /// The error as its text.
    wanted: Option<String>,
    copies: usize,
    waits: usize,
    /// Kernels: most pointers in the arguments, and `true` if a launch has several blocks.
    kernels: BTreeMap<String, (usize, bool)>,
    /// Kernels that wait by themselves for preceding work.
    waiting: BTreeSet<String>,
}

impl Faults {
    pub(super) fn from_environment() -> Self {
        let wanted = std::env::var("NWP_MINI_FAULT").ok();
        match wanted.as_deref() {
            Some("list") => module::note_barriers(),
            Some(other) => {
                other.strip_prefix("barrier ").into_iter().for_each(module::leave_out_barrier);
            }
            None => {}
        }
        Self { wanted, copies: 0, waits: 0, kernels: BTreeMap::new(), waiting: BTreeSet::new() }
    }

    fn is_wanted(&self, fault: &Fault) -> bool {
        self.wanted.as_ref().is_some_and(|wanted| *wanted == fault.to_string())
    }

    pub(super) fn drops_copy(&mut self) -> bool {
        self.copies += 1;
        self.is_wanted(&Fault::Copy(self.copies - 1))
    }

    /// `true` if a wait, or one that is joined to the one before it, is to be forgotten.
    pub(super) fn drops_wait(&mut self, is_joined: bool) -> bool {
        self.waits += usize::from(!is_joined);
        self.is_wanted(&Fault::Wait(self.waits - 1))
    }

    /// `true` if a kernel that waits for preceding work by itself is to forget it.
    pub(super) fn drops_preceding(&mut self, kernel: &str) -> bool {
        if self.wanted.is_some() {
            self.waiting.insert(kernel.to_owned());
        }
        self.is_wanted(&Fault::Preceding(kernel.to_owned()))
    }

    /// The launch as the error makes it; `is_pointer` says whether a word of the arguments is an address.
    pub(super) fn launch(
        &mut self,
        name: &str,
        mut launch: Launch,
        words: &mut [u64],
        is_pointer: impl Fn(u64) -> bool,
    ) -> Launch {
        if self.wanted.is_none() {
            return launch;
        }
        let several = launch.grid.iter().position(|&blocks| blocks > 1);
        let pointers: Vec<usize> = (0..words.len()).filter(|&n| is_pointer(words[n])).collect();
        let found = self.kernels.entry(name.to_owned()).or_default();
        *found = (found.0.max(pointers.len()), found.1 || several.is_some());
        if let Some(direction) = several.filter(|_| self.is_wanted(&Fault::Blocks(name.to_owned())))
        {
            launch.grid[direction] -= 1;
        }
        for (number, at) in pointers.into_iter().enumerate() {
            if self.is_wanted(&Fault::Offset(name.to_owned(), number)) {
                words[at] += OFF;
            }
        }
        launch
    }

    /// All errors that could be made in the calls so far.
    fn all(&self) -> BTreeSet<Fault> {
        let of_kernels = self.kernels.iter().flat_map(|(name, &(pointers, has_several))| {
            let offsets = (0..pointers).map(|number| Fault::Offset(name.clone(), number));
            offsets.chain(has_several.then(|| Fault::Blocks(name.clone())))
        });
        let of_calls = (0..self.copies).map(Fault::Copy).chain((0..self.waits).map(Fault::Wait));
        let barriers = module::noted_barriers().into_iter().map(Fault::Barrier);
        let waiting = self.waiting.iter().cloned().map(Fault::Preceding);
        of_kernels.chain(of_calls).chain(waiting).chain(barriers).collect()
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        if self.wanted.as_deref() == Some("list") {
            self.all().iter().for_each(|fault| println!("fault: {fault}"));
        }
    }
}
