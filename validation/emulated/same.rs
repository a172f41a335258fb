//! Kernels against the CPU version.

use rayon::prelude::*;

use nwp_mini::gpu::wsm5::{Mapping, Tile};
use nwp_mini::wsm5::scheme::Scheme;
use nwp_mini::wsm5::{Fallout, Fields, Scratch, call};

use crate::clouds::{Clouds, Exchanged, Region, Weather};
use crate::difference::{Spread, expect_same_bits, named};
use crate::weather::{columns, weather};

/// Around the numbers of lanes of a warp, and what models have.
const LEVELS: [usize; 10] = [4, 5, 27, 31, 32, 33, 40, 64, 100, 128];
/// One minor step in a call, s.
const ONE_STEP: f64 = 60.0;
/// Three of them.
const THREE_STEPS: f64 = 300.0;
/// What the same operations in another order may differ by in double precision, of the largest
/// value of the field: some thousand roundings.
const F64_LIMIT: f64 = 1.0e-12;
/// What a cell may differ by where a rounding decides between two outcomes, after several minor
/// steps: complete evaporation leaves nothing or a residue of one rounding, which then falls at
/// another speed. As a part of the largest value of the field.
const PARTED: f64 = 1.0e-3;
/// How many cells may have parted, of all.
const SHARE_PARTED: f64 = 0.01;

fn on_cpu<R: Exchanged>(
    p: &Scheme<R>,
    dt: f64,
    weather: &Weather<R>,
    region: &Region,
) -> Weather<R> {
    let mut weather = weather.clone();
    let scratch = Scratch::new(weather.shape().nz);
    let Weather { theta_base, state, air, surface } = &mut weather;
    let fields = Fields::new(*theta_base, state, air, surface);
    call(p, R::of(dt), &scratch, fields.within(region.rows.clone(), region.columns.clone()));
    weather
}

fn on_device<R: Exchanged>(
    clouds: &Clouds,
    p: &Scheme<R>,
    dt: f64,
    weather: &Weather<R>,
    region: &Region,
    seed: u64,
) -> Weather<R> {
    let mut weather = weather.clone();
    clouds.call(p, R::of(dt), &mut weather, region, seed);
    weather
}

fn scheme<R: Exchanged>(fallout: Fallout) -> Scheme<R> {
    Scheme::default().with_fallout(fallout)
}

/// The tile that the launcher takes on a small grid.
fn small_tile<R: Exchanged>(fallout: Fallout, nz: usize) -> Mapping {
    Mapping::Tile(Tile::choose(1, R::KIND, fallout, nz))
}

/// One thread does what the CPU version does, operation by operation.
fn check_columns<R: Exchanged>(nz: usize, fallout: Fallout) {
    let p = scheme::<R>(fallout);
    let clouds = Clouds::compile(&p, nz, Mapping::Column);
    let weather = weather::<R>(&columns(nz, 90), 2, 300.0);
    let region = Region::whole(weather.shape());
    for dt in [ONE_STEP, THREE_STEPS] {
        let cpu = on_cpu(&p, dt, &weather, &region);
        let device = on_device(&clouds, &p, dt, &weather, &region, nz as u64);
        let about = format!("column, {nz} levels, {fallout:?}, {dt} s, {}", R::NAME);
        expect_same_bits(&about, named(&device), named(&cpu));
    }
}

#[test]
fn a_thread_for_a_column_gives_the_bits_of_the_cpu() {
    [4, 27, 33, 128].into_par_iter().for_each(|nz| {
        check_columns::<f32>(nz, Fallout::SemiLagrangian);
        check_columns::<f64>(nz, Fallout::SemiLagrangian);
        check_columns::<f32>(nz, Fallout::Substepped);
        check_columns::<f64>(nz, Fallout::Substepped);
    });
}

/// Everything but the sum of what clipping has made, which is added up in another order.
fn check_substepped_tile<R: Exchanged>(nz: usize) {
    let p = scheme::<R>(Fallout::Substepped);
    let clouds = Clouds::compile(&p, nz, small_tile::<R>(Fallout::Substepped, nz));
    let weather = weather::<R>(&columns(nz, 55), 1, 0.0);
    let region = Region::whole(weather.shape());
    for dt in [ONE_STEP, THREE_STEPS] {
        let cpu = on_cpu(&p, dt, &weather, &region);
        let device = on_device(&clouds, &p, dt, &weather, &region, 2 * nz as u64);
        let about = format!("tile, {nz} levels, sub-stepped, {dt} s, {}", R::NAME);
        let without = |weather| named(weather).into_iter().filter(|(name, _)| *name != "clipped");
        expect_same_bits(&about, without(&device), without(&cpu));
        let clipped = Spread::of(&device.surface.clipped, &cpu.surface.clipped);
        let limit = 10.0 * R::epsilon().f64() * clipped.range;
        assert!(clipped.largest <= limit, "{about}: clipped: {clipped:?}");
    }
}

#[test]
fn a_tile_gives_the_bits_of_the_cpu_with_substepped_fall() {
    LEVELS.into_par_iter().for_each(check_substepped_tile::<f32>);
    [27, 128].into_par_iter().for_each(check_substepped_tile::<f64>);
}

fn check_tile_f64(nz: usize, tile: Tile) {
    let p = scheme::<f64>(Fallout::SemiLagrangian);
    let clouds = Clouds::compile(&p, nz, Mapping::Tile(tile));
    let weather = weather::<f64>(&columns(nz, 95), 1, 0.0);
    let region = Region::whole(weather.shape());
    for dt in [ONE_STEP, THREE_STEPS] {
        let cpu = on_cpu(&p, dt, &weather, &region);
        let device = on_device(&clouds, &p, dt, &weather, &region, 3 * nz as u64);
        for ((name, found), (_, expected)) in named(&device).into_iter().zip(named(&cpu)) {
            let spread = Spread::of(&found, &expected);
            let about = format!("{tile:?}, {nz} levels, {dt} s, {name}: {spread:?}");
            assert!(spread.is_finite, "{about}");
            if dt <= ONE_STEP {
                assert!(spread.largest <= F64_LIMIT * spread.range, "{about}");
            } else {
                assert!(spread.share_above(F64_LIMIT * spread.range) <= SHARE_PARTED, "{about}");
                assert!(spread.largest <= PARTED * spread.range, "{about}");
            }
        }
    }
}

#[test]
fn a_tile_agrees_with_the_cpu_in_double_precision() {
    LEVELS.into_par_iter().for_each(|nz| {
        let tile = small_tile::<f64>(Fallout::SemiLagrangian, nz);
        let Mapping::Tile(tile) = tile else { unreachable!("a tile was asked for") };
        check_tile_f64(nz, tile);
    });
}
