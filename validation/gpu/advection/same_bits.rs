//! Kernels and the CPU version do the same operations in the same order: on the emulated device the bits agree.
//!
//! Kernels are compiled for all settings, so that nearly every case is a module. A case has one limiter and one
//! precision, and pairs of values are covered instead of all combinations:
//!
//! - each kind of sides with each limiter, precision and number of cells of a thread, with and without linear indexing
//!   and boundary values (zero gradient for every other tracer), and with tiles of either kind;
//! - each limiter with each of these too (the tiles of the last stage are those of one limiter alone), with tracers in
//!   up to three parts, and with marches of one level, of several and of all.

use nwp_mini::advection::Limiter;
use nwp_mini::advection::gpu::{LaunchConfig, TransportSettings};
use nwp_mini::grid::gpu::Layout;
use nwp_mini::grid::{Grid, Shape, Side};
use rayon::prelude::*;

use super::{check_steps, launch_config};
use crate::case::SCHEMES;
use crate::emulated_gpu;
use crate::random_cases::{KINDS, sides};

/// Three tracers, the first of them without limiter.
fn three(limiter: Limiter, zero_gradient: bool, launch_config: LaunchConfig) -> TransportSettings {
    TransportSettings { tracers: 3, unlimited: 1, limiter, zero_gradient, launch_config }
}

/// All kinds of sides at the smallest sizes, from 4 cells and 2 levels on, in two rounds: either value of a choice in
/// one of them.
#[test]
fn small_sizes() {
    let Some(gpu) = emulated_gpu() else { return };
    (0..2 * KINDS.len()).into_par_iter().for_each(|number| {
        let (round, n) = (number / KINDS.len(), number % KINDS.len());
        let choice = |every: usize| (n / every + round).is_multiple_of(2);
        let cells = if choice(2) { 4 } else { 2 };
        let nx = if cells == 4 { 8 + n % 4 } else { 4 + n % 6 };
        let (ny, nz) = (4 + number % 6, 2 + number % 4);
        let linear_indexing = choice(3);
        let parts = if linear_indexing { 1 + number / 3 % 3 } else { 1 };
        let launch_config =
            LaunchConfig { linear_indexing, parts, ..launch_config(cells, 1 + n % nz) };
        let given = choice(4);
        let (limiter, _) = SCHEMES[(n + round) % 3];
        let settings = three(limiter, given, launch_config);
        let place = (Shape { nx, ny, nz }, KINDS[n], number as u64);
        if choice(1) {
            check_steps::<f64>(&gpu, place, settings, given, 0.0);
        } else {
            check_steps::<f32>(&gpu, place, settings, given, 0.0);
        }
    });
}

/// Sizes around multiples of a block of 64 threads, and as many levels as a storm has; the limiter that small sizes of
/// the same sides leave out.
#[test]
fn sizes_off_the_block() {
    const SIZES: [(usize, usize, usize); 5] =
        [(65, 4, 3), (129, 5, 4), (31, 33, 2), (67, 6, 5), (11, 13, 27)];
    let Some(gpu) = emulated_gpu() else { return };
    KINDS.into_par_iter().enumerate().for_each(|(n, kind)| {
        let (nx, ny, nz) = SIZES[n % 5];
        let cells = if n < 5 { 4 } else { 2 };
        let linear_indexing = n % 4 < 2;
        let parts = if linear_indexing { 1 + n % 2 } else { 1 };
        let levels = [1, 3, nz][n / 3];
        let launch_config = LaunchConfig { linear_indexing, parts, ..launch_config(cells, levels) };
        let given = n.is_multiple_of(2);
        let (limiter, _) = SCHEMES[(n + 2) % 3];
        let place = (Shape { nx, ny, nz }, kind, n as u64);
        check_steps::<f32>(&gpu, place, three(limiter, given, launch_config), given, 0.0);
    });
}

/// The last stage by tiles, of rows as short as can be and longer, and of fewer and more rows.
#[test]
fn tiles() {
    const SIZES: [(usize, usize, usize, usize); 6] =
        [(4, 0, 6, 2), (4, 9, 7, 2), (4, 10, 5, 3), (4, 11, 17, 4), (2, 1, 13, 3), (2, 57, 4, 5)];
    let Some(gpu) = emulated_gpu() else { return };
    KINDS.into_par_iter().enumerate().for_each(|(n, kind)| {
        let (cells, beyond, ny, nz) = SIZES[n % 6];
        let launch_config = LaunchConfig { tiled: true, ..launch_config(cells, 2) };
        let shape = Shape { nx: launch_config.least_tiled() + beyond, ny, nz };
        let given = n.is_multiple_of(2);
        let settings = three(Limiter::PositiveDefinite, given, launch_config);
        check_steps::<f32>(&gpu, (shape, kind, n as u64), settings, given, 0.0);
    });
}

/// The stages without limiter by tiles, of grids as small as one tile and larger, of one tracer, of a pair and of both;
/// some before a limited stage by tiles.
#[test]
fn tiles_of_stages() {
    // Rows of 133, 154 and 259 cells have places without a cell; such rows have no tiles along a periodic axis.
    const CASES: [(usize, usize, usize, usize, bool, Limiter); KINDS.len()] = [
        (132, 8, 2, 2, false, Limiter::PositiveDefinite),
        (133, 9, 2, 2, true, Limiter::PositiveDefinite),
        (154, 8, 3, 3, true, Limiter::PositiveDefinite),
        (156, 19, 4, 3, true, Limiter::PositiveDefinite),
        (259, 10, 2, 1, false, Limiter::None),
        (260, 9, 3, 1, false, Limiter::None),
        (132, 8, 2, 2, false, Limiter::Monotonic),
        (133, 9, 2, 2, false, Limiter::None),
        (154, 8, 3, 3, false, Limiter::Monotonic),
    ];
    let Some(gpu) = emulated_gpu() else { return };
    KINDS.into_par_iter().zip(CASES).enumerate().for_each(|(n, (kind, case))| {
        let (nx, ny, nz, tracers, tiled, limiter) = case;
        let launch_config = LaunchConfig { stages_tiled: true, tiled, ..launch_config(4, 2) };
        let shape = Shape { nx, ny, nz };
        let grid = Grid::whole(shape, [1.0; 2], sides(kind));
        assert!(launch_config.stages_can_be_tiled(Layout::of(&grid, 4)), "{shape} {kind:?}");
        let given = n.is_multiple_of(2);
        let settings = TransportSettings { tracers, ..three(limiter, given, launch_config) };
        check_steps::<f32>(&gpu, (shape, kind, n as u64), settings, given, 0.0);
    });
}

/// The tracers of several states side by side: all potential temperatures, then the water of all.
#[test]
fn several_states() {
    let Some(gpu) = emulated_gpu() else { return };
    let rows = launch_config(4, 2);
    let tiles = LaunchConfig { tiled: true, ..rows };
    let cases = [
        (KINDS[3], 33, [9, 3], Limiter::Monotonic, rows),
        (KINDS[6], 33, [9, 3], Limiter::PositiveDefinite, rows),
        (KINDS[1], tiles.least_tiled(), [6, 2], Limiter::PositiveDefinite, tiles),
        (KINDS[4], tiles.least_tiled(), [6, 2], Limiter::PositiveDefinite, tiles),
    ];
    cases.into_par_iter().for_each(|(kind, nx, [tracers, unlimited], limiter, launch_config)| {
        let settings =
            TransportSettings { tracers, unlimited, ..three(limiter, true, launch_config) };
        let place = (Shape { nx, ny: 5, nz: 3 }, kind, tracers as u64);
        check_steps::<f32>(&gpu, place, settings, true, 0.0);
    });
}

/// Periodic axes shorter than the stencil wrap around more than once.
#[test]
fn tiny_periodic_sizes() {
    let Some(gpu) = emulated_gpu() else { return };
    // Rows of the same length have the same kernels.
    (1..=4_usize).into_par_iter().for_each(|nx| {
        let (limiter, _) = SCHEMES[nx % 3];
        let settings = three(limiter, false, launch_config(nx.min(2), 2));
        for ny in 1..=4 {
            let place = (Shape { nx, ny, nz: 3 }, [Side::Periodic; 4], 7);
            check_steps::<f64>(&gpu, place, settings, false, 0.0);
        }
    });
    let settings = three(Limiter::Monotonic, true, launch_config(2, 3));
    let place = (Shape { nx: 2, ny: 6, nz: 4 }, KINDS[3], 1);
    check_steps::<f64>(&gpu, place, settings, true, 0.0);
    let settings = three(Limiter::PositiveDefinite, false, launch_config(4, 1));
    let place = (Shape { nx: 9, ny: 1, nz: 4 }, KINDS[4], 2);
    check_steps::<f64>(&gpu, place, settings, false, 0.0);
}
