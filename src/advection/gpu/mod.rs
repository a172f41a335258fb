//! The transport on the device: launches, compile-time settings and arguments of its kernels.
//!
//! # Decisions
//!
//! **Every lateral flux is computed twice, once for each of its two cells.** Threads then share nothing but the caches:
//! no barrier and no halo in shared memory.
//!
//! - A thread has four cells of a row (two in double precision) and marches upward with the vertical flux in its
//!   registers.
//! - Rows of any length begin at multiples of four elements, for vector loads (`grid::gpu`). Up to three padding
//!   elements are before and behind the cells, in all fields, planes and fluxes of a run.
//! - Kernels get the padding as two constants and store 0 there; output frames, samples and restart files omit it.
//! - Rows with periodic sides, and rows with two cells a thread, have no padding.
//!
//! **Launch configurations depend on the size of the grid.** On the emulated device the kernels give the bits of the
//! CPU version (`validation/gpu/advection`).
//!
//! - Small grids are divided into as many groups of levels as fill the device evenly.
//! - Below 10,000 columns consecutive threads take consecutive groups of cells (linear indexing), so that warps are
//!   full.
//! - There 20 tracers or more take a step in two groups on two streams, which fill the multiprocessors that the last
//!   blocks of the other group's kernels leave idle: 65 tracers on 71x58x27 take a sixth less time on an H100, nearly
//!   half of it because consecutive blocks have the same tracer (benches/results/2026-11-26-h100-fifth).
//! - These kernels, and those with tiles, are compiled for the size of the grid, so that addresses are constants.
//! - Blocks whose stencils stay inside the grid run code without lateral sides, which the compiler generates from the
//!   same functions.
//! - In the other blocks all threads compute the lower-order fluxes and the values of outermost cells too, and select:
//!   nearly every warp of a small grid contains an end of a row, and a branch there costs more.
//! - In a row of eight cells or more, in groups of four, only the first and the last group, and sometimes the last but
//!   one, have faces near a side.
//! - The capacities of faces are read only if a flux exceeds the smallest capacity of its level.
//!
//! **Specified sides are set by the threads of the neighbouring row, in the same kernel.** A separate launch for a few
//! rows would cost a tenth of a small step.
//!
//! **On large grids the last stage of positive-definite tracers is one pass, in tiles** (`kernels/advection/tile`).
//! Smaller grids, other limiters and double precision take two passes. Both give the bits of the CPU version on the
//! emulated device.
//!
//! - A block has 16 rows of 32 groups of four cells, and finishes 120 x 13 cells; the ring of halo cells around them is
//!   computed twice.
//! - Every flux and every limiter factor is computed once and passed to the neighbouring cell, by warp shuffles along a
//!   row and through shared memory across rows.
//! - The data of the next level is copied into shared memory meanwhile.
//! - All this costs less than the memory traffic of two passes if every multiprocessor has two tiles or more.
//!
//! **On large grids the stages without limiter use tiles of two tracers** (`kernels/advection/tile/stage.cuh`).
//!
//! - A block reads the masses and fluxes of air once for both tracers. With one tracer in a block they have as many
//!   bytes as the tracer itself, and the kernel is slower than marches without tiles.
//! - A block has 8 rows. Each row computes its southern fluxes and reads the northern ones one level later, so that
//!   there is one barrier a level and nothing is computed twice.
//! - Rows in shared memory keep their alignment in global memory: a copy with any other alignment reads every sector
//!   twice.
//! - They and the tiles of the limited stage are two families of code, since one family is slower. On 1024x1024 columns
//!   the tiles of the limited stage, without its limiter, take 34 % more time for a step without limiter, because a block
//!   has one tracer; marches take 31 % more. Without the tiles of the limited stage a positive-definite step takes 54 %
//!   more (benches/results/2026-11-26-h100-sixth).
//! - Tiles leave out rows of a margin that nothing reads any more: half of 1024x1024 with its margin has 40 rows of limited
//!   tiles, and a step takes 3 % longer with 41 (benches/results/2026-11-30-two-h200s).
//! - The cells at sides in x have their own kernel (`transport_sides`), whose threads march: a side is one lane of a
//!   warp, and a quarter of all tiles would contain code for sides. In the launch of the tiles these blocks would also
//!   allocate the shared memory of a tile, and a multiprocessor would hold two of them instead of six.
//!
//! **Fluxes state which of two products is rounded first** (`kernels/primitives/fma.cuh`). Otherwise the compiler
//! fuses either product with the addition, depending on register allocation, and the bits would depend on the launch
//! configuration.

#![allow(unsafe_code, reason = "the launcher of a kernel is responsible for its arguments")]

pub mod passive;
pub(crate) mod prelude;
pub mod transport;
pub(crate) mod tuning;

mod launch_config;

use ndarray::Array2;
use rayon::prelude::*;

pub use launch_config::{
    DeviceLimits, GROUP, LaunchBounds, LaunchConfig, STAGE_MARGIN, STAGE_TILE, TuningPoint,
};
use launch_config::{
    LIMIT_LEVEL_NUMBERS, STAGE_LEVEL_NUMBERS, STAGE_ROWS, TILE_ROWS, limited_rows, stage_rows,
};

use crate::advection::{HALO, Limiter};
use crate::cuda_abi::{DevicePointer, ReadPointer, shared_struct};
use crate::device::WARP;
use crate::dry_mass::gpu::LayeredPointers;
use crate::dry_mass::{AirMass, Layered};
use crate::grid::gpu::Layout;
use crate::grid::{Grid, Shape, Side, Sides, Window};
use crate::real::{Precision, Real};
use crate::state::gpu::kernel_id;

shared_struct! {
    /// Arguments of the kernels of the transport.
    ///
    /// Tracers follow one another: element (tracer, k, j, i), i fastest, rows as in [`Layout`]. Members that a kernel
    /// reads first stand first, since the kernel waits for every cache line of its arguments.
    #[derive(Default)]
    pub struct TransportArgs<R> {
        /// Word for the mark of a kernel that has begun; null if marks are off.
        marks: DevicePointer<u64>, "1";
        /// Cells from west to east.
        nx: i32, "1";
        /// Cells from south to north.
        ny: i32, "1";
        /// The latest values, which the high-order fluxes carry.
        latest: ReadPointer<R>, "kg kg⁻¹";
        /// The values at the start of the step.
        start: ReadPointer<R>, "kg kg⁻¹";
        /// The new values; may be the array of the stage before, not `latest` or `start`.
        result: DevicePointer<R>, "kg kg⁻¹";
        /// Scale factors of the corrections (antidiffusive fluxes) out of a cell; limited tracers only.
        outgoing: DevicePointer<R>, "1";
        /// Scale factors of the corrections into a cell; monotonic limiter only.
        incoming: DevicePointer<R>, "1";
        /// Air through the x-faces, (nz, ny, nx + 1), rows as in [`Layout`]; likewise all fields below.
        flux_x: ReadPointer<R>, "kg s⁻¹";
        /// Air through the y-faces, (nz, ny + 1, nx).
        flux_y: ReadPointer<R>, "kg s⁻¹";
        /// Air through the z-faces, (nz + 1, ny, nx).
        flux_z: ReadPointer<R>, "kg s⁻¹";
        /// Mass of the cells.
        cell: LayeredPointers<R>, "kg";
        /// Mass of the cells at the end of the step.
        cell_end: LayeredPointers<R>, "kg";
        /// Capacity of the x-faces.
        capacity_x: LayeredPointers<R>, "kg";
        /// Capacity of the y-faces.
        capacity_y: LayeredPointers<R>, "kg";
        /// Capacity of the z-faces.
        capacity_z: LayeredPointers<R>, "kg";
        /// Weight of layer k - 1 at z-face k.
        weight_below: ReadPointer<R>, "1";
        /// Weight of layer k at z-face k.
        weight_above: ReadPointer<R>, "1";
        /// Map factor in x, (ny, nx).
        map_x: ReadPointer<R>, "1";
        /// Values that air brings in through the sides of each tracer: west, east (nz, ny), south,
        /// north (nz, nx); null for zero. NaN stands for the value of the neighbour inside.
        inflow: ReadPointer<R>, "kg kg⁻¹";
        /// Tracer fluxes of the last stage through the sides of the region inside the outermost cells, in the layout of
        /// `inflow`; null in other stages.
        side_flux: DevicePointer<R>, "kg s⁻¹";
        /// Inflow into that region, (tracer, level).
        entered: DevicePointer<f64>, "kg";
        /// Length of the stage.
        dt: R, "s";
        /// Its reciprocal.
        per_dt: R, "s⁻¹";
        /// First of the tracers of a part, if they are in several parts.
        first_tracer: i64, "1";
    }
}

/// Threads that add up the inflow, a power of two.
const SUM_THREADS: usize = 128;

/// Settings that the kernels of the transport are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransportSettings {
    /// Number of tracers.
    pub tracers: usize,
    /// Number of tracers, from the first on, that are never limited.
    pub unlimited: usize,
    /// Limiter of the others in the last stage.
    pub limiter: Limiter,
    /// `true` if inflow may have the value of the neighbour inside, which NaN stands for.
    pub zero_gradient: bool,
    /// Distribution of the cells among threads.
    pub launch_config: LaunchConfig,
}

impl TransportSettings {
    /// Memory layout of the rows of fields and fluxes.
    pub fn layout(self, grid: &Grid) -> Layout {
        Layout::of(grid, self.launch_config.cells)
    }

    /// Returns `true` if kernels are compiled for the size of the grid: constant addresses take fewer instructions.
    /// Row-wise marches are not: they have no registers to spare for it and would spill.
    fn is_made_for_grid(self) -> bool {
        let LaunchConfig { linear_indexing, stages_tiled, .. } = self.launch_config;
        linear_indexing || stages_tiled || self.by_tiles()
    }

    /// The settings as kernels see them, by name.
    pub fn constants(self, grid: &Grid, precision: Precision) -> Vec<(&'static str, i32)> {
        let LaunchConfig { stage, limited, cells, levels, linear_indexing, width, .. } =
            self.launch_config;
        let [alone, together] = [1, 2].map(|n| self.launch_config.stage_smem_bytes(n, precision));
        let layout = self.layout(grid);
        let own = [
            ("POSITIVE_DEFINITE", Limiter::PositiveDefinite as i32),
            ("MONOTONIC", Limiter::Monotonic as i32),
            ("LIMITER", self.limiter as i32),
            ("TRACERS", self.tracers as i32),
            // If no tracer is limited, no kernel reads this index.
            ("UNLIMITED", self.unlimited.min(self.tracers - 1) as i32),
            ("HALO", HALO as i32),
            ("TINY", i32::from(is_tiny(grid.shape))),
            ("STAGE_THREADS", stage.threads as i32),
            ("STAGE_RESIDENT", stage.resident as i32),
            ("LIMITED_THREADS", limited.threads as i32),
            ("LIMITED_RESIDENT", limited.resident as i32),
            ("SUM_THREADS", SUM_THREADS as i32),
            ("CELLS", cells as i32),
            ("LEVELS_PER_THREAD", levels as i32),
            ("LINEAR_INDEXING", i32::from(linear_indexing)),
            ("TRACER_MAJOR", i32::from(self.launch_config.parts > 1)),
            ("WIDTH", width as i32),
            ("TILED", i32::from(self.by_tiles())),
            ("TILE_ROWS", TILE_ROWS as i32),
            ("STAGES_TILED", i32::from(self.launch_config.stages_tiled)),
            ("STAGE_ROWS", STAGE_ROWS as i32),
            ("STAGE_BEGIN", stage_rows(grid).start as i32),
            ("LIMIT_BEGIN", limited_rows(grid).start as i32),
            // Sizes that kernels check, bytes.
            ("STAGE_SMEM_OF_ONE", alone as i32),
            ("STAGE_SMEM_OF_TWO", together as i32),
            ("STAGE_LEVEL_NUMBERS", STAGE_LEVEL_NUMBERS as i32),
            ("LIMIT_SMEM", self.launch_config.limit_smem_bytes(precision) as i32),
            ("LIMIT_LEVEL_NUMBERS", LIMIT_LEVEL_NUMBERS as i32),
            ("WIDE", i32::from(layout.has_groups_of(cells))),
            ("FIRST", layout.first as i32),
            ("FILL", layout.fill as i32),
            ("ZERO_GRADIENT", i32::from(self.zero_gradient)),
        ];
        grid_constants(grid, self.is_made_for_grid()).into_iter().chain(own).collect()
    }
}

/// The grid as kernel constants: its size if the kernel is compiled for it, else zero; the codes of the kinds of sides;
/// the kind of each side; 1 for the sides through which inflow is counted; and cells that the budgets leave out at them,
/// those of a margin included.
pub(crate) fn grid_constants(grid: &Grid, made_for: bool) -> [(&'static str, i32); 17] {
    let Sides { west, east, south, north } = grid.sides;
    let Shape { nx, ny, .. } = grid.shape;
    let Window { rows, columns } = grid.inner();
    let left_out = [columns.start, nx - columns.end, rows.start, ny - rows.end];
    let [outside_west, outside_east, outside_south, outside_north] = left_out.map(|n| n as i32);
    let counted = grid.boundaries().map(|side| i32::from(side.is_some()));
    let [inflow_west, inflow_east, inflow_south, inflow_north] = counted;
    let [nx, ny] = if made_for { [nx, ny] } else { [0, 0] };
    [
        ("NX", nx as i32),
        ("NY", ny as i32),
        ("PERIODIC", Side::Periodic as i32),
        ("SPECIFIED", Side::Specified as i32),
        ("OPEN", Side::Open as i32),
        ("WEST", west as i32),
        ("EAST", east as i32),
        ("SOUTH", south as i32),
        ("NORTH", north as i32),
        ("INFLOW_WEST", inflow_west),
        ("INFLOW_EAST", inflow_east),
        ("INFLOW_SOUTH", inflow_south),
        ("INFLOW_NORTH", inflow_north),
        ("OUTSIDE_WEST", outside_west),
        ("OUTSIDE_EAST", outside_east),
        ("OUTSIDE_SOUTH", outside_south),
        ("OUTSIDE_NORTH", outside_north),
    ]
}

/// Returns `true` if a stencil can wrap around a periodic axis more than once, so that kernels find neighbours by
/// remainders.
fn is_tiny(shape: Shape) -> bool {
    shape.nx < HALO || shape.ny < HALO
}

/// The least value of each level, less a bound of its rounding.
fn least<R: Real>(field: &Layered<R>) -> Vec<R> {
    let (rows, columns) = field.with_mu.dim();
    let values = |k| (0..rows).flat_map(move |j| (0..columns).map(move |i| field.at(k, j, i)));
    let least = |k| values(k).fold(R::infinity(), Real::smaller);
    let levels = (0..field.c1.len()).into_par_iter();
    levels.map(|k| least(k) * R::of(1.0 - ROUNDINGS)).collect()
}

/// Bound of the relative difference between device and host in a sum of two products.
const ROUNDINGS: f64 = 1e-5;

/// Uploads the masses, capacities and weights of the air with `upload` and returns the pointers.
///
/// # Errors
///
/// Those of `upload`.
pub fn air_pointers<R: Real, E>(
    air: &AirMass<R>,
    layout: Layout,
    mut upload: impl FnMut(&[R]) -> Result<ReadPointer<R>, E>,
) -> Result<TransportArgs<R>, E> {
    let laid = |plane: &Array2<R>| {
        let values: Vec<R> = plane.iter().copied().collect();
        let is_of_cells = plane.ncols() == layout.shape.nx;
        let places =
            if is_of_cells { layout.padded(&values) } else { layout.padded_x_faces(&values) };
        places.into_owned()
    };
    let mut layered = |field: &Layered<R>| {
        Ok(LayeredPointers {
            with_mu: upload(&laid(&field.with_mu))?,
            without_mu: upload(&laid(&field.without_mu))?,
            c1: upload(&field.c1)?,
            c2: upload(&field.c2)?,
            least: upload(&least(field))?,
        })
    };
    Ok(TransportArgs {
        cell: layered(&air.cell)?,
        cell_end: layered(&air.cell_end)?,
        capacity_x: layered(&air.capacity_x)?,
        capacity_y: layered(&air.capacity_y)?,
        capacity_z: layered(&air.capacity_z)?,
        weight_below: upload(&air.weight_below)?,
        weight_above: upload(&air.weight_above)?,
        map_x: upload(&laid(&air.map_x))?,
        ..TransportArgs::default()
    })
}

/// Fields of the tracers: at the start of a step, after its first and its second stage, and at its
/// end.
#[derive(Clone, Copy, Debug)]
pub struct Stages<R> {
    /// Values at the start of the step; a step does not change them.
    pub start: DevicePointer<R>,
    /// After the first stage.
    pub first: DevicePointer<R>,
    /// After the second stage; not `first`.
    pub second: DevicePointer<R>,
    /// At the end; may be `first`, not `second`.
    pub end: DevicePointer<R>,
}

/// One launch of a kernel of `advection/transport.cu`.
#[derive(Clone, Copy, Debug)]
pub struct TransportLaunch<R> {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Part of the tracers, below [`TransportSettings::parts`]; the launches of different parts are independent.
    pub part: usize,
    /// Number of blocks along each axis.
    pub blocks: [usize; 3],
    /// Threads in a block.
    pub threads: usize,
    /// Shared memory of a block beyond what the kernel declares, bytes.
    pub shared_bytes: usize,
    /// Arguments.
    pub args: TransportArgs<R>,
}

impl TransportSettings {
    /// Returns `true` if any tracer is limited.
    pub fn limits(self) -> bool {
        self.limiter != Limiter::None && self.unlimited < self.tracers
    }

    /// Returns `true` if the limited tracers take their last stage by tiles.
    pub fn by_tiles(self) -> bool {
        self.launch_config.tiled && self.limits() && self.limiter == Limiter::PositiveDefinite
    }

    /// Number of parts of the tracers, see [`LaunchConfig::parts`].
    pub fn parts(self) -> usize {
        self.launch_config.parts.min(self.tracers)
    }

    /// Launches of one step of `dt` seconds, in order, part by part of the tracers.
    ///
    /// `air` holds the pointers that do not depend on the stage; its pointer `side_flux` is null
    /// if the inflow through the sides is not needed.
    pub fn step<R: Real>(
        self,
        grid: &Grid,
        air: &TransportArgs<R>,
        stages: &Stages<R>,
        dt: f64,
    ) -> Vec<TransportLaunch<R>> {
        let parts = self.parts();
        let of = |part| self.step_of_part(grid, air, stages, dt, part);
        (0..parts).flat_map(of).collect()
    }

    /// The launches of part `part` of the tracers.
    fn step_of_part<R: Real>(
        self,
        grid: &Grid,
        air: &TransportArgs<R>,
        stages: &Stages<R>,
        dt: f64,
        part: usize,
    ) -> Vec<TransportLaunch<R>> {
        let [from, to] = [part, part + 1].map(|part| part * self.tracers / self.parts());
        // Those that are never limited come first.
        let limited = from.max(self.unlimited)..to;
        let unlimited = to - from - limited.len();
        let (Shape { nx, ny, .. }, launch_config) = (grid.shape, self.launch_config);
        let layout = self.layout(grid);
        let Stages { start, first, second, end } = *stages;
        let stage = |latest: DevicePointer<R>, result, dt: f64, is_last| {
            let dt = R::of(dt);
            TransportArgs {
                latest: latest.read(),
                start: start.read(),
                result,
                side_flux: if is_last { air.side_flux } else { DevicePointer::default() },
                nx: nx as i32,
                ny: ny as i32,
                first_tracer: from as i64,
                dt,
                per_dt: dt.recip(),
                ..*air
            }
        };
        let launch = |kernel, block, tracers, args| {
            let (blocks, threads) = launch_config.launch(layout, tracers, block);
            TransportLaunch { kernel, part, blocks, threads, shared_bytes: 0, args }
        };
        let all = to - from;
        let plain = |kernel, tracers, args| {
            if !launch_config.stages_tiled {
                return vec![launch(kernel, launch_config.stage, tracers, args)];
            }
            let sides = (!grid.sides.periodic_x()).then(|| TransportLaunch {
                kernel: kernel_id::TRANSPORT_SIDES,
                part,
                blocks: launch_config.side_blocks(layout, tracers),
                threads: launch_config.stage.threads,
                shared_bytes: 0,
                args,
            });
            let tiles = TransportLaunch {
                kernel,
                part,
                blocks: launch_config.stage_tiles(grid, tracers),
                threads: STAGE_ROWS * WARP,
                shared_bytes: launch_config.stage_bytes(layout.shape.nz, tracers, R::PRECISION),
                args,
            };
            sides.into_iter().chain([tiles]).collect()
        };
        let last = stage(second, end, dt, true);
        let plain_stage = |args| plain(kernel_id::TRANSPORT_STAGE, all, args);
        let mut launches = plain_stage(stage(start, first, dt / 3.0, false));
        launches.extend(plain_stage(stage(first, second, dt / 2.0, false)));
        if self.by_tiles() {
            if unlimited > 0 {
                launches.extend(plain(kernel_id::TRANSPORT_UNLIMITED, unlimited, last));
            }
            launches.push(TransportLaunch {
                kernel: kernel_id::TRANSPORT_LIMIT,
                part,
                blocks: launch_config.tiles(grid, limited.len()),
                threads: TILE_ROWS * WARP,
                shared_bytes: launch_config.tile_bytes(layout.shape.nz, R::PRECISION),
                args: last,
            });
        } else if self.limits() {
            launches.push(launch(kernel_id::TRANSPORT_SCALE, launch_config.limited, all, last));
            if !limited.is_empty() {
                let first_tracer = (limited.start - self.unlimited) as i64;
                let args = TransportArgs { first_tracer, ..last };
                launches.push(launch(
                    kernel_id::TRANSPORT_UPDATE,
                    launch_config.limited,
                    limited.len(),
                    args,
                ));
            }
        } else {
            launches.extend(plain_stage(last));
        }
        launches
    }

    /// The launch that sums the tracer inflow of the last stage into the region inside the outermost cells, with one
    /// block for each tracer and level; `None` if all sides are periodic and nothing can enter.
    pub fn entering<R: Real>(
        self,
        grid: &Grid,
        air: &TransportArgs<R>,
        dt: f64,
    ) -> Option<TransportLaunch<R>> {
        let Shape { nx, ny, nz } = grid.shape;
        (air.side_flux.address() != 0).then(|| TransportLaunch {
            kernel: kernel_id::TRANSPORT_ENTERED_ACC64,
            part: 0,
            blocks: [self.tracers * nz, 1, 1],
            threads: SUM_THREADS,
            shared_bytes: 0,
            args: TransportArgs { nx: nx as i32, ny: ny as i32, dt: R::of(dt), ..*air },
        })
    }
}
