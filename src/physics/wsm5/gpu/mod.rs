//! The microphysics on the device: launch configurations, compile-time variants and arguments of its kernels.
//!
//! # Decisions
//!
//! **Two mappings of columns to threads.**
//!
//! - A thread for each column (`kernels/physics/wsm5/column.cu`) repeats the CPU version operation by operation, with
//!   its bits on the emulated device.
//! - A block for each tile of columns (`kernels/physics/wsm5/tile.cu`) has one mapping for each phase: all cells are
//!   examined; sedimentation runs in lanes that hold the levels of a column; the processes run in active cells only.
//!
//! Tiles are narrow or wide:
//!
//! - Narrow tiles serve small grids, where a block takes as long as its longest chain of dependent instructions. A
//!   column has a warp, in which all species sediment together, and a thread has one cell for the processes.
//! - Wide tiles serve large grids, where the instruction count matters. Half a warp has one species of a column at a
//!   time, from a list of columns. Active cells are listed for all threads, warm ones from one end and cold ones from
//!   the other, so that the lanes of a warp take the same branches. The heights in a column are computed once for all
//!   its species, and replace the depths of its layers.
//!
//! For all tiles:
//!
//! - Tiles begin at memory sectors if the rows do, so that no two tiles read the same sector. Columns outside the
//!   region that fill up a sector are idle.
//! - The limiter of terminal velocities, a recursion on the CPU, is a maximum over the lanes, computed only if
//!   neighbouring values require it.
//! - All formulas are those of the twins, except the power of a slope (`kernels/primitives/power_of_root.cuh`).
//! - The bits of a column depend neither on its neighbours nor on the order of the threads: sums have a fixed order,
//!   and atomic operations are on integers, or on a run's sum that only one thread updates.
//!
//! **A kernel is compiled for its use** (`KernelVariant`).
//!
//! - Variants exist for calls of one minor step, the common case, or of any number, and with or without the mass
//!   mismatch of their changes, which runs need.
//! - Narrow tiles of 1,000 columns or more are also compiled for their region (`column_map`): its columns and the offsets
//!   of its fields are then constants, so that all fields are addressed from one base.
//! - Compilation takes place at the first such call, or ahead of it, concurrently with other kernels of a run
//!   (`Gpu::compile_ahead`): one after the other it took six seconds, unless the code was in NVRTC's own cache.
//! - Formulas prefer selection to branches. On a small grid a call takes 7 us, of which about a seventh was instruction
//!   fetch for code that never ran but lay between code that did.

#![allow(unsafe_code, reason = "the launcher of a kernel is responsible for its arguments")]

pub mod column_map;
pub mod column_physics;
pub(crate) mod in_run;
pub mod kernels;
pub mod launch;
pub(crate) mod prelude;
pub mod tile;
pub mod tuning;

use std::fmt;

use crate::cuda_abi::{DevicePointer, ReadPointer, shared_constants, shared_struct};
use crate::dry_mass::gpu::LayeredPointers;
use crate::grid::gpu::SECTOR;
use crate::physics::wsm5::Sedimentation;
use crate::physics::wsm5::gpu::column_map::Region;
pub use crate::physics::wsm5::gpu::tile::{Tile, TileContents};
use crate::physics::wsm5::params::{SchemeConstants, Wsm5Params};
use crate::physics::wsm5::reflectivity::Bins;
use crate::real::Precision;

shared_constants! {
    /// Constants of the kernels only; no result depends on them.
    pub trait KernelConstants: SchemeConstants;

    /// Relative humidity below which nothing can condense in a cell without condensate, with a margin for rounding;
    /// above it the processes decide.
    exact NEARLY_SATURATED = 0.999, "1";
}

shared_struct! {
    /// Arguments of the kernels of the microphysics.
    ///
    /// Fields have shape (nz, ny, nx), planes at the ground (ny, nx). Members that a kernel reads first stand first,
    /// since the kernel waits for every cache line of its arguments.
    pub struct Wsm5Args<R> {
        /// Word for the mark of a kernel that has begun; null if marks are off.
        marks: DevicePointer<u64>, "1";
        /// Number of minor steps.
        minor_steps: i32, "1";
        /// The columns that threads process; a kernel may be compiled for one region.
        region: Region, "1";
        /// Potential temperature less `theta_base`; input and output, as are the five below.
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
        /// Water that sedimentation has created in the call; set.
        fall_residual: DevicePointer<R>, "kg m⁻²";
        /// Water that clipping at zero has added in the call; set.
        clipped: DevicePointer<R>, "kg m⁻²";
        /// Mass mismatch: water that the changes lose or create, since the dry mass of a cell is not rho dz; set if
        /// `mass` is given.
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
        /// Index of this step in its batch, for notes of values that are not finite.
        step: i32, "1";
        /// Index of `theta` among the fields of all states.
        theta_number: i32, "1";
        /// Index of `qv` among them; the other species follow.
        water_number: i32, "1";
        /// Padding.
        filler: i32, "1";
    }
}

shared_struct! {
    /// Arguments of the kernel that diagnoses reflectivity and radii.
    pub struct DiagnosisArgs<R> {
        /// The cells; only read. Planes at the ground are not read.
        cloud: Wsm5Args<R>, "1";
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

/// Names of the kernels of a call, for each mapping.
pub(crate) const KERNELS: [&str; 2] = ["wsm5_column", "wsm5_tile"];

/// Numbers of levels that the kernels are written and tested for.
pub const DEVICE_LEVELS: std::ops::RangeInclusive<usize> = 4..=128;

/// Mapping of the columns to the threads of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mapping {
    /// A thread for a column, as in the first GPU ports of this scheme.
    Column,
    /// A block of threads for a tile of columns.
    Tile(Tile),
}

/// Variant of a kernel for a kind of calls, without code that they do not need: on a small grid much of a call is spent
/// on instruction fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelVariant {
    /// `true` for calls of one minor step, the common case; `false` for any number.
    pub is_short: bool,
    /// `true` if calls compute the mass mismatch of their changes and note values that are not finite, as in a run.
    pub tracks_mismatch: bool,
    /// The region that the kernel is compiled for, if any: constant addresses take fewer instructions. The fields of
    /// the water then follow one another from `qv` on, and those of the air from `rho` on, in the order of
    /// [`Wsm5Args`].
    pub region: Option<Region>,
}

impl KernelVariant {
    /// Calls of one minor step in a run.
    pub const RUN: Self = Self { is_short: true, tracks_mismatch: true, region: None };
}

/// Threads of a block of the column mapping: few, so that small grids reach all multiprocessors.
const COLUMN_THREADS: usize = 32;

/// Columns from which on a region gets a kernel of its own; with fewer it gains nothing.
const WORTH_A_KERNEL: usize = 1_000;

impl Mapping {
    /// The built-in mapping for a number of columns.
    pub fn choose(
        columns: usize,
        precision: Precision,
        contents: impl Into<TileContents>,
        nz: usize,
    ) -> Self {
        Self::Tile(Tile::choose(columns, precision, contents, nz))
    }

    /// Kernel file, below `kernels/`.
    pub fn file(self) -> &'static str {
        match self {
            Self::Column => "physics/wsm5/column.cu",
            Self::Tile(_) => "physics/wsm5/tile.cu",
        }
    }

    /// Kernel name.
    pub fn kernel(self) -> &'static str {
        match self {
            Self::Column => KERNELS[0],
            Self::Tile(_) => KERNELS[1],
        }
    }

    /// The settings for a number of levels, by their names in the kernel.
    pub fn constants(
        self,
        precision: Precision,
        nz: usize,
        fallout: Sedimentation,
        variant: KernelVariant,
    ) -> Vec<(String, i32)> {
        let mut settings = match self {
            Self::Column => vec![("COLUMN_THREADS", COLUMN_THREADS)],
            Self::Tile(tile) => tile.constants(precision, fallout, nz).to_vec(),
        };
        settings.push(("ONE_STEP", usize::from(variant.is_short)));
        settings.push(("TRACK_MISMATCH", usize::from(variant.tracks_mismatch)));
        let settings = settings.into_iter().map(|(name, value)| (name, value as i32));
        settings
            .chain(Region::constants(variant.region))
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// Returns `true` if a kernel compiled for a region of `columns` columns pays; with wide tiles it does not.
    pub fn is_made_for(self, columns: usize) -> bool {
        let is_narrow = matches!(self, Self::Tile(tile) if tile.is_narrow());
        is_narrow && columns >= WORTH_A_KERNEL
    }

    /// Columns that threads process together if rows of the fields begin at multiples of that number: those of a memory
    /// sector, so that no two tiles read the same sector.
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

    /// Its file, below `kernels/`.
    pub const FILE: &str = "physics/wsm5/diagnose.cu";
    /// Its name.
    pub const KERNEL: &str = "wsm5_diagnose";
    /// Columns of a block, and levels of a column that it processes at a time.
    const BLOCK: [usize; 2] = [32, 8];

    /// The settings, by their names in the kernel.
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
