//! Launch configurations of the transport: the distribution of the cells of a grid among threads.

use std::fmt;
use std::ops::Range;

use crate::advection::{HALO, MARGIN};
use crate::device::WARP;
use crate::grid::gpu::Layout;
use crate::grid::{Grid, Shape};
use crate::real::Precision;

/// Block size and occupancy of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchBounds {
    /// Threads in a block.
    pub threads: usize,
    /// Blocks that a multiprocessor should hold at once (launch bounds), which limits the registers of a thread.
    pub resident: usize,
}

/// Launch configuration of a grid: the distribution of its cells among the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// The blocks of the stages without limiter.
    pub stage: LaunchBounds,
    /// The blocks of the two passes of the limited stage.
    pub limited: LaunchBounds,
    /// Cells of a thread, side by side in a row: at most those of the [`TuningPoint`]; 4 need rows of 8 cells or more,
    /// 2 need 2.
    pub cells: usize,
    /// Levels that a thread marches through.
    pub levels: usize,
    /// `true` if consecutive threads take consecutive groups of cells, row after row (linear indexing): on small grids
    /// without tiles, which have too little work to hide latency. Then only the last block of a tracer has idle
    /// threads.
    pub linear_indexing: bool,
    /// Groups of tracers that take a step independently of each other, on streams of their own: more than one with many
    /// tracers on a small grid, and only with linear indexing. Then consecutive blocks have the same tracer instead of
    /// the same cells, so that the values of its neighbouring rows are in the L2 cache.
    pub parts: usize,
    /// Without linear indexing: threads of a block side by side in a row; at most the threads of a block.
    pub width: usize,
    /// `true` if positive-definite tracers take their last stage in one pass, in tiles, instead of in two; needs rows
    /// of [`LaunchConfig::least_tiled`] cells or more.
    pub tiled: bool,
    /// `true` if stages without limiter use tiles, two tracers in a block; needs [`LaunchConfig::stages_can_be_tiled`].
    pub stages_tiled: bool,
}

/// Launch configuration independent of the grid, as measured for a device. Its text, which [`TuningPoint::parse`]
/// reads, is `cells=4 stages=5 limited=4 levels=even tiles=yes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TuningPoint {
    /// Cells of a thread, side by side in a row; fewer in shorter rows.
    pub cells: usize,
    /// Blocks of a stage without limiter that a multiprocessor should hold at once (launch bounds).
    pub stages: usize,
    /// Blocks of the two passes of the limited stage that a multiprocessor should hold at once.
    pub limited: usize,
    /// Levels that a thread marches through, at most all levels; `None` for the number that fills the device evenly.
    pub levels: Option<usize>,
    /// `true` if large grids use tiles: positive-definite tracers in their last stage, all tracers in the stages
    /// without limiter.
    pub tiles: bool,
}

/// Limits of a device for the kernels of the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceLimits {
    /// Its multiprocessors.
    pub multiprocessors: usize,
    /// Shared memory that a block can have, bytes.
    pub shared_bytes: usize,
}

/// Rows of a tile, and the rows that it finishes: the first lacks its southern neighbours, the last two lack northern
/// ones.
pub(super) const TILE_ROWS: usize = 16;
const TILE_OWN_ROWS: usize = TILE_ROWS - 3;

/// Most cells of a thread, side by side in a row.
pub const GROUP: usize = 4;

/// Columns and rows of a tile in a stage without limiter, whose threads have so many cells.
pub const STAGE_TILE: [usize; 2] = [GROUP * WARP, STAGE_ROWS];

/// Rows of a margin that tiles compute in stages without limiter: those that the next stages read.
pub const STAGE_MARGIN: usize = MARGIN - HALO;

/// Rows of a tile in a stage without limiter, and such blocks that a multiprocessor should hold, as in the kernels.
pub(super) const STAGE_ROWS: usize = 8;
const STAGE_RESIDENT: usize = 2;

/// Numbers for each level that kernels keep in shared memory behind the data of a tile: in stages without limiter, and
/// in the last stage.
pub(super) const STAGE_LEVEL_NUMBERS: usize = 2;
pub(super) const LIMIT_LEVEL_NUMBERS: usize = 5;

/// Tracers of a block; they share the wind.
const TRACERS_PER_BLOCK: usize = 2;

/// Bytes of a cache line; rows of tiles in shared memory have the same offset in a line as in global memory.
const LINE: usize = 128;

/// Shared memory that the system reserves for every block, bytes.
const RESERVED: usize = 1 << 10;

/// Fewest tiles for each multiprocessor: with fewer, too many multiprocessors are idle at the end of the launch.
const TILES_EACH: usize = 2;
const STAGE_TILES_EACH: usize = 8;

/// Longest side of a grid with tiles: kernels multiply it by the tiles of a row in 32 bits, and a launch has at most
/// 65,535 blocks along y and z.
const MOST_TILED: usize = 1 << 18;

/// Most blocks of a launch along y and z; the kernel of the sides has the tracers along y.
const MOST_ACROSS: usize = 65_535;

/// Numbers of columns from which on the built-in launch configuration changes.
const SMALL: usize = 10_000;
const MEDIUM: usize = 30_000;
const LARGE: usize = 150_000;

/// Fewest tracers on a small grid that are split into [`PARTS`] groups: with fewer, the blocks of a kernel fit on the
/// device nearly at once, and the groups would wait for each other's launches.
const MANY_TRACERS: usize = 20;

/// Groups of many tracers: the kernels of one group fill the multiprocessors that the last blocks of another leave idle.
const PARTS: usize = 2;

/// Cost of starting a march, in levels.
const MARCH_START_LEVELS: usize = 1;

/// Rows that tiles compute in stages without limiter: those that the grid owns, and [`STAGE_MARGIN`] beyond them.
pub(super) fn stage_rows(grid: &Grid) -> Range<usize> {
    let Range { start, end } = grid.owned().rows;
    start.saturating_sub(STAGE_MARGIN)..(end + STAGE_MARGIN).min(grid.shape.ny)
}

/// Rows that tiles compute in the limited stage, after which a margin is refreshed: those that the grid owns.
pub(super) fn limited_rows(grid: &Grid) -> Range<usize> {
    grid.owned().rows
}

impl TuningPoint {
    /// Cells of a thread that kernels are written for: at least two, so that a thread with an outermost cell of a
    /// specified side also has the cell inside it.
    pub const CELLS: [usize; 2] = [2, GROUP];
    /// Blocks of a multiprocessor that registers can be bounded for (launch bounds).
    pub const RESIDENT: std::ops::RangeInclusive<usize> = 1..=16;

    /// The built-in configuration for a number of columns, the fastest on an H200.
    ///
    /// On large grids the bounds are tight: more warps hide more latency, which is worth some register spills.
    pub fn choose(columns: usize, precision: Precision) -> Self {
        let (cells, stages, limited, levels) = match precision {
            Precision::F32 if columns < SMALL => (4, 4, 4, None),
            Precision::F32 if columns < MEDIUM => (4, 5, 4, Some(2)),
            Precision::F32 if columns < LARGE => (4, 5, 4, Some(6)),
            Precision::F32 => (4, 6, 4, Some(6)),
            // Double-precision values take two registers each.
            Precision::F64 => (2, 2, 2, None),
        };
        Self { cells, stages, limited, levels, tiles: precision == Precision::F32 }
    }

    /// The built-in configuration for many tracers on a small grid, the fastest on an H100; `None` for any other grid or
    /// number of tracers.
    pub fn for_many_tracers(columns: usize, tracers: usize, precision: Precision) -> Option<Self> {
        let are_many = precision == Precision::F32 && columns < SMALL && tracers >= MANY_TRACERS;
        are_many.then_some(Self { cells: 4, stages: 5, limited: 4, levels: Some(4), tiles: true })
    }

    /// Returns `true` if kernels can be compiled for this configuration.
    pub fn is_possible(self, precision: Precision) -> bool {
        Self::CELLS.contains(&self.cells)
            && [self.stages, self.limited].iter().all(|blocks| Self::RESIDENT.contains(blocks))
            && self.levels != Some(0)
            // In double precision a tile would need more registers than its threads can have.
            && (!self.tiles || precision == Precision::F32)
    }

    /// Reads the text form; `None` if the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut value = |name: &str| words.next()?.strip_prefix(name)?.strip_prefix('=');
        let number = |text: &str| text.parse::<usize>().ok();
        let point = Self {
            cells: number(value("cells")?)?,
            stages: number(value("stages")?)?,
            limited: number(value("limited")?)?,
            levels: match value("levels")? {
                "even" => None,
                levels => Some(number(levels)?),
            },
            tiles: match value("tiles")? {
                "yes" => true,
                "no" => false,
                _ => return None,
            },
        };
        words.next().is_none().then_some(point)
    }
}

impl fmt::Display for TuningPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cells, stages, limited, levels, tiles } = self;
        let levels = levels.map_or_else(|| "even".to_owned(), |levels| levels.to_string());
        let tiles = if *tiles { "yes" } else { "no" };
        write!(f, "cells={cells} stages={stages} limited={limited} levels={levels} tiles={tiles}")
    }
}

impl LaunchConfig {
    /// The launch configuration of a grid with `tracers` tracers on a device, from the measured or built-in `point`.
    pub fn of(
        point: TuningPoint,
        grid: &Grid,
        tracers: usize,
        limits: DeviceLimits,
        precision: Precision,
    ) -> Self {
        let shape = grid.shape;
        // Rows of two groups or more, so that a group of four touches one end of a row at most.
        let room = |cells: usize| if cells < 4 { cells } else { 2 * cells };
        let fits = |cells: &usize| *cells <= point.cells && room(*cells) <= shape.nx;
        let cells = [4, 2, 1].into_iter().find(fits).unwrap_or(1);
        let layout = Layout::of(grid, cells);
        let groups = layout.pitch().div_ceil(cells);
        let width = groups.div_ceil(groups.div_ceil(WARP));
        let block = |resident| LaunchBounds { threads: 128, resident };
        let (stage, limited) = (block(point.stages), block(point.limited));
        let launch_config = Self {
            stage,
            limited,
            cells,
            levels: 1,
            linear_indexing: shape.columns() < SMALL,
            parts: 1,
            width,
            tiled: false,
            stages_tiled: false,
        };
        // Longer marches reuse more values in registers; more groups of levels fill the device more evenly.
        let time = |levels| {
            let launch_config = Self { levels, ..launch_config };
            let (blocks, _) = launch_config.launch(layout, tracers, launch_config.limited);
            let at_once = limits.multiprocessors * point.limited;
            blocks.into_iter().product::<usize>().div_ceil(at_once) * (levels + MARCH_START_LEVELS)
        };
        let even = || (1..=shape.nz).min_by_key(|levels| time(*levels)).unwrap_or(1);
        let levels = point.levels.unwrap_or_else(even).min(shape.nz);
        let tiled = point.tiles
            && layout.pitch() >= launch_config.least_tiled()
            && layout.pitch().max(shape.ny) <= MOST_TILED
            && launch_config.tile_bytes(shape.nz, precision) <= limits.shared_bytes
            && launch_config.tiles(grid, tracers).iter().product::<usize>()
                >= TILES_EACH * limits.multiprocessors;
        let block_smem_bytes = launch_config.stage_bytes(shape.nz, tracers, precision) + RESERVED;
        let stages_tiled = point.tiles
            && tracers >= TRACERS_PER_BLOCK
            && launch_config.stages_can_be_tiled(layout)
            && STAGE_RESIDENT * block_smem_bytes <= limits.shared_bytes + RESERVED
            && launch_config.stage_tiles(grid, tracers).iter().product::<usize>()
                >= STAGE_TILES_EACH * limits.multiprocessors
            && tracers <= MOST_ACROSS;
        let linear_indexing = launch_config.linear_indexing && !tiled && !stages_tiled;
        let are_many = TuningPoint::for_many_tracers(shape.columns(), tracers, precision).is_some();
        let is_split = linear_indexing && are_many && tracers <= MOST_ACROSS;
        let parts = if is_split { PARTS } else { 1 };
        Self { levels, linear_indexing, parts, tiled, stages_tiled, ..launch_config }
    }

    /// Returns `true` if stages without limiter can use tiles: rows begin at multiples of the cells of a thread, a
    /// thread has at least as many cells as the stencil reaches, and a tile fits into the grid.
    pub fn stages_can_be_tiled(self, layout: Layout) -> bool {
        let (pitch, ny) = (layout.pitch(), layout.shape.ny);
        self.cells >= HALO
            && layout.has_groups_of(self.cells)
            && pitch >= WARP * self.cells
            && ny >= STAGE_ROWS
            && pitch.max(ny) <= MOST_TILED
    }

    /// Numbers of tiles in a stage without limiter: by pairs of tracers, along the rows, and across [`stage_rows`].
    pub(super) fn stage_tiles(self, grid: &Grid, tracers: usize) -> [usize; 3] {
        [
            tracers.div_ceil(TRACERS_PER_BLOCK),
            Layout::of(grid, self.cells).pitch().div_ceil(WARP * self.cells),
            stage_rows(grid).len().div_ceil(STAGE_ROWS),
        ]
    }

    /// Numbers of blocks of the kernel of the sides, for the groups at sides in x: along them, and by tracers.
    pub(super) fn side_blocks(self, layout: Layout, tracers: usize) -> [usize; 3] {
        // If the easternmost group has fewer cells than the stencil reaches, the group before it is near the side too.
        let in_the_east = self.cells - (layout.fill - layout.first);
        let groups = if in_the_east < HALO { 3 } else { 2 };
        let Shape { ny, nz, .. } = layout.shape;
        let threads = groups * ny * nz.div_ceil(self.levels);
        [threads.div_ceil(self.stage.threads), tracers, 1]
    }

    /// Shared memory of a tile in a stage without limiter, bytes.
    pub(super) fn stage_bytes(self, nz: usize, tracers: usize, precision: Precision) -> usize {
        let room = self.stage_smem_bytes(tracers.min(TRACERS_PER_BLOCK), precision);
        room + STAGE_LEVEL_NUMBERS * nz * precision.bytes()
    }

    /// Size of `StageSmem` in kernels for `together` tracers, bytes.
    pub(super) fn stage_smem_bytes(self, together: usize, precision: Precision) -> usize {
        let group = self.cells * precision.bytes();
        let (row, edges) = (WARP * group, 2 * group);
        let latest = together * ((STAGE_ROWS + 2 * HALO) * row + STAGE_ROWS * edges);
        let mass_x = STAGE_ROWS * (row + LINE);
        let masses = mass_x + (2 * STAGE_ROWS + 1) * row;
        let south = together * (STAGE_ROWS + 1) * row;
        let shared = (together + 2) * STAGE_ROWS * row;
        (3 * latest + 2 * (masses + south) + shared).next_multiple_of(LINE)
    }

    /// Cells at an end of a row of a tile that lack their neighbours.
    fn ring(self) -> usize {
        (HALO + self.cells) / self.cells * self.cells
    }

    /// Cells of a row that a tile finishes.
    fn tile_cells(self) -> usize {
        WARP * self.cells - 2 * self.ring()
    }

    /// Shortest row, in elements, that is divided into tiles: the cells that a tile finishes, and a ring.
    pub fn least_tiled(self) -> usize {
        self.tile_cells() + self.ring()
    }

    /// Numbers of tiles of the limited stage: by tracers, along the rows, and across [`limited_rows`].
    pub(super) fn tiles(self, grid: &Grid, tracers: usize) -> [usize; 3] {
        let strips = Layout::of(grid, self.cells).pitch().div_ceil(self.tile_cells());
        [tracers, strips, limited_rows(grid).len().div_ceil(TILE_OWN_ROWS)]
    }

    /// Shared memory of a tile in the limited stage, bytes.
    pub(super) fn tile_bytes(self, nz: usize, precision: Precision) -> usize {
        // Capacities along z are at interfaces: one more than levels.
        let of_levels = LIMIT_LEVEL_NUMBERS * nz + 1;
        // One more line, so that rows can keep their offset in a line.
        LINE + self.limit_smem_bytes(precision) + of_levels * precision.bytes()
    }

    /// Size of `LimitSmem` in kernels, bytes.
    pub(super) fn limit_smem_bytes(self, precision: Precision) -> usize {
        let rows_ahead = 3 * (TILE_ROWS + 2 * HALO - 1) + 2 * (TILE_ROWS + 1) + 3 * TILE_ROWS;
        let rows = rows_ahead + 3 * TILE_ROWS;
        rows * WARP * self.cells * precision.bytes()
    }

    /// Blocks (along the rows and by tracers, across the rows, by groups of levels) and threads of a block, at most
    /// those of `block`. With linear indexing the blocks are by tracers, and over all cells of a tracer, or the other way
    /// round if the tracers are in several parts.
    pub fn launch(
        self,
        layout: Layout,
        tracers: usize,
        block: LaunchBounds,
    ) -> ([usize; 3], usize) {
        let Shape { ny, nz, .. } = layout.shape;
        let groups = layout.pitch().div_ceil(self.cells);
        if self.linear_indexing {
            let threads = groups * ny * nz.div_ceil(self.levels);
            let of_tracer = threads.div_ceil(block.threads);
            let blocks = if self.parts > 1 { [of_tracer, tracers] } else { [tracers, of_tracer] };
            return ([blocks[0], blocks[1], 1], block.threads);
        }
        let strips = groups.div_ceil(self.width);
        // Rows are divided evenly among the blocks.
        let most = (block.threads / self.width).max(1);
        let rows = ny.div_ceil(ny.div_ceil(most));
        let blocks = [tracers * strips, ny.div_ceil(rows), nz.div_ceil(self.levels)];
        (blocks, (rows * self.width).next_multiple_of(WARP))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Parts, Side, Sides};

    /// Half of 1024x1024 columns with a margin of ten rows, on either side of the cut.
    #[test]
    fn tiles_leave_out_rows_that_nothing_reads() {
        let shape = Shape { nx: 1024, ny: 1024, nz: 27 };
        let whole = Grid::whole(shape, [1.0; 2], Sides::all(Side::Specified));
        let parts = Parts::new(&whole, [&[], &[512]], [MARGIN; 2]);
        let [south, north] = parts.grids() else { panic!("two parts") };
        for (part, first_rows) in [(south, [0, 0]), (north, [3, 10])] {
            assert_eq!(part.shape.ny, 522);
            assert_eq!([stage_rows(part), limited_rows(part)].map(|rows| rows.start), first_rows);
            assert_eq!([stage_rows(part), limited_rows(part)].map(|rows| rows.len()), [519, 512]);
            let limits = DeviceLimits { multiprocessors: 132, shared_bytes: 227 << 10 };
            let point = TuningPoint::choose(shape.columns(), Precision::F32);
            let config = LaunchConfig::of(point, part, 6, limits, Precision::F32);
            assert_eq!(
                [config.stage_tiles(part, 6), config.tiles(part, 6)],
                [[3, 8, 65], [6, 9, 40]]
            );
        }
    }

    #[test]
    fn groups_are_taken_in_turn_only_without_tiles() {
        let limits = DeviceLimits { multiprocessors: 132, shared_bytes: 227 << 10 };
        let launch_config = |nx, ny, tracers| {
            let shape = Shape { nx, ny, nz: 27 };
            let grid = Grid::whole(shape, [1.0; 2], Sides::all(Side::Specified));
            let point = TuningPoint::choose(shape.columns(), Precision::F32);
            LaunchConfig::of(point, &grid, tracers, limits, Precision::F32)
        };
        // Many tracers make up enough tiles on a small grid too.
        let [few, many, large] =
            [launch_config(132, 70, 6), launch_config(132, 70, 81), launch_config(110, 100, 6)];
        assert!(few.linear_indexing && !few.tiled && few.parts == 1);
        assert!(many.tiled && !many.linear_indexing && many.parts == 1);
        // Rows too short for tiles.
        let [few, many] = [launch_config(71, 58, 6), launch_config(71, 58, 65)];
        assert!(few.linear_indexing && few.parts == 1);
        assert!(many.linear_indexing && many.parts > 1);
        assert!(!large.linear_indexing);
    }
}
