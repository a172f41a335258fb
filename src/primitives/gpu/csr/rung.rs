//! Kernels for the product of a sparse matrix and a vector on the device.

use crate::device::WARP;
use crate::real::Precision;

/// Entries from which on there are enough tiles to fill the device.
const LARGE: usize = 1 << 18;
/// Entries of the longest row up to which a thread adds up the row from shared memory.
const CACHED_ROW: usize = 256;
/// Most entries of a row for one thread, if other rows have fewer.
pub(super) const SHORT_ROW: usize = 16;

/// Properties of a matrix's rows that select a rung.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    entries: usize,
    longest: usize,
    /// Mean number of entries, rounded.
    mean: usize,
    /// `true` if no row has many more entries than the others.
    pub(super) is_even: bool,
    /// `true` if no row has more than the mean number, so that neighbouring rows have neighbouring entries side by side.
    pub(super) is_stencil: bool,
}

impl Rows {
    pub(super) fn of(starts: &[usize]) -> Self {
        let (rows, entries) = (starts.len() - 1, starts.last().copied().unwrap_or(0));
        let longest = starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let mean = (entries + rows / 2) / rows.max(1);
        let (is_even, is_stencil) =
            (longest <= SHORT_ROW.max(2 * mean), longest == mean && mean > 1);
        Self { entries, longest, mean, is_even, is_stencil }
    }
}

/// A rung: one kind of kernel, from the simplest to the one in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// A thread for a row.
    Thread,
    /// A block for a few rows, whose products are in shared memory.
    Cached,
    /// A warp for a row.
    Warp,
    /// 2 lanes for a row.
    Lanes2,
    /// 4 lanes for a row.
    Lanes4,
    /// 8 lanes for a row.
    Lanes8,
    /// 16 lanes for a row.
    Lanes16,
    /// A thread for a short row and a warp for a long one.
    Bins,
    /// A block for a tile; tiles have about equal numbers of entries, read sixteen bytes at a time.
    Tiles,
}

/// Constants of a rung.
struct Properties {
    /// Name in tables.
    name: &'static str,
    /// Kernel for one right-hand side.
    kernel: &'static str,
    /// Lanes that share a row.
    lanes: usize,
}

impl Rung {
    /// All rungs, the simplest first.
    pub const ALL: [Self; 9] = [
        Self::Thread,
        Self::Cached,
        Self::Warp,
        Self::Lanes2,
        Self::Lanes4,
        Self::Lanes8,
        Self::Lanes16,
        Self::Bins,
        Self::Tiles,
    ];

    fn properties(self) -> Properties {
        let new = |name, kernel, lanes| Properties { name, kernel, lanes };
        match self {
            Self::Thread => new("thread a row", "csr_thread", 1),
            Self::Cached => new("rows in shared memory", "csr_cached", 1),
            Self::Warp => new("warp a row", "csr_warp", WARP),
            Self::Lanes2 => new("2 lanes a row", "csr_lanes_2", 2),
            Self::Lanes4 => new("4 lanes a row", "csr_lanes_4", 4),
            Self::Lanes8 => new("8 lanes a row", "csr_lanes_8", 8),
            Self::Lanes16 => new("16 lanes a row", "csr_lanes_16", 16),
            Self::Bins => new("bins: short and long rows", "csr_bins", 1),
            Self::Tiles => new("even tiles of rows", "csr_tiles", 1),
        }
    }

    /// Name in tables.
    pub fn name(self) -> &'static str {
        self.properties().name
    }

    /// The fastest rung for a matrix with these starts of rows and `sides` right-hand sides, as measured on an H200.
    /// Threads that read seven entries one after the other still hit the cache (four in double precision), those that
    /// read 27 do not; tiles suit rows of different lengths or of many entries, and several vectors, which share the
    /// entries. Weights between the grids of two models are few and of different numbers: their products are added up in
    /// shared memory.
    pub fn choose(precision: Precision, starts: &[usize], sides: usize) -> Self {
        let Rows { entries, longest, mean, is_even, .. } = Rows::of(starts);
        if entries < LARGE {
            return match mean {
                _ if !is_even && longest <= CACHED_ROW => Self::Cached,
                _ if !is_even => Self::Tiles,
                0..4 => Self::Thread,
                4..16 => Self::Lanes4,
                16..64 => Self::Lanes8,
                _ => Self::Warp,
            };
        }
        match (mean, precision) {
            _ if sides > 1 || !is_even => Self::Tiles,
            (0..=8, Precision::F32) => Self::Thread,
            (0..=4, Precision::F64) => Self::Bins,
            _ => Self::Tiles,
        }
    }

    /// Name of the kernel for so many right-hand sides.
    pub fn kernel(self, sides: usize) -> &'static str {
        if self == Self::Tiles && sides > 1 {
            "csr_tiles_several"
        } else {
            self.properties().kernel
        }
    }

    /// Lanes that share a row.
    pub(super) fn lanes(self) -> usize {
        self.properties().lanes
    }
}
