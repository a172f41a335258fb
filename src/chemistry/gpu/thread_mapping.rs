//! The mapping of cells to threads, and the addresses of the arrays of a block.

use std::cmp::Reverse;

use crate::chemistry::kinetics::Kinetics;
use crate::device::WARP;

/// The mapping of cells to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadMapping {
    /// Cells of a block.
    pub cells: usize,
    /// Threads of a cell, which are in different warps.
    pub workers: usize,
    /// Shared memory of a block, bytes; 0 if all arrays are in global memory.
    pub shared_bytes: usize,
    /// Resident blocks of a multiprocessor.
    pub resident: usize,
    /// True for straight-line code instead of tables.
    pub is_straight: bool,
}

/// Shared memory that the kernel declares itself, bytes.
const DECLARED: usize = 2 << 10;
/// Shared memory that the system reserves for every block, bytes.
const OF_SYSTEM: usize = 1 << 10;
/// Resident blocks of a multiprocessor with one thread for each cell.
const RESIDENT: usize = 16;
/// Largest numbers of cells of a block with several threads for each cell.
const TEAM_CELLS: [usize; 2] = [32, 16];
/// Smallest number of cells of such a block.
const FEWEST_CELLS: usize = 4;
/// Resident blocks of a multiprocessor with several threads for each cell.
const TEAM_BLOCKS: [usize; 3] = [1, 2, 3];
/// Threads of a multiprocessor with several threads for each cell.
const TEAM_THREADS: [usize; 4] = [768, 512, 1024, 256];

/// Maximum number of products of a factorisation in straight-line code; compilation of more takes minutes.
const MOST_STRAIGHT_PRODUCTS: usize = 4_000;
/// Number of entries of the factors up to which a multiprocessor can hold many cells with one thread each.
const FEW_ENTRIES: usize = 100;

impl ThreadMapping {
    /// Threads of a cell with straight-line code that are worth a trial, the fastest first for mechanisms of some ten
    /// species (benches/results/2026-11-26-h100-third).
    pub const STRAIGHT_WORKERS: [usize; 4] = [8, 4, 2, 1];

    /// The form that is expected to be the fastest for a mechanism: straight-line code if possible, else several
    /// threads for each cell, else one thread.
    pub fn fastest(kinetics: &Kinetics, most_bytes: usize) -> Self {
        let is_small = kinetics.lu.entries() <= FEW_ENTRIES;
        let workers = if is_small { 1 } else { Self::STRAIGHT_WORKERS[0] };
        Self::straight(kinetics, most_bytes, workers)
            .or_else(|| Self::team(kinetics, most_bytes))
            .unwrap_or_else(Self::thread)
    }

    /// One thread for each cell, with all arrays in global memory.
    pub fn thread() -> Self {
        Self { cells: WARP, workers: 1, shared_bytes: 0, resident: RESIDENT, is_straight: false }
    }

    /// A number of threads for each cell with straight-line code. `None` for mechanisms that would take
    /// minutes to compile.
    pub fn straight(kinetics: &Kinetics, most_bytes: usize, workers: usize) -> Option<Self> {
        let is_possible = kinetics.lu.operations().1 <= MOST_STRAIGHT_PRODUCTS;
        let shared_bytes = most_bytes.saturating_sub(DECLARED);
        let form = Self { workers, shared_bytes, resident: 1, is_straight: true, ..Self::thread() };
        is_possible.then_some(form)
    }

    /// Several threads for each cell, with the factors in shared memory, of which a block has at most `most_bytes`;
    /// `None` if too few cells fit.
    pub fn team(kinetics: &Kinetics, most_bytes: usize) -> Option<Self> {
        Self::teams(kinetics, most_bytes).first().copied()
    }

    /// All forms with several threads for each cell that are worth a trial, in order of expected speed: without idle
    /// lanes first, then by the number of cells on a multiprocessor (benches/results/2026-11-26-h100-second).
    pub(crate) fn teams(kinetics: &Kinetics, most_bytes: usize) -> Vec<Self> {
        let mut forms = Vec::new();
        for resident in TEAM_BLOCKS {
            let of_block = (most_bytes + OF_SYSTEM) / resident;
            let Some(room) = of_block.checked_sub(OF_SYSTEM + DECLARED) else { continue };
            for most_cells in TEAM_CELLS {
                let fits = |cells: &usize| {
                    let form =
                        Self { cells: *cells, shared_bytes: room, resident, ..Self::thread() };
                    // The arrays are in order of priority.
                    ArraySlots::new(kinetics, form).arrays[2].is_shared
                };
                let Some(cells) = (FEWEST_CELLS..=most_cells).rev().find(fits) else { continue };
                let form = Self { cells, shared_bytes: room, resident, ..Self::thread() };
                let shared_bytes = ArraySlots::new(kinetics, form).shared * size_of::<f64>();
                for threads in TEAM_THREADS {
                    let workers = threads / resident / form.lanes();
                    let team = Self { workers, shared_bytes, ..form };
                    if workers > 1 && !forms.contains(&team) {
                        forms.push(team);
                    }
                }
            }
        }
        forms.sort_by_key(|form| (form.cells < WARP, Reverse(form.cells * form.resident)));
        forms
    }

    /// Threads of a row of workers: one for each cell, padded with idle threads to a power of two.
    pub fn lanes(&self) -> usize {
        self.cells.next_power_of_two()
    }

    /// Threads of a block.
    pub fn threads(&self) -> usize {
        self.lanes() * self.workers
    }

    /// Maximum number of species of a worker.
    pub fn owned(&self, kinetics: &Kinetics) -> usize {
        kinetics.variables().div_ceil(self.workers)
    }
}

impl std::fmt::Display for ThreadMapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { cells, workers, resident, .. } = self;
        match workers {
            _ if self.is_straight => write!(f, "straight {cells}x{workers}"),
            1 => f.write_str("thread"),
            _ => write!(f, "team {cells}x{workers}x{resident}"),
        }
    }
}

/// The address of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArraySlot {
    pub(super) name: &'static str,
    pub(super) is_shared: bool,
    /// First element, in doubles from the beginning of shared memory or of the block's scratch.
    pub(super) at: usize,
}

/// The addresses of all arrays.
#[derive(Clone, Debug)]
pub(super) struct ArraySlots {
    /// Concentrations, x and factors, then the others.
    pub(super) arrays: [ArraySlot; 6],
    /// Doubles of shared memory.
    pub(super) shared: usize,
    /// Doubles of a block's scratch.
    pub(super) scratch: usize,
}

impl ArraySlots {
    pub(super) fn new(kinetics: &Kinetics, form: ThreadMapping) -> Self {
        let cells = form.cells;
        let sizes = [
            // One concentration more, with the value 1.
            ("CONCENTRATIONS", (kinetics.species() + 1) * cells),
            ("X", 0),
            ("FACTORS", kinetics.lu.entries() * cells),
            ("REACTIONS", kinetics.reactions() * cells),
            ("PARTIALS", kinetics.partials.len() * cells),
            ("RATES", kinetics.rates.kept.len() * cells),
        ];
        let room = form.shared_bytes / size_of::<f64>();
        let (mut shared, mut scratch) = (0, 0);
        let mut arrays = sizes.map(|(name, size)| {
            let is_shared = shared + size <= room;
            let at = if is_shared { &mut shared } else { &mut scratch };
            let place = ArraySlot { name, is_shared, at: *at };
            *at += size;
            place
        });
        // X shares the memory of the concentrations, which are not in use at the same time.
        arrays[1] = ArraySlot { name: "X", ..arrays[0] };
        Self { arrays, shared, scratch }
    }
}
