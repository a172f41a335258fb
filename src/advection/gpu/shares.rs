//! Launch configurations of the transport: the distribution of the cells of a grid among threads.

use std::fmt;

use crate::advection::REACH;
use crate::device::WARP;
use crate::grid::gpu::Layout;
use crate::grid::{Grid, Shape};
use crate::real::Precision;

/// The blocks of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Threads in a block.
    pub threads: usize,
    /// Blocks that a multiprocessor is to hold at once, which limits their registers.
    pub resident: usize,
}

/// Launch configuration of a grid: the distribution of its cells among the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// The blocks of the stages without limiter.
    pub stage: Block,
    /// The blocks of the two passes of the limited stage.
    pub limited: Block,
    /// Cells of a thread, side by side in a row: 2, or 4 where a row has 8 or more; 1 where it has no more.
    pub cells: usize,
    /// Levels that a thread marches through.
    pub levels: usize,
    /// `true` if threads take groups of cells in turn, row after row: on small grids, where there is not enough work to
    /// hide latency, and without tiles. No block but the last of a tracer has threads without cells then.
    pub in_turn: bool,
    /// Otherwise, threads of a block side by side in a row, before the next row follows; at most the threads
    /// of a block.
    pub width: usize,
    /// `true` if positive-definite tracers take their last stage in one pass, by tiles, instead of in two; for rows of
    /// [`Shares::least_tiled`] cells or more.
    pub tiled: bool,
    /// `true` if stages without limiter go by tiles, two tracers in a block: if [`Shares::stages_can_be_tiled`].
    pub stages_tiled: bool,
}

/// Launch configuration whatever the grid, as it is measured for a device. It is written, and read by [`March::parse`],
/// as `cells=4 stages=5 limited=4 levels=even tiles=yes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct March {
    /// Cells of a thread, side by side in a row, where a row has so many.
    pub cells: usize,
    /// Blocks of a stage without limiter that a multiprocessor is to hold at once.
    pub stages: usize,
    /// The same for the two passes of the limited stage.
    pub limited: usize,
    /// Levels that a thread marches through, or all where there are fewer; without it as many as fill
    /// the device evenly.
    pub levels: Option<usize>,
    /// `true` if, on grids large enough, positive-definite tracers take their last stage by tiles, and all tracers the
    /// stages without limiter.
    pub tiles: bool,
}

/// Limits of a device for the kernels of the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its multiprocessors.
    pub multiprocessors: usize,
    /// Shared memory that a block can have, bytes.
    pub shared_bytes: usize,
}

/// Rows of a tile, and those of them that it finishes: the first lacks its southern neighbour, the
/// last two lack northern ones.
pub(super) const TILE_ROWS: usize = 16;
const TILE_OWN_ROWS: usize = TILE_ROWS - 3;

/// Rows of a tile of a stage without limiter, and blocks of it that a multiprocessor is to hold, as
/// kernels have it.
pub(super) const STAGE_ROWS: usize = 8;
const STAGE_RESIDENT: usize = 2;

/// Numbers of every level that kernels keep behind the room of a tile: in stages without limiter, and in the
/// last stage.
pub(super) const STAGE_LEVEL_NUMBERS: usize = 2;
pub(super) const LIMIT_LEVEL_NUMBERS: usize = 5;

/// Tracers of a block that share the wind.
const TOGETHER: usize = 2;

/// Bytes of a line of the cache, which the rows of tiles lie in as they do in memory.
const LINE: usize = 128;

/// Shared memory that a multiprocessor keeps for itself for every block, bytes.
const RESERVED: usize = 1 << 10;

/// Tiles that a multiprocessor should get, at least: fewer leave too many of them idle at the end.
const TILES_EACH: usize = 2;
const STAGE_TILES_EACH: usize = 8;

/// The most cells of a side that tiles are laid on: kernels multiply it by the tiles of a row in 32
/// bits, and a launch has 65,535 blocks across at most.
const MOST_TILED: usize = 1 << 18;

/// The most blocks of a launch beside one another but along its first axis: the kernel of the sides has the tracers
/// there.
const MOST_ACROSS: usize = 65_535;

/// Columns from which on threads march in another way.
const SMALL: usize = 10_000;
const MEDIUM: usize = 30_000;
const LARGE: usize = 150_000;

/// Cost of the start of a march, in levels of it.
const SETTING_OUT: usize = 1;

impl March {
    /// The cells of a thread that kernels are made for: two at least, of which one is inside a specified
    /// side and the other is not.
    pub const CELLS: [usize; 2] = [2, 4];
    /// The blocks of a multiprocessor that registers can be limited for (launch bounds).
    pub const RESIDENT: std::ops::RangeInclusive<usize> = 1..=16;

    /// The built-in march for a number of columns, the fastest on an H200.
    ///
    /// Blocks have the registers that they need but on large grids, where more warps, of which some wait for
    /// data while others calculate, are worth some spilled values.
    pub fn choose(columns: usize, precision: Precision) -> Self {
        let (cells, stages, limited, levels) = match precision {
            Precision::F32 if columns < SMALL => (4, 4, 4, None),
            Precision::F32 if columns < MEDIUM => (4, 5, 4, Some(2)),
            Precision::F32 if columns < LARGE => (4, 5, 4, Some(6)),
            Precision::F32 => (4, 6, 4, Some(6)),
            // Values take two registers each.
            Precision::F64 => (2, 2, 2, None),
        };
        Self { cells, stages, limited, levels, tiles: precision == Precision::F32 }
    }

    /// Returns `true` if kernels can be made for it.
    pub fn is_possible(self, precision: Precision) -> bool {
        Self::CELLS.contains(&self.cells)
            && [self.stages, self.limited].iter().all(|blocks| Self::RESIDENT.contains(blocks))
            && self.levels != Some(0)
            // Values in f64 would take more registers than the threads of a tile can have.
            && (!self.tiles || precision == Precision::F32)
    }

    /// Reads one as it is written; `None` where the text is none.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut value = |name: &str| words.next()?.strip_prefix(name)?.strip_prefix('=');
        let number = |text: &str| text.parse::<usize>().ok();
        let march = Self {
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
        words.next().is_none().then_some(march)
    }
}

impl fmt::Display for March {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cells, stages, limited, levels, tiles } = self;
        let levels = levels.map_or_else(|| "even".to_owned(), |levels| levels.to_string());
        let tiles = if *tiles { "yes" } else { "no" };
        write!(f, "cells={cells} stages={stages} limited={limited} levels={levels} tiles={tiles}")
    }
}

impl Shares {
    /// The shares of a grid for `tracers` tracers that march so on a device.
    pub fn of(
        march: March,
        grid: &Grid,
        tracers: usize,
        offer: Offer,
        precision: Precision,
    ) -> Self {
        let shape = grid.shape;
        // Groups of four are at one end of a row at most.
        let room = |cells: usize| if cells < 4 { cells } else { 2 * cells };
        let fits = |cells: &usize| *cells <= march.cells && room(*cells) <= shape.nx;
        let cells = [4, 2, 1].into_iter().find(fits).unwrap_or(1);
        let layout = Layout::of(grid, cells);
        let groups = layout.pitch().div_ceil(cells);
        let width = groups.div_ceil(groups.div_ceil(WARP));
        let block = |resident| Block { threads: 128, resident };
        let (stage, limited) = (block(march.stages), block(march.limited));
        let shares = Self {
            stage,
            limited,
            cells,
            levels: 1,
            in_turn: shape.columns() < SMALL,
            width,
            tiled: false,
            stages_tiled: false,
        };
        // A thread that marches upward finds its last values in its registers, but the device
        // should be filled evenly.
        let time = |levels| {
            let shares = Self { levels, ..shares };
            let (blocks, _) = shares.launch(layout, tracers, shares.limited);
            let at_once = offer.multiprocessors * march.limited;
            blocks.into_iter().product::<usize>().div_ceil(at_once) * (levels + SETTING_OUT)
        };
        let even = || (1..=shape.nz).min_by_key(|levels| time(*levels)).unwrap_or(1);
        let levels = march.levels.unwrap_or_else(even).min(shape.nz);
        let tiled = march.tiles
            && layout.pitch() >= shares.least_tiled()
            && layout.pitch().max(shape.ny) <= MOST_TILED
            && shares.tile_bytes(shape.nz, precision) <= offer.shared_bytes
            && shares.tiles(layout, tracers).iter().product::<usize>()
                >= TILES_EACH * offer.multiprocessors;
        let stage_room = shares.stage_bytes(shape.nz, tracers, precision) + RESERVED;
        let stages_tiled = march.tiles
            && tracers >= TOGETHER
            && shares.stages_can_be_tiled(layout)
            && STAGE_RESIDENT * stage_room <= offer.shared_bytes + RESERVED
            && shares.stage_tiles(layout, tracers).iter().product::<usize>()
                >= STAGE_TILES_EACH * offer.multiprocessors
            && tracers <= MOST_ACROSS;
        let in_turn = shares.in_turn && !tiled && !stages_tiled;
        Self { levels, in_turn, tiled, stages_tiled, ..shares }
    }

    /// Returns `true` if stages without limiter can go by tiles: rows begin at multiples of a thread's cells, which are
    /// no fewer than a stencil reaches, and a tile lies within the grid.
    pub fn stages_can_be_tiled(self, layout: Layout) -> bool {
        let (pitch, ny) = (layout.pitch(), layout.shape.ny);
        self.cells >= REACH
            && layout.has_groups_of(self.cells)
            && pitch >= WARP * self.cells
            && ny >= STAGE_ROWS
            && pitch.max(ny) <= MOST_TILED
    }

    /// Tiles of a stage without limiter: by pairs of tracers, along the rows, and across them.
    pub(super) fn stage_tiles(self, layout: Layout, tracers: usize) -> [usize; 3] {
        [
            tracers.div_ceil(TOGETHER),
            layout.pitch().div_ceil(WARP * self.cells),
            layout.shape.ny.div_ceil(STAGE_ROWS),
        ]
    }

    /// The blocks of such a stage's kernel of the sides, for the groups at sides in x: along them, and the tracers.
    pub(super) fn side_blocks(self, layout: Layout, tracers: usize) -> [usize; 3] {
        // Of the groups in the east the last but one is near the side where the last has few cells.
        let in_the_east = self.cells - (layout.fill - layout.first);
        let groups = if in_the_east < REACH { 3 } else { 2 };
        let Shape { ny, nz, .. } = layout.shape;
        let threads = groups * ny * nz.div_ceil(self.levels);
        [threads.div_ceil(self.stage.threads), tracers, 1]
    }

    /// Shared memory of such a tile, bytes.
    pub(super) fn stage_bytes(self, nz: usize, tracers: usize, precision: Precision) -> usize {
        let room = self.stage_room(tracers.min(TOGETHER), precision);
        room + STAGE_LEVEL_NUMBERS * nz * precision.bytes()
    }

    /// Size of `StageRoom` in kernels for as many tracers, bytes.
    pub(super) fn stage_room(self, together: usize, precision: Precision) -> usize {
        let group = self.cells * precision.bytes();
        let (row, beside) = (WARP * group, 2 * group);
        let latest = together * ((STAGE_ROWS + 2 * REACH) * row + STAGE_ROWS * beside);
        let mass_x = STAGE_ROWS * (row + LINE);
        let masses = mass_x + (2 * STAGE_ROWS + 1) * row;
        let south = together * (STAGE_ROWS + 1) * row;
        let shared = (together + 2) * STAGE_ROWS * row;
        (3 * latest + 2 * (masses + south) + shared).next_multiple_of(LINE)
    }

    /// Cells at an end of a row of a tile that lack their neighbours.
    fn ring(self) -> usize {
        (REACH + self.cells) / self.cells * self.cells
    }

    /// Cells of a row that a tile finishes.
    fn tile_cells(self) -> usize {
        WARP * self.cells - 2 * self.ring()
    }

    /// The fewest places of a row that tiles can be laid on: one tile and the ring of the next.
    pub fn least_tiled(self) -> usize {
        self.tile_cells() + self.ring()
    }

    /// Tiles of all tracers: by tracers, along the rows, and across them.
    pub(super) fn tiles(self, layout: Layout, tracers: usize) -> [usize; 3] {
        let strips = layout.pitch().div_ceil(self.tile_cells());
        [tracers, strips, layout.shape.ny.div_ceil(TILE_OWN_ROWS)]
    }

    /// Shared memory of a tile, bytes.
    pub(super) fn tile_bytes(self, nz: usize, precision: Precision) -> usize {
        // Of the capacities along z there is one more.
        let of_levels = LIMIT_LEVEL_NUMBERS * nz + 1;
        // A line more, so that the rows can begin where they do in their lines.
        LINE + self.limit_room(precision) + of_levels * precision.bytes()
    }

    /// Size of `LimitRoom` in kernels, bytes.
    pub(super) fn limit_room(self, precision: Precision) -> usize {
        let rows_ahead = 3 * (TILE_ROWS + 2 * REACH - 1) + 2 * (TILE_ROWS + 1) + 3 * TILE_ROWS;
        let rows = rows_ahead + 3 * TILE_ROWS;
        rows * WARP * self.cells * precision.bytes()
    }

    /// Blocks along the rows and the tracers, across the rows, and of levels, and threads of each
    /// that are at most those of `block`; or, in turn, along the tracers and along all of one.
    pub fn launch(self, layout: Layout, tracers: usize, block: Block) -> ([usize; 3], usize) {
        let Shape { ny, nz, .. } = layout.shape;
        let groups = layout.pitch().div_ceil(self.cells);
        if self.in_turn {
            let threads = groups * ny * nz.div_ceil(self.levels);
            return ([tracers, threads.div_ceil(block.threads), 1], block.threads);
        }
        let strips = groups.div_ceil(self.width);
        // No more rows than share the grid's evenly among its blocks.
        let most = (block.threads / self.width).max(1);
        let rows = ny.div_ceil(ny.div_ceil(most));
        let blocks = [tracers * strips, ny.div_ceil(rows), nz.div_ceil(self.levels)];
        (blocks, (rows * self.width).next_multiple_of(WARP))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Side, Sides};

    #[test]
    fn groups_are_taken_in_turn_only_without_tiles() {
        let offer = Offer { multiprocessors: 132, shared_bytes: 227 << 10 };
        let shares = |nx, ny, tracers| {
            let shape = Shape { nx, ny, nz: 27 };
            let grid = Grid::whole(shape, [1.0; 2], Sides::all(Side::Specified));
            let march = March::choose(shape.columns(), Precision::F32);
            Shares::of(march, &grid, tracers, offer, Precision::F32)
        };
        // Many tracers make tiles worth while on a small grid too.
        let [few, many, large] = [shares(132, 70, 6), shares(132, 70, 81), shares(110, 100, 6)];
        assert!(few.in_turn && !few.tiled);
        assert!(many.tiled && !many.in_turn);
        assert!(!large.in_turn);
    }
}
