//! Kernels and the CPU version do the same operations in the same order: the bits agree.

use ndarray::Array3;
use nwp_mini::advection::gpu::{LaunchConfig, TransportSettings};
use nwp_mini::advection::{self, InflowValues, Limiter, Wind, Workspace};
use nwp_mini::grid::gpu::Layout;
use nwp_mini::grid::{Shape, Side};
use nwp_mini::real::Real;
use nwp_mini::state::BoundaryValues;

use super::case::{Prepared, SCHEMES, difference};
use super::host::{Exchanged, Rounding, Transport};
use super::launch_config;
use super::random_cases::{KINDS, random_case, sides};
use super::reference::is_fused_at_hand;

/// Two steps of three tracers, the first without limiter, on both.
fn check<R: Exchanged>(
    shape: Shape,
    kind: [Side; 4],
    launch_config: LaunchConfig,
    seed: u64,
    given: bool,
) {
    check_tracers::<R>([3, 1], shape, kind, launch_config, (seed, given));
}

/// Two steps of several tracers, the first of them without limiter, on both.
fn check_tracers<R: Exchanged>(
    [count, unlimited]: [usize; 2],
    shape: Shape,
    kind: [Side; 4],
    launch_config: LaunchConfig,
    (seed, given): (u64, bool),
) {
    let case = random_case(shape, sides(kind), seed);
    let (air, flux) = (case.air::<R>(), case.flux::<R>());
    let tracer = |n| random_case(shape, sides(kind), seed + 1000 * n).q.mapv(R::of);
    let tracers: Vec<Array3<R>> = (0..count as u64).map(tracer).collect();
    // Every other tracer has zero gradient at the sides: its boundary values are NaN.
    let is_flat = |n: usize| given && (n + seed as usize) % 2 == 1;
    let values = |(n, q): (usize, &Array3<R>)| {
        BoundaryValues::of(&q.mapv(|x| if is_flat(n) { R::nan() } else { x + R::ONE }))
    };
    let inflow: Vec<BoundaryValues<R>> =
        if given { tracers.iter().enumerate().map(values).collect() } else { Vec::new() };
    for (limiter, name) in SCHEMES {
        let wind = Wind { grid: &case.grid, air: &air, flux: &flux, dt: case.dt };
        let mut work = Workspace::new(shape);
        let mut expected = Vec::new();
        for (n, tracer) in tracers.iter().enumerate() {
            let limiter = if n < unlimited { Limiter::None } else { limiter };
            let mut q = tracer.clone();
            let inflow = if is_flat(n) { InflowValues::Neighbour } else { inflow.get(n).into() };
            let entered: f64 =
                (0..2).map(|_| advection::step(&wind, limiter, inflow, &mut q, &mut work)).sum();
            expected.push((q, entered));
        }
        let settings = TransportSettings {
            tracers: count,
            unlimited,
            limiter,
            zero_gradient: given,
            launch_config,
        };
        let transport = Transport {
            grid: &case.grid,
            air: &air,
            flux: &flux,
            inflow: &inflow,
            dt: case.dt,
            settings,
            rounding: Rounding::Each,
        };
        let (found, entered) = transport.run(&tracers, 2, seed);
        for (n, ((q, expected_entered), found)) in expected.iter().zip(&found).enumerate() {
            let what = format!("{shape} {kind:?} {name} {launch_config:?} tracer {n}");
            let differs = q.indexed_iter().find(|(at, q)| **q != found[*at]);
            assert!(differs.is_none(), "{what}: {differs:?}, found {}", found[differs.unwrap().0]);
            let error = (entered[n] - expected_entered).abs();
            let scale = expected_entered.abs().max(q.iter().map(|q| q.f64()).sum::<f64>());
            assert!(
                error <= 1.0e-12 * scale,
                "{what}: {} entered, not {expected_entered}",
                entered[n]
            );
        }
    }
}

/// All kinds of sides at the smallest sizes, from 4 cells and 2 levels on.
#[test]
fn small_sizes() {
    let mut number = 0;
    for kind in KINDS {
        for (nx, ny) in (4..=11).flat_map(|nx| (4..=9).map(move |ny| (nx, ny))) {
            number += 1;
            // The combination of sizes, launch configurations and numbers of levels is pseudo-random.
            let nz = 2 + number % 4;
            let cells = if nx < 8 { 2 } else { [2, 4][number % 2] };
            let linear_indexing = number % 3 != 0;
            let parts = if linear_indexing { 1 + number % 4 } else { 1 };
            let launch_config =
                LaunchConfig { linear_indexing, parts, ..launch_config(cells, 1 + number % nz) };
            let shape = Shape { nx, ny, nz };
            let (seed, given) = (number as u64, number % 5 < 2);
            if number % 7 < 4 {
                check::<f64>(shape, kind, launch_config, seed, given);
            } else {
                check::<f32>(shape, kind, launch_config, seed, given);
            }
        }
    }
}

/// Sizes around multiples of a block of 64 threads, and as many levels as a storm has.
#[test]
fn sizes_off_the_block() {
    let mut number = 0;
    for kind in KINDS {
        for (nx, ny, nz) in [(65, 4, 3), (129, 5, 4), (31, 33, 2), (67, 6, 5), (11, 13, 27)] {
            for cells in [2, 4] {
                number += 1;
                let linear_indexing = number % 4 < 2;
                let parts = if linear_indexing { 1 + number % 2 } else { 1 };
                let levels = [1, 3, nz][number % 3];
                let launch_config =
                    LaunchConfig { linear_indexing, parts, ..launch_config(cells, levels) };
                check::<f32>(
                    Shape { nx, ny, nz },
                    kind,
                    launch_config,
                    number as u64,
                    number % 2 == 0,
                );
            }
        }
    }
}

/// The last stage by tiles, of rows as short as can be and longer, and of fewer and more rows.
#[test]
fn tiles() {
    let mut number = 0;
    for kind in KINDS {
        for (cells, beyond, ny, nz) in [
            (4, 0, 6, 2),
            (4, 9, 7, 2),
            (4, 10, 5, 3),
            (4, 11, 17, 4),
            (2, 1, 13, 3),
            (2, 57, 4, 5),
        ] {
            number += 1;
            let launch_config = LaunchConfig { tiled: true, ..launch_config(cells, 2) };
            let shape = Shape { nx: launch_config.least_tiled() + beyond, ny, nz };
            check::<f32>(shape, kind, launch_config, number, number % 2 == 0);
        }
    }
}

/// The stages without limiter by tiles, of grids as small as one tile and larger, of one tracer, of a
/// pair and of both.
#[test]
fn tiles_of_stages() {
    let mut number = 0;
    for kind in KINDS {
        for (nx, ny, nz, count, tiled) in [
            (132, 8, 2, 2, false),
            (156, 19, 4, 3, true),
            (260, 9, 3, 1, false),
            // Rows with places that have no cell.
            (133, 9, 2, 2, true),
            (154, 8, 3, 3, true),
            (259, 10, 2, 1, false),
        ] {
            number += 1;
            let launch_config = LaunchConfig { stages_tiled: true, tiled, ..launch_config(4, 2) };
            let shape = Shape { nx, ny, nz };
            let grid = random_case(shape, sides(kind), number).grid;
            let can_be_tiled = launch_config.stages_can_be_tiled(Layout::of(&grid, 4));
            assert!(can_be_tiled || (nx % 4 > 0 && grid.sides.periodic_x()));
            if !can_be_tiled {
                continue;
            }
            check_tracers::<f32>([count, 1], shape, kind, launch_config, (number, number % 2 == 0));
        }
    }
}

/// The tracers of several states side by side: all potential temperatures, then the water of all.
#[test]
fn several_states() {
    for (seed, kind) in (1..).zip(KINDS) {
        let shape = Shape { nx: 33, ny: 5, nz: 3 };
        check_tracers::<f32>([9, 3], shape, kind, launch_config(4, 2), (seed, true));
        let launch_config = LaunchConfig { tiled: true, ..launch_config(4, 2) };
        let shape = Shape { nx: launch_config.least_tiled(), ny: 5, nz: 2 };
        check_tracers::<f32>([6, 2], shape, kind, launch_config, (seed, true));
    }
}

/// Periodic axes shorter than the stencil wrap around more than once.
#[test]
fn tiny_periodic_sizes() {
    for (nx, ny) in (1..=4).flat_map(|nx| (1..=4).map(move |ny| (nx, ny))) {
        let cells = if nx < 2 { 1 } else { 2 };
        check::<f64>(
            Shape { nx, ny, nz: 3 },
            [Side::Periodic; 4],
            launch_config(cells, 2),
            7,
            false,
        );
    }
    check::<f64>(
        Shape { nx: 2, ny: 6, nz: 4 },
        [Side::Periodic, Side::Periodic, Side::Specified, Side::Specified],
        launch_config(2, 3),
        1,
        true,
    );
    check::<f64>(
        Shape { nx: 9, ny: 1, nz: 4 },
        [Side::Open, Side::Open, Side::Periodic, Side::Periodic],
        launch_config(4, 1),
        2,
        false,
    );
}

/// With the rounding of the device, the kernels are as near to double precision as the CPU version.
#[test]
fn fused_roundings() {
    if !is_fused_at_hand() {
        return;
    }
    let shape = Shape { nx: 31, ny: 33, nz: 9 };
    for (seed, kind) in KINDS.into_iter().enumerate() {
        let case = random_case(shape, sides(kind), seed as u64);
        for (limiter, name) in SCHEMES {
            let truth = Prepared::<f64>::new(&case).steps(limiter, &case.q, case.steps);
            let cpu = Prepared::<f32>::new(&case).steps(limiter, &case.q, case.steps);
            let (air, flux) = (case.air::<f32>(), case.flux::<f32>());
            let transport = Transport {
                grid: &case.grid,
                air: &air,
                flux: &flux,
                inflow: &[],
                dt: case.dt,
                settings: TransportSettings {
                    tracers: 1,
                    unlimited: 0,
                    limiter,
                    zero_gradient: false,
                    launch_config: launch_config(2, 3),
                },
                rounding: Rounding::Fused,
            };
            let (found, _) = transport.run(&[case.q.mapv(f32::of)], case.steps, seed as u64);
            let [error, usual] = [&found[0], &cpu].map(|q| difference(q, &truth));
            println!("{kind:?} {name}: {error:.1e}, the CPU version {usual:.1e}");
            // Both are worst cells out of ten thousand, and come out by a factor of two now and
            // then.
            assert!(error <= 4.0 * usual, "{kind:?} {name}: {error:e}, not {usual:e}");
        }
    }
}
