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
/// About two roundings of single precision, of the largest value of a field.
const F32_FLOOR: f64 = 1.0e-7;
/// What the error in single precision may have over that of the CPU version: as much as the builds
/// of WRF's code differ by (see `validation/wsm5/reference.rs`).
const F32_FACTOR: f64 = 10.0;
/// How many cells may have parted, of all.
const SHARE_PARTED: f64 = 0.01;

pub(crate) fn on_cpu<R: Exchanged>(
    p: &Scheme<R>,
    dt: f64,
    weather: &Weather<R>,
    region: &Region,
) -> Weather<R> {
    let mut weather = weather.clone();
    let scratch = Scratch::new(weather.shape().nz);
    let Weather { theta_base, state, air, surface, .. } = &mut weather;
    let fields = Fields::new(*theta_base, state, air, surface);
    call(p, R::of(dt), &scratch, fields.within(region.rows.clone(), region.columns.clone()));
    weather
}

pub(crate) fn on_device<R: Exchanged>(
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

pub(crate) fn scheme<R: Exchanged>(fallout: Fallout) -> Scheme<R> {
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

/// Everything but the sum of what clipping has made, which is added up in another order, and the
/// potential temperature of cells where nothing happens: the device leaves it as it is, where the
/// CPU version goes to temperature and back.
fn check_substepped_tile<R: Exchanged>(nz: usize) {
    let p = scheme::<R>(Fallout::Substepped);
    let clouds = Clouds::compile(&p, nz, small_tile::<R>(Fallout::Substepped, nz));
    let weather = weather::<R>(&columns(nz, 55), 1, 0.0);
    let region = Region::whole(weather.shape());
    for dt in [ONE_STEP, THREE_STEPS] {
        let cpu = on_cpu(&p, dt, &weather, &region);
        let device = on_device(&clouds, &p, dt, &weather, &region, 2 * nz as u64);
        let about = format!("tile, {nz} levels, sub-stepped, {dt} s, {}", R::NAME);
        let others = |weather| {
            named(weather).into_iter().filter(|(name, _)| !["theta", "clipped"].contains(name))
        };
        expect_same_bits(&about, others(&device), others(&cpu));
        let rounding = R::epsilon().f64();
        let theta = Spread::of(&device.state.theta, &cpu.state.theta);
        assert!(theta.largest <= rounding * theta.range, "{about}: theta: {theta:?}");
        let clipped = Spread::of(&device.surface.clipped, &cpu.surface.clipped);
        assert!(clipped.largest <= 10.0 * rounding * clipped.range, "{about}: {clipped:?}");
    }
}

#[test]
fn a_tile_gives_the_bits_of_the_cpu_with_substepped_fall() {
    LEVELS.into_par_iter().for_each(check_substepped_tile::<f32>);
    [27, 128].into_par_iter().for_each(check_substepped_tile::<f64>);
}

fn check_tile_f64(nz: usize) {
    let p = scheme::<f64>(Fallout::SemiLagrangian);
    let clouds = Clouds::compile(&p, nz, small_tile::<f64>(p.fallout, nz));
    let weather = weather::<f64>(&columns(nz, 95), 1, 0.0);
    let region = Region::whole(weather.shape());
    for dt in [ONE_STEP, THREE_STEPS] {
        let cpu = on_cpu(&p, dt, &weather, &region);
        let device = on_device(&clouds, &p, dt, &weather, &region, 3 * nz as u64);
        for ((name, found), (_, expected)) in named(&device).into_iter().zip(named(&cpu)) {
            let spread = Spread::of(&found, &expected);
            let about = format!("tile, {nz} levels, {dt} s, {name}: {spread:?}");
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
    LEVELS.into_par_iter().for_each(check_tile_f64);
}

/// Single precision against double: no further off than the CPU version in single precision.
fn check_tile_f32(nz: usize) {
    let (p, exact) =
        (scheme::<f32>(Fallout::SemiLagrangian), scheme::<f64>(Fallout::SemiLagrangian));
    let clouds = Clouds::compile(&p, nz, small_tile::<f32>(p.fallout, nz));
    let columns = columns(nz, 120);
    let (single, double) = (weather::<f32>(&columns, 1, 0.0), weather::<f64>(&columns, 1, 0.0));
    let region = Region::whole(single.shape());
    for dt in [ONE_STEP, THREE_STEPS] {
        let truth = on_cpu(&exact, dt, &double, &region);
        let cpu = on_cpu(&p, dt, &single, &region);
        let device = on_device(&clouds, &p, dt, &single, &region, 5 * nz as u64);
        let promoted = |weather: &Weather<f32>| {
            named(weather).into_iter().map(|(_, field)| field.mapv(f64::from)).collect::<Vec<_>>()
        };
        let results = promoted(&device).into_iter().zip(promoted(&cpu));
        for ((name, truth), (device, cpu)) in named(&truth).into_iter().zip(results) {
            let (device, cpu) = (Spread::of(&device, &truth), Spread::of(&cpu, &truth));
            let about = format!("tile, {nz} levels, {dt} s, {name}: {device:?}; CPU {cpu:?}");
            assert!(device.is_finite, "{about}");
            let floor = F32_FLOOR * device.range;
            // After several minor steps, rounding decides in single cells between two outcomes.
            let percents: &[f64] =
                if dt <= ONE_STEP { &[50.0, 99.0, 100.0] } else { &[50.0, 99.0] };
            for percent in percents {
                let (device, cpu) = (device.percentile(*percent), cpu.percentile(*percent));
                assert!(device <= F32_FACTOR * cpu.max(floor), "{percent} %: {about}");
            }
        }
    }
}

#[test]
fn a_tile_is_as_exact_as_the_cpu_in_single_precision() {
    LEVELS.into_par_iter().for_each(check_tile_f32);
}
