//! Tiles of columns: launch configuration, shared memory, and the mapping of sedimentation to lanes.

use crate::device::WARP;
use crate::physics::wsm5::gpu::DEVICE_LEVELS;
use crate::physics::wsm5::{FALLING_SPECIES, Sedimentation};
use crate::real::Precision;

/// Shared memory of a block without opt-in, bytes.
const SHARED_BYTES: usize = 48 * 1024;
/// Most threads of a block, and most blocks of a multiprocessor, of any device.
const MOST_THREADS: usize = 1024;
const MOST_BLOCKS: usize = 32;

/// Launch configuration of the tile mapping: the columns of a tile, and the threads of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Columns, a power of two up to 32.
    pub columns: usize,
    /// Threads of a block, a multiple of 32.
    pub threads: usize,
    /// Blocks that a multiprocessor should hold at a time (launch bounds), which limits the registers of a thread.
    pub blocks: usize,
}

/// Contents of a tile in shared memory, counted for a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileContents {
    /// Fields of all cells.
    pub fields: usize,
    /// Bytes of a struct of further fields that has none.
    pub empty: usize,
    /// Species that sediment by themselves.
    pub falling: usize,
    /// Species that reach the ground; some may fall with others.
    pub landing: usize,
    /// Sums of a column.
    pub sums: usize,
}

impl TileContents {
    /// Those of WSM5.
    pub const fn of(fallout: Sedimentation) -> Self {
        let kept = match fallout {
            Sedimentation::SemiLagrangian => 0,
            Sedimentation::Substepped => 2,
        };
        // An empty struct takes one byte.
        let empty = if kept == 0 { 1 } else { 0 };
        let (falling, landing) = (FALLING_SPECIES, FALLING_SPECIES);
        Self { fields: 10 + kept, empty, falling, landing, sums: 7 }
    }
}

impl From<Sedimentation> for TileContents {
    fn from(fallout: Sedimentation) -> Self {
        Self::of(fallout)
    }
}

/// Columns from which on wide tiles are faster: their rows fill memory lines, while narrow ones occupy more
/// multiprocessors. On an H200 both take the same time at 16 to 32 thousand columns of a storm, and at 8 to 16 thousand
/// of a cyclone.
const MANY_COLUMNS: usize = 30_000;

/// Most columns of a narrow tile.
const NARROW: usize = 8;

/// Cells that a thread of a tile prefetches at a time.
const PREFETCH: usize = 3;
/// Threads of a multiprocessor that launch bounds of wide tiles allow for, with 32 and with 16 columns: the fastest on
/// an H200, at 27 and at 50 levels.
const RESIDENT: [usize; 2] = [1152, 960];
/// Number of members of `Landing`, the results of a species in a column in a minor step.
const LANDING: usize = 3;
/// Fewest threads of a wide tile, a good number at 27 levels.
const FEWEST_THREADS: usize = 160;

/// Mapping of sedimentation in a tile.
#[derive(Clone, Copy, Debug)]
struct SedimentationMapping {
    /// Lanes of a column.
    lanes: usize,
    /// Species of a column that sediment together: one, or all.
    kinds: usize,
}

impl SedimentationMapping {
    /// Mapping of a tile. If every column has a warp and one level a lane suffices, the warp lets all species sediment
    /// together, so that their latencies overlap. In other tiles one species of a column has half a warp, with two
    /// levels a lane, or a warp if there are more than 30 levels. Beside the levels there is an element for the lid and
    /// one above it.
    fn new(columns: usize, threads: usize, nz: usize, falling: usize) -> Self {
        if nz + 2 > WARP {
            Self { lanes: WARP, kinds: 1 }
        } else if threads >= WARP * columns {
            Self { lanes: WARP, kinds: falling }
        } else {
            Self { lanes: WARP / 2, kinds: 1 }
        }
    }
}

impl Tile {
    /// Tiles for a number of levels from the widest to the narrowest.
    fn all(nz: usize) -> [Self; 7] {
        [
            Self::wide(32, nz, RESIDENT[0]),
            // With less work space for sedimentation, for schemes with more fields.
            Self { columns: 32, threads: 192, blocks: 4 },
            Self::wide(16, nz, RESIDENT[1]),
            Self { columns: NARROW, threads: 256, blocks: 4 },
            Self { columns: 4, threads: 128, blocks: 4 },
            Self { columns: 2, threads: 128, blocks: 4 },
            Self { columns: 2, threads: 64, blocks: 4 },
        ]
    }

    /// A tile whose threads prefetch all of their cells at once, with the number of blocks that gives a multiprocessor
    /// about `resident` threads.
    fn wide(columns: usize, nz: usize, resident: usize) -> Self {
        let threads = (columns * nz.div_ceil(PREFETCH))
            .next_multiple_of(WARP)
            .clamp(FEWEST_THREADS, MOST_THREADS);
        Self { columns, threads, blocks: (resident / threads).max(1) }
    }

    /// The tile for a number of columns: the widest allowed one that fits into shared memory.
    pub fn choose(
        columns: usize,
        precision: Precision,
        contents: impl Into<TileContents>,
        nz: usize,
    ) -> Self {
        let contents = contents.into();
        let widest = if columns < MANY_COLUMNS { NARROW } else { WARP };
        let fits = |tile: &Self| {
            tile.columns <= widest && tile.shared_bytes(precision, contents, nz) <= SHARED_BYTES
        };
        let all = Self::all(nz);
        let tile = all.into_iter().find(fits).unwrap_or(all[all.len() - 1]);
        match precision {
            Precision::F32 => tile,
            // Double-precision values take two registers each.
            Precision::F64 => Self { blocks: tile.blocks.div_ceil(2), ..tile },
        }
    }

    /// Returns `true` for a tile that serves small grids.
    pub fn is_narrow(self) -> bool {
        self.columns <= NARROW
    }

    /// Returns `true` if the kernel can be compiled for this tile.
    pub fn is_possible(
        self,
        precision: Precision,
        contents: impl Into<TileContents>,
        nz: usize,
    ) -> bool {
        let Self { columns, threads, blocks } = self;
        let is_shape = columns.is_power_of_two()
            && columns <= WARP
            && threads.is_multiple_of(WARP)
            && (WARP..=MOST_THREADS).contains(&threads)
            && (1..=MOST_BLOCKS).contains(&blocks);
        // A word has a bit for each cell of a thread.
        is_shape
            && DEVICE_LEVELS.contains(&nz)
            && nz.div_ceil(threads / columns) <= u32::BITS as usize
            && self.shared_bytes(precision, contents, nz) <= SHARED_BYTES
    }

    /// Shared memory of a block, bytes.
    pub fn shared_bytes(
        self,
        precision: Precision,
        contents: impl Into<TileContents>,
        nz: usize,
    ) -> usize {
        let TileContents { fields, empty, falling, landing, sums } = contents.into();
        let Self { columns, threads, .. } = self;
        let real = match precision {
            Precision::F32 => size_of::<f32>(),
            Precision::F64 => size_of::<f64>(),
        };
        let field = nz * (columns + 1);
        // The values of a column in sedimentation are aligned to four elements.
        let align = 4 * real;
        let SedimentationMapping { lanes, kinds } =
            SedimentationMapping::new(columns, threads, nz, falling);
        let slots = ((nz + 1) / lanes + 1) * lanes;
        let fall = (real * (4 * (nz + 1) + slots)).next_multiple_of(align);
        // The depths (before they become heights) and the list of active cells reuse the memory of sedimentation.
        let either =
            (threads / lanes * kinds * fall).max(real * field).max(size_of::<u16>() * nz * columns);
        let fields = real * fields * field + empty;
        let listed = falling * (size_of::<i32>() + columns);
        let sums = real * columns * (landing * LANDING + sums);
        // Counts of the columns of each species, the list of columns, two counters, and a clipping flag.
        let integers = [falling, columns, 2, 1].map(|n| n * size_of::<i32>());
        let lists = integers[0] + listed.next_multiple_of(size_of::<i32>());
        let end = (fields.next_multiple_of(align) + either).next_multiple_of(align) + lists;
        let end = end.next_multiple_of(real) + sums + integers[1..].iter().sum::<usize>();
        end.next_multiple_of(align)
    }

    /// The settings of the kernel for a number of levels, by their names.
    pub(crate) fn constants(
        self,
        precision: Precision,
        contents: impl Into<TileContents>,
        nz: usize,
    ) -> [(&'static str, usize); 7] {
        let Self { columns, threads, blocks } = self;
        let contents = contents.into();
        let SedimentationMapping { lanes, kinds } =
            SedimentationMapping::new(columns, threads, nz, contents.falling);
        [
            ("TILE_COLUMNS", columns),
            ("TILE_THREADS", threads),
            ("TILE_BLOCKS", blocks),
            ("TILE_LANES", lanes),
            ("TILE_KINDS", kinds),
            ("TILE_PREFETCH", PREFETCH),
            ("TILE_BYTES", self.shared_bytes(precision, contents, nz)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number of levels, precision and variant gets a tile, and its block fits into shared memory.
    #[test]
    fn every_tile_that_is_chosen_fits() {
        for nz in DEVICE_LEVELS {
            let all = Sedimentation::ALL.map(TileContents::from);
            for (precision, contents) in [Precision::F32, Precision::F64]
                .into_iter()
                .flat_map(|precision| all.map(|contents| (precision, contents)))
            {
                for columns in [1, usize::MAX] {
                    let tile = Tile::choose(columns, precision, contents, nz);
                    let bytes = tile.shared_bytes(precision, contents, nz);
                    assert!(
                        bytes <= SHARED_BYTES && tile.is_possible(precision, contents, nz),
                        "{tile:?}, {precision:?}, {contents:?}, {nz} levels: {bytes} bytes"
                    );
                }
            }
        }
    }
}
