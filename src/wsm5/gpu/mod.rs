//! The microphysics on the device: launch configurations, compile-time variants and arguments of its kernels.
//!
//! # Decisions
//!
//! **Two mappings of columns to threads.** A thread for a column (`kernels/wsm5/column.cu`) repeats the CPU version
//! operation by operation, with its bits on the emulated device. A block for a tile of columns (`kernels/wsm5/tile.cu`)
//! has one mapping for each phase: all cells are examined, sedimentation runs in lanes that hold the levels of a
//! column, and the processes run in active cells only. In narrow tiles, for small grids, a column has a warp, in which
//! all species sediment together, since a block takes as long as its longest chain of dependent instructions; a thread
//! has one cell for the processes. In wide tiles, where instruction count matters, half a warp has one species of a
//! column at a time, from a list of columns; active cells are listed for all threads, warm ones from one end and cold
//! ones from the other, so that the lanes of a warp do the same. The heights in a column are computed once for all its
//! species, and replace the depths of its layers. Tiles begin at memory sectors if the rows do, so that no two read the
//! same one; columns beside the region that fill a sector up are idle. The limiter of terminal velocities, a recursion
//! on the CPU, is a maximum over the lanes, computed only if neighbouring values require it. All formulas are those of
//! the twins, except the power of a slope (`kernels/primitives/power_of_root.cuh`). A column does not depend on its
//! neighbours or on the order of the threads, bit for bit: sums have a fixed order, and atomic operations are on
//! integers, or add to a sum over the run that only one thread adds to.
//!
//! **A kernel is compiled for its use** (`Purpose`). Variants exist for calls of one minor step, which nearly all are,
//! or of any number, and with or without the mass mismatch of its changes, which runs need. Narrow tiles of 1,000
//! columns or more are also compiled for their region (`region`): its columns and the places of its fields are
//! constants then, so that all fields are reached from one address. Compilation takes place at the first such call, or
//! ahead, concurrently with other kernels of a run (`Gpu::compile_ahead`): one after the other that took six seconds,
//! unless NVRTC had it in a cache of its own. On a small grid a call takes 7 us, of which about a seventh was
//! instruction fetch for code that never ran but lay between code that did. For the same reason its formulas select
//! more than they branch.

#![allow(unsafe_code, reason = "whoever launches a kernel answers for its arguments")]

pub mod clouds;
pub(crate) mod prelude;
pub mod region;
pub mod tenant;
pub(crate) mod tuning;

use std::fmt;

use crate::device::WARP;
use crate::grid::gpu::SECTOR;
use crate::mass::gpu::LayeredPointers;
use crate::real::Precision;
use crate::shared::{DevicePointer, ReadPointer, shared_constants, shared_struct};
use crate::state::gpu::mark;
use crate::wsm5::gpu::region::Region;
use crate::wsm5::params::{SchemeConstants, Wsm5Params};
use crate::wsm5::reflectivity::Bins;
use crate::wsm5::{FALLING_SPECIES, Fallout};

shared_constants! {
    /// Numbers of the kernels alone; no result depends on them.
    pub trait CloudConstants: SchemeConstants;

    /// Part of saturation below which nothing can condense in a cell without condensate, whatever
    /// the roundings of the humidity; from there on the processes look themselves.
    exact NEARLY_SATURATED = 0.999, "1";
}

shared_struct! {
    /// Arguments of the kernels of the microphysics.
    ///
    /// Fields have shape (nz, ny, nx), planes at the ground (ny, nx). Members that a kernel reads first come first: it
    /// waits for every cache line of its arguments.
    pub struct CloudArgs<R> {
        /// Word for the mark of a kernel that has begun; null if marks are off.
        marks: DevicePointer<u64>, "1";
        /// Number of minor steps.
        minor_steps: i32, "1";
        /// The columns that threads are given; the kernel may be made for them.
        region: Region, "1";
        /// Potential temperature less `theta_base`; in and out, as the five below.
        theta: DevicePointer<R>, "K";
        /// Vapour.
        qv: DevicePointer<R>, "kg kg⁻¹";
        /// Cloud water.
        qc: DevicePointer<R>, "kg kg⁻¹";
        /// Rain.
        qr: DevicePointer<R>, "kg kg⁻¹";
        /// Cloud ice.
        qi: DevicePointer<R>, "kg kg⁻¹";
        /// Snow.
        qs: DevicePointer<R>, "kg kg⁻¹";
        /// Density of dry air.
        rho: ReadPointer<R>, "kg m⁻³";
        /// Exner function.
        exner: ReadPointer<R>, "1";
        /// Pressure.
        p: ReadPointer<R>, "Pa";
        /// Depth of the layers.
        dz: ReadPointer<R>, "m";
        /// Precipitation; added to.
        rain: DevicePointer<R>, "mm";
        /// Water that has reached the ground in the call; set.
        fallen: DevicePointer<R>, "kg m⁻²";
        /// Precipitation of the call; set.
        rainncv: DevicePointer<R>, "mm";
        /// Frozen precipitation; added to.
        snow: DevicePointer<R>, "mm";
        /// Frozen precipitation of the call; set.
        snowncv: DevicePointer<R>, "mm";
        /// Frozen fraction of the call; set.
        sr: DevicePointer<R>, "1";
        /// Water that the fall scheme has made in the call; set.
        fall_residual: DevicePointer<R>, "kg m⁻²";
        /// Water that clipping at zero has made in the call; set.
        clipped: DevicePointer<R>, "kg m⁻²";
        /// Mass of the changes that is lost or made since the dry mass of their cell is not rho dz; set if there is a
        /// mass.
        mass_mismatch: DevicePointer<R>, "kg m⁻²";
        /// Dry mass of the cells; null without a mass mismatch.
        mass: LayeredPointers<R>, "kg";
        /// Reciprocal area of the cells.
        per_area: ReadPointer<R>, "m⁻²";
        /// Word for a note of a value that is not finite; null if notes are off.
        notes: DevicePointer<u64>, "1";
        /// Parameters of the scheme.
        params: Wsm5Params<R>, "1";
        /// Potential temperature less `theta`.
        theta_base: R, "K";
        /// Length of a minor step.
        dt_cloud: R, "s";
        /// Which step this is after those that the notes tell of.
        step: i32, "1";
        /// Number of `theta` among the fields of all states.
        theta_number: i32, "1";
        /// Number of `qv`, which the others follow.
        water_number: i32, "1";
        /// Fills the struct up.
        filler: i32, "1";
    }
}

shared_struct! {
    /// Arguments of the kernel that diagnoses reflectivity and radii.
    pub struct DiagnosisArgs<R> {
        /// The cells; only read. What is at the ground is not looked at.
        cloud: CloudArgs<R>, "1";
        /// Reflectivity at 10 cm; set, as the three below.
        refl_10cm: DevicePointer<R>, "dBZ";
        /// Effective radius of cloud drops.
        re_cloud: DevicePointer<R>, "m";
        /// Effective radius of ice crystals.
        re_ice: DevicePointer<R>, "m";
        /// Effective radius of snow.
        re_snow: DevicePointer<R>, "m";
        /// Size bins of melting snow.
        bins: Bins<R>, "1";
    }
}

/// Numbers of levels that the kernels are made and tested for.
pub const LEVELS: std::ops::RangeInclusive<usize> = 4..=128;

/// Shared memory that a block can have without asking for more, bytes.
const SHARED_BYTES: usize = 48 * 1024;
/// Most threads of a block, and most blocks of a multiprocessor, of any device.
const MOST_THREADS: usize = 1024;
const MOST_BLOCKS: usize = 32;

/// Mapping of the columns to the threads of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mapping {
    /// A thread has a column, as in the first ports of this scheme to GPUs.
    Column,
    /// A block of threads has a few columns.
    Tile(Tile),
}

/// Variant of a kernel for its calls. It has no code that they do not need: on a small grid much of a call is spent on
/// instruction fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Purpose {
    /// `true` if they have one minor step, as nearly all have; else any number.
    pub is_short: bool,
    /// `true` if they compute the mass mismatch of their changes, and note values that are not finite, as in a run.
    pub weighs: bool,
    /// The region that they are made for, where they are for one alone: addresses that the compiler knows take fewer
    /// instructions. The fields of the water then follow one another from `qv` on, and those of the air from `rho` on,
    /// in the order of [`CloudArgs`].
    pub region: Option<Region>,
}

impl Purpose {
    /// Calls of one minor step in a run.
    pub const RUN: Self = Self { is_short: true, weighs: true, region: None };
}

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

/// Threads of a block of the column mapping: few, so that small grids reach all multiprocessors.
const COLUMN_THREADS: usize = 32;

/// Columns from which on wide tiles are faster: their rows fill the lines of the memory, where
/// narrow ones occupy more multiprocessors. On an H200 both take as long at 16 to 32 thousand
/// columns of a storm, and at 8 to 16 thousand of a cyclone.
const MANY_COLUMNS: usize = 30_000;

/// The columns of a narrow tile, at most.
const NARROW: usize = 8;

/// Columns from which on a region gets a kernel of its own; fewer take as long without one.
const WORTH_A_KERNEL: usize = 1_000;

/// Cells that a thread of a tile prefetches at a time.
const ASKED: usize = 3;
/// Threads that wide tiles of 32 and of 16 columns bind a multiprocessor for: the fastest on an H200, at 27
/// and at 50 levels.
const RESIDENT: [usize; 2] = [1152, 960];
/// Members of `Landing`, the results of a species in a column in a minor step, and of `Precipitation`, the sums of a
/// column.
const LANDING: usize = 3;
const SUMS: usize = 7;
/// Fewest threads of a wide tile, as many as have been found good at 27 levels.
const FEWEST_THREADS: usize = 160;

/// Mapping of sedimentation in a tile.
#[derive(Clone, Copy, Debug)]
struct Falling {
    /// Lanes that have a column.
    lanes: usize,
    /// Species of a column that fall together: one, or all.
    kinds: usize,
}

impl Falling {
    /// Mapping of a tile. If every column has a warp, and a level a lane is enough, the warp lets all species sediment
    /// together: their latencies overlap. In other tiles half a warp has one species, with two levels a lane. Beside
    /// the levels there is a place for the lid, and one above it.
    fn new(columns: usize, threads: usize, nz: usize) -> Self {
        if nz + 2 > WARP {
            Self { lanes: WARP, kinds: 1 }
        } else if threads >= WARP * columns {
            Self { lanes: WARP, kinds: FALLING_SPECIES }
        } else {
            Self { lanes: WARP / 2, kinds: 1 }
        }
    }
}

impl Tile {
    /// Tiles for a number of levels from the widest to the narrowest.
    fn all(nz: usize) -> [Self; 6] {
        [
            Self::wide(32, nz, RESIDENT[0]),
            Self::wide(16, nz, RESIDENT[1]),
            Self { columns: NARROW, threads: 256, blocks: 4 },
            Self { columns: 4, threads: 128, blocks: 4 },
            Self { columns: 2, threads: 128, blocks: 4 },
            Self { columns: 2, threads: 64, blocks: 4 },
        ]
    }

    /// A tile whose threads ask for all of their cells at once, with as many blocks as make up a number of
    /// threads on a multiprocessor.
    fn wide(columns: usize, nz: usize, resident: usize) -> Self {
        let threads = (columns * nz.div_ceil(ASKED))
            .next_multiple_of(WARP)
            .clamp(FEWEST_THREADS, MOST_THREADS);
        Self { columns, threads, blocks: (resident / threads).max(1) }
    }

    /// The tile for a number of columns: the widest one that fits, or a narrow one.
    pub fn choose(columns: usize, precision: Precision, fallout: Fallout, nz: usize) -> Self {
        let widest = if columns < MANY_COLUMNS { NARROW } else { WARP };
        let fits = |tile: &Self| {
            tile.columns <= widest && tile.shared_bytes(precision, fallout, nz) <= SHARED_BYTES
        };
        let all = Self::all(nz);
        let tile = all.into_iter().find(fits).unwrap_or(all[all.len() - 1]);
        match precision {
            Precision::F32 => tile,
            // Values take two registers.
            Precision::F64 => Self { blocks: tile.blocks.div_ceil(2), ..tile },
        }
    }

    /// Returns `true` if the kernel can be compiled for it.
    pub fn is_possible(self, precision: Precision, fallout: Fallout, nz: usize) -> bool {
        let Self { columns, threads, blocks } = self;
        let is_shape = columns.is_power_of_two()
            && columns <= WARP
            && threads.is_multiple_of(WARP)
            && (WARP..=MOST_THREADS).contains(&threads)
            && (1..=MOST_BLOCKS).contains(&blocks);
        // The cells of a thread are the bits of a word.
        is_shape
            && LEVELS.contains(&nz)
            && nz.div_ceil(threads / columns) <= u32::BITS as usize
            && self.shared_bytes(precision, fallout, nz) <= SHARED_BYTES
    }

    /// Shared memory of a block, bytes.
    pub fn shared_bytes(self, precision: Precision, fallout: Fallout, nz: usize) -> usize {
        let Self { columns, threads, .. } = self;
        let real = match precision {
            Precision::F32 => size_of::<f32>(),
            Precision::F64 => size_of::<f64>(),
        };
        let kept = match fallout {
            Fallout::SemiLagrangian => 0,
            Fallout::Substepped => 2,
        };
        let field = nz * (columns + 1);
        // The fall in a column begins where four values lie side by side.
        let align = 4 * real;
        let Falling { lanes, kinds } = Falling::new(columns, threads, nz);
        let slots = ((nz + 1) / lanes + 1) * lanes;
        let fall = (real * (4 * (nz + 1) + slots)).next_multiple_of(align);
        // Depths on their way to heights and the list of cells where something happens take the place of
        // the fall.
        let either =
            (threads / lanes * kinds * fall).max(real * field).max(size_of::<u16>() * nz * columns);
        // Nothing that is kept is a struct without members, which takes a byte.
        let fields = real * (10 + kept) * field + usize::from(kept == 0);
        let listed = FALLING_SPECIES * (size_of::<i32>() + columns);
        let sums = real * columns * (FALLING_SPECIES * LANDING + SUMS);
        // Columns that each species falls in, places of the columns, two counts, and clips.
        let integers = [FALLING_SPECIES, columns, 2, 1].map(|n| n * size_of::<i32>());
        let lists = integers[0] + listed.next_multiple_of(size_of::<i32>());
        let end = (fields.next_multiple_of(align) + either).next_multiple_of(align) + lists;
        let end = end.next_multiple_of(real) + sums + integers[1..].iter().sum::<usize>();
        end.next_multiple_of(align)
    }
}

impl Mapping {
    /// The fastest mapping for a number of columns.
    pub fn choose(columns: usize, precision: Precision, fallout: Fallout, nz: usize) -> Self {
        Self::Tile(Tile::choose(columns, precision, fallout, nz))
    }

    /// The file below `kernels/` that holds its kernel.
    pub fn file(self) -> &'static str {
        match self {
            Self::Column => "wsm5/column.cu",
            Self::Tile(_) => "wsm5/tile.cu",
        }
    }

    /// Its kernel.
    pub fn kernel(self) -> &'static str {
        match self {
            Self::Column => mark::WSM5_COLUMN,
            Self::Tile(_) => mark::WSM5_TILE,
        }
    }

    /// The settings for a number of levels as kernels see them, by name.
    pub fn constants(
        self,
        precision: Precision,
        nz: usize,
        fallout: Fallout,
        purpose: Purpose,
    ) -> Vec<(String, i32)> {
        let mut settings = match self {
            Self::Column => vec![("COLUMN_THREADS", COLUMN_THREADS)],
            Self::Tile(tile) => {
                let Tile { columns, threads, blocks } = tile;
                let Falling { lanes, kinds } = Falling::new(columns, threads, nz);
                vec![
                    ("TILE_COLUMNS", columns),
                    ("TILE_THREADS", threads),
                    ("TILE_BLOCKS", blocks),
                    ("TILE_LANES", lanes),
                    ("TILE_KINDS", kinds),
                    ("TILE_ASKED", ASKED),
                    ("TILE_BYTES", tile.shared_bytes(precision, fallout, nz)),
                ]
            }
        };
        settings.push(("ONE_STEP", usize::from(purpose.is_short)));
        settings.push(("WEIGHED", usize::from(purpose.weighs)));
        let settings = settings.into_iter().map(|(name, value)| (name, value as i32));
        settings
            .chain(Region::constants(purpose.region))
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// Returns `true` if a kernel for a region of so many columns pays: in wide tiles much else counts.
    pub fn is_made_for(self, columns: usize) -> bool {
        let is_narrow = matches!(self, Self::Tile(tile) if tile.columns <= NARROW);
        is_narrow && columns >= WORTH_A_KERNEL
    }

    /// Columns that its threads are given together, where rows of the fields begin at multiples of so many: those of
    /// a sector, so that no two tiles read the same one.
    pub fn together(self) -> usize {
        match self {
            Self::Column => 1,
            Self::Tile(_) => SECTOR,
        }
    }

    /// Blocks and threads of a block for a number of columns.
    pub fn blocks(self, columns: usize) -> [usize; 2] {
        match self {
            Self::Column => [columns.div_ceil(COLUMN_THREADS), COLUMN_THREADS],
            Self::Tile(tile) => [columns.div_ceil(tile.columns), tile.threads],
        }
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column => f.write_str("a thread for a column"),
            Self::Tile(Tile { columns, threads, .. }) => {
                write!(f, "{threads} threads for {columns} columns")
            }
        }
    }
}

/// The kernel that diagnoses reflectivity and radii.
pub mod diagnosis {
    use super::Region;

    /// The file below `kernels/` that holds it.
    pub const FILE: &str = "wsm5/diagnose.cu";
    /// Its name.
    pub const KERNEL: &str = "wsm5_diagnose";
    /// Columns of a block, and levels of a column that it looks at at a time.
    const BLOCK: [usize; 2] = [32, 8];

    /// The settings as the kernel sees them, by name.
    pub fn constants() -> Vec<(String, i32)> {
        let block = ["DIAGNOSIS_COLUMNS", "DIAGNOSIS_ROWS"].into_iter().zip(BLOCK);
        let block = block.map(|(name, value)| (name, value as i32));
        let all = block.chain(Region::constants(None));
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Blocks and threads of a block for a number of columns.
    pub fn blocks(columns: usize) -> [usize; 2] {
        [columns.div_ceil(BLOCK[0]), BLOCK[0] * BLOCK[1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tile is chosen for any number of levels, in both precisions and variants, and a block has
    /// the memory for it.
    #[test]
    fn every_tile_that_is_chosen_fits() {
        for nz in LEVELS {
            for (precision, fallout) in [Precision::F32, Precision::F64]
                .into_iter()
                .flat_map(|precision| Fallout::ALL.map(|fallout| (precision, fallout)))
            {
                for columns in [1, usize::MAX] {
                    let tile = Tile::choose(columns, precision, fallout, nz);
                    let bytes = tile.shared_bytes(precision, fallout, nz);
                    assert!(
                        bytes <= SHARED_BYTES && tile.is_possible(precision, fallout, nz),
                        "{tile:?}, {precision:?}, {fallout:?}, {nz} levels: {bytes} bytes"
                    );
                }
            }
        }
    }
}
